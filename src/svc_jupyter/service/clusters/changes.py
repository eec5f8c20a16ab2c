"""Waits for changes of clusters, whichever replica drives them."""

from __future__ import annotations

import asyncio

from svc_jupyter.service.clusters.life_cycle import CLUSTER
from svc_jupyter.service.database.bus import Bus


class Change:
    """The next change of any cluster after this object was made."""

    def __init__(self) -> None:
        self._announced = asyncio.Event()

    def announce(self) -> None:
        """Wake the waiters."""
        self._announced.set()

    async def within(self, seconds: float | None) -> None:
        """Return after a change, or after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._announced.wait()
        except TimeoutError:
            return


class Changes:
    """Wakes all who wait for any cluster; they then read the rows."""

    def __init__(self, bus: Bus) -> None:
        self._next = Change()
        bus.subscribe(CLUSTER, self._on_change)

    def next(self) -> Change:
        """Return the next change; when made before the rows are read, it misses nothing."""
        return self._next

    def _on_change(self, _payload: str) -> None:
        self._next.announce()
        self._next = Change()
