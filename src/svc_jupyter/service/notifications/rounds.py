"""Work that is done when it is due: between its rounds it sleeps, until the next is due or until it is told."""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable

import structlog

from svc_jupyter.service.bus import Bus
from svc_jupyter.service.database import Database
from svc_jupyter.service.errors import Unavailable

NOTIFY = "notify"
"""Topic on which it is announced that there is something to do; the payload is the name of whom it concerns."""
RETRY_SECONDS = 1.0
"""How long one waits for a database that is away."""
_LOOK_SECONDS = 300.0
"""How often one looks without being told: an announcement may be lost, and a sleeping machine's clocks differ."""
_SHORTEST_PAUSE_SECONDS = 0.1
_STOP_SECONDS = 5.0
"""How long a stop waits for what is under way."""
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
        """Begin, first with what an earlier service left."""
        self._task = asyncio.create_task(self._go_round_forever(), name=f"notifications of {self.name}")

    async def stop(self) -> None:
        """Begin nothing further; what is under way has a few seconds, else the next service tries it again."""
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
        """Do what is due now. What becomes due meanwhile is for the next round."""

    @abstractmethod
    async def _next_time(self) -> float | None:
        """Return when something is due next, in Unix seconds; None when nothing is left to do."""

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
        """Return the seconds until something is due; None when only an announcement can change that nothing is."""
        next_time = await self._next_time()
        if next_time is None:
            return None if self._database.on_sqlite else _LOOK_SECONDS
        return min(max(next_time - self._clock(), _SHORTEST_PAUSE_SECONDS), _LOOK_SECONDS)
