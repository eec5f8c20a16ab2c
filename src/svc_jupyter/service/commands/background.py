"""Loops in the background that nothing may end: without them a service answers, and runs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NoReturn

import structlog

from svc_jupyter.service.errors import Unavailable

RETRY_SECONDS = 1.0
"""How long a step that failed waits before it is tried again."""
log = structlog.get_logger(__name__)


async def run_forever(name: str, step: Callable[[], Awaitable[None]]) -> NoReturn:
    """Run `step` again and again; what it raises is told in the log, and the loop goes on."""
    while True:
        try:
            await step()
        except Unavailable:
            log.warning("database_away", loop=name)
            await asyncio.sleep(RETRY_SECONDS)
        except Exception:
            log.exception("loop_failed", loop=name)
            await asyncio.sleep(RETRY_SECONDS)
