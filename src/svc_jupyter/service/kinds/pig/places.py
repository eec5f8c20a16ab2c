"""Limits the number of scripts that run at once, so that their Java processes do not exhaust the machine's memory."""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path

from svc_jupyter.service.installs.progress import Say


class Places:
    """Slots for scripts; waiting holders get a free one in order of arrival."""

    def __init__(self, most: int) -> None:
        """`most` is the number of slots."""
        self._most = most
        self._holders: set[Path] = set()
        self._waiting: deque[Path] = deque()
        self._changed = asyncio.Event()

    async def take(self, holder: Path, say: Say) -> None:
        """Return once the holder has a slot; `say` reports it if the holder has to wait."""
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
        """Count a script that already runs, as after a restart of the service, even beyond the limit."""
        self._holders.add(holder)

    def leave(self, holder: Path) -> None:
        """Release a holder's slot; does nothing for a holder without one."""
        self._holders.discard(holder)
        self._changed.set()

    @property
    def _is_full(self) -> bool:
        return len(self._holders) >= self._most
