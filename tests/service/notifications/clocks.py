"""Time in tests: a clock that is told, and waiting for what is about to happen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

NOON = 1_900_000_000.0
DEADLINE_SECONDS = 30.0


@dataclass
class Clock:
    """A clock that goes on when it is told to."""

    now: float = NOON

    def __call__(self) -> float:
        return self.now


async def eventually(holds: Callable[[], Any]) -> None:
    """Return once `holds()` is true; fail after a deadline."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not holds():  # noqa: ASYNC110  what it waits for happens in a database
            await asyncio.sleep(0.01)
