"""Work that continues after failures: loops in the background, and steps that wait for the database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NoReturn, TypeVar

import structlog

from svc_jupyter.service.ground.errors import Unavailable

RETRY_SECONDS = 1.0
"""How long a failed step waits before it is repeated."""
log = structlog.get_logger(__name__)
Result = TypeVar("Result")


async def run_forever(name: str, step: Callable[[], Awaitable[None]]) -> NoReturn:
    """Run `step` repeatedly; its exceptions are logged, and the loop continues."""
    while True:
        try:
            await step()
        except Unavailable:
            log.warning("database_away", loop=name)
            await asyncio.sleep(RETRY_SECONDS)
        except Exception:
            log.exception("loop_failed", loop=name)
            await asyncio.sleep(RETRY_SECONDS)


async def insist(step: Callable[[], Awaitable[Result]]) -> Result:
    """Return the result of `step`, which is repeated while the database is away."""
    while True:
        try:
            return await step()
        except Unavailable:
            await asyncio.sleep(RETRY_SECONDS)
