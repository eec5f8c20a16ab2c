"""Runs work when it is due; between rounds it sleeps until the next due time or an announcement."""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable

import structlog

from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Unavailable

NOTIFY = "notify"
"""Topic that announces work; the payload is the name of the rounds with work."""
RETRY_SECONDS = 1.0
"""Seconds between two attempts while the database is away."""
_LOOK_SECONDS = 300.0
"""How often to check without an announcement: one may be lost, and the clocks of a suspended machine differ."""
_SHORTEST_PAUSE_SECONDS = 0.1
_STOP_SECONDS = 5.0
"""How long a stop waits for work in progress."""
log = structlog.get_logger(__name__)


class Rounds(ABC):
    """Runs `_round` whenever something is due."""

    def __init__(self, name: str, database: Database, bus: Bus, clock: Callable[[], float]) -> None:
        self.name = name
        self._database = database
        self._clock = clock
        self._wake = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None
        bus.subscribe(NOTIFY, self._on_announcement)

    async def start(self) -> None:
        """Start, first with what an earlier service left."""
        self._task = asyncio.create_task(self._go_round_forever(), name=f"notifications of {self.name}")

    async def stop(self) -> None:
        """Start no further work; what is in progress has a few seconds, otherwise the next service retries it."""
        self._stopping = True
        self._wake.set()
        tasks = self._tasks()
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_SECONDS)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @abstractmethod
    async def _round(self) -> None:
        """Do what is due now. What becomes due meanwhile waits for the next round."""

    @abstractmethod
    async def _next_time(self) -> float | None:
        """Return the next due time in Unix seconds; None when no work is left."""

    def _tasks(self) -> set[asyncio.Task[None]]:
        return set() if self._task is None else {self._task}

    def _on_announcement(self, payload: str) -> None:
        if payload in ("", self.name):
            self._wake.set()

    async def _go_round_forever(self) -> None:
        while not self._stopping:
            self._wake.clear()
            try:
                await self._round()
                pause = await self._pause()
            except Unavailable:
                log.warning("notifications_wait_for_database", of=self.name)
                pause = RETRY_SECONDS
            except Exception:
                log.exception("notifications_interrupted", of=self.name)
                pause = _LOOK_SECONDS
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()

    async def _pause(self) -> float | None:
        """Return the seconds until the next due time; None when there is nothing to wait for but an announcement."""
        next_time = await self._next_time()
        if next_time is None:
            return None if self._database.on_sqlite else _LOOK_SECONDS
        return min(max(next_time - self._clock(), _SHORTEST_PAUSE_SECONDS), _LOOK_SECONDS)
