"""How many scripts run at once, so that their Javas do not use the machine's memory up."""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path

from svc_jupyter.service.engines.progress import Say


class Places:
    """Places for scripts; whoever finds none free waits, in the order of coming."""

    def __init__(self, most: int) -> None:
        """`most` is how many there are."""
        self._most = most
        self._holders: set[Path] = set()
        self._waiting: deque[Path] = deque()
        self._changed = asyncio.Event()

    async def take(self, holder: Path, say: Say) -> None:
        """Return once the holder has a place; `say` hears of it when there is none at first."""
        if self._waiting or self._is_full:
            say(f"waiting for a free Pig JVM ({len(self._holders)} of {self._most} in use)")
        self._waiting.append(holder)
        try:
            while self._waiting[0] != holder or self._is_full:
                self._changed.clear()
                await self._changed.wait()
            self._holders.add(holder)
        finally:
            self._waiting.remove(holder)
            self._changed.set()

    def keep(self, holder: Path) -> None:
        """Count a script that runs already, as after a restart of the service, be a place free or not."""
        self._holders.add(holder)

    def leave(self, holder: Path) -> None:
        """Give a place back; a holder that has none gives nothing."""
        self._holders.discard(holder)
        self._changed.set()

    @property
    def _is_full(self) -> bool:
        return len(self._holders) >= self._most
