"""A clock of the test's own, for retries and waits."""

from __future__ import annotations

import asyncio


class Clock:
    """Stands for the modules `time` and `asyncio` of the client: time passes only where it pauses."""

    to_thread = staticmethod(asyncio.to_thread)

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(round(seconds, 4))
        self.now += seconds
