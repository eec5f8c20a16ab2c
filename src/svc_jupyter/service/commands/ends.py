"""Waits for the end of a command, whichever replica runs it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from svc_jupyter.service.database.bus import Bus

ENDED = "ended"
"""Topic on which the end of a command is announced, with its id."""


class End:
    """The awaited end of a command."""

    def __init__(self) -> None:
        self._announced = asyncio.Event()

    def announce(self) -> None:
        """Wake the waiter."""
        self._announced.set()

    async def within(self, seconds: float) -> bool:
        """Return True at the next announcement or one since the last call, False after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._announced.wait()
        except TimeoutError:
            return False
        self._announced.clear()
        return True


class Ends:
    """Wakes those who wait for the end of a command. An announcement without an id wakes all."""

    def __init__(self, bus: Bus) -> None:
        self._waiting: dict[int, set[End]] = defaultdict(set)
        bus.subscribe(ENDED, self._on_ended)

    @contextmanager
    def expected(self, command_id: int) -> Iterator[End]:
        """Yield the end of a command; announcements inside the block are not missed."""
        end = End()
        waiting = self._waiting[command_id]
        waiting.add(end)
        try:
            yield end
        finally:
            waiting.discard(end)
            if not waiting:
                self._waiting.pop(command_id, None)

    async def wait(self, command_id: int, seconds: float) -> bool:
        """Wait up to `seconds` for an announcement; return whether there was one."""
        with self.expected(command_id) as end:
            return await end.within(seconds)

    def wake_all(self) -> None:
        """Wake all waiters, as when the service stops."""
        self._on_ended("")

    def _on_ended(self, payload: str) -> None:
        ids = [int(payload)] if payload else list(self._waiting)
        for command_id in ids:
            for end in self._waiting.get(command_id, ()):
                end.announce()
