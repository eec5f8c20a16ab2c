"""Work that continues after failures: loops in the background, and steps that wait for the database."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import NoReturn, TypeVar

import structlog

from svc_jupyter.service.ground.errors import Unavailable

RETRY_SECONDS = 1.0
"""How long a failed step waits before it is repeated."""
log = structlog.get_logger(__name__)
Result = TypeVar("Result")


class Pulse:
    """How late a loop is. It calls `begin` at the start of each step and `rest` at its end."""

    def __init__(self) -> None:
        self._due = math.inf

    def begin(self) -> None:
        """Record that a step begins; after a failed one, the loop stays as late as it was."""
        self._due = min(self._due, time.monotonic())

    def rest(self, seconds: float = math.inf) -> None:
        """Record that the step is done, and that the next one is due in `seconds` or after an event."""
        self._due = time.monotonic() + seconds

    @property
    def late_seconds(self) -> float:
        """For how many seconds the step that is due has not been done."""
        return max(0.0, time.monotonic() - self._due)


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
