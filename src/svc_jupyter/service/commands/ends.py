"""Waiting for the end of a command, on whichever replica it runs."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from svc_jupyter.service.bus import Bus

ENDED = "ended"
"""Topic on which the end of a command is announced, with its id."""


class Ends:
    """Who waits for the end of which command."""

    def __init__(self, bus: Bus) -> None:
        self._waiting: dict[int, set[asyncio.Event]] = defaultdict(set)
        bus.subscribe(ENDED, self._on_ended)

    async def wait(self, command_id: int, seconds: float) -> bool:
        """Wait up to `seconds`; return whether an end was announced (an empty announcement wakes everybody)."""
        event = asyncio.Event()
        waiting = self._waiting[command_id]
        waiting.add(event)
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        finally:
            waiting.discard(event)
            if not waiting:
                self._waiting.pop(command_id, None)
        return True

    def wake_all(self) -> None:
        """Let every waiter look again, as when the service stops."""
        self._on_ended("")

    def _on_ended(self, payload: str) -> None:
        ids = [int(payload)] if payload else list(self._waiting)
        for command_id in ids:
            for event in self._waiting.get(command_id, ()):
                event.set()
