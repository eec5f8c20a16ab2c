"""Waiting for a cluster to change, on whichever replica it is driven."""

from __future__ import annotations

import asyncio

from svc_jupyter.service.bus import Bus
from svc_jupyter.service.clusters.life_cycle import CLUSTER


class Change:
    """A change of any cluster after the moment in which this was made."""

    def __init__(self) -> None:
        self._announced = asyncio.Event()

    def announce(self) -> None:
        """Let those who wait look."""
        self._announced.set()

    async def within(self, seconds: float | None) -> None:
        """Return once there was a change, or after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._announced.wait()
        except TimeoutError:
            return


class Changes:
    """Wakes those who wait for any cluster; whoever is woken looks at the rows."""

    def __init__(self, bus: Bus) -> None:
        self._next = Change()
        bus.subscribe(CLUSTER, self._on_change)

    def next(self) -> Change:
        """Return the next change: made before a look at the rows, it misses nothing."""
        return self._next

    def _on_change(self, _payload: str) -> None:
        self._next.announce()
        self._next = Change()
