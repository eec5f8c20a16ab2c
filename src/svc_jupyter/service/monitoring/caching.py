"""Values that are read at most once in a while, however often they are asked for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")
_SHARE = 20
"""A reading that takes long is repeated so rarely that it takes a twentieth of the time …"""
_LONGEST_SECONDS = 10.0
"""… but no value is older than this: on a busy machine, everything takes long."""


class Cached(Generic[Value]):
    """The newest value of `read`, at most `seconds` old when it is cheap. One reading runs at a time."""

    def __init__(self, read: Callable[[], Awaitable[Value]], seconds: float = 1.0) -> None:
        self._read = read
        self._seconds = seconds
        self._reading: asyncio.Task[Value] | None = None
        self._until = 0.0

    async def value(self) -> Value:
        """Return the value; raises what the reading raises, which is kept as long as a value."""
        if self._reading is None or (self._reading.done() and time.monotonic() >= self._until):
            self._reading = asyncio.create_task(self._timed(), name="monitoring")
        return await asyncio.shield(self._reading)

    async def _timed(self) -> Value:
        begun = time.monotonic()
        try:
            return await self._read()
        finally:
            ended = time.monotonic()
            self._until = ended + max(self._seconds, min(_SHARE * (ended - begun), _LONGEST_SECONDS))
