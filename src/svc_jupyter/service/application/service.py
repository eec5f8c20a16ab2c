"""The service: prepares its rooms, starts them in order, and stops them in reverse order."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Self

from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.application.rooms import rooms_of
from svc_jupyter.service.clusters.first_clusters import ensure_clusters
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.intake import Intake
from svc_jupyter.service.data_folder import at_start, identity
from svc_jupyter.service.database import migrations
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.background import run_forever
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.rooms import Parts, Room

_SWEEP_SECONDS = 3600.0


class Service:
    """The rooms over one database and one data folder."""

    def __init__(self, settings: Settings, database: Database, rooms: Sequence[Room]) -> None:
        self.database = database
        self.rooms = rooms
        self.parts = Parts(part for room in rooms for part in (*room.parts, *room.working))
        self._settings = settings
        self._is_prepared = False
        self._to_stop = AsyncExitStack()
        self._to_stop.push_async_callback(asyncio.to_thread, database.close)  # also without a start

    @classmethod
    def of(cls, settings: Settings, base_url: str | None = None) -> Self:
        """Return the service over the database of the settings; nothing runs yet.

        `base_url` is where programs on this machine reach it; None where it listens nowhere.
        """
        database = Database(settings)
        return cls(settings, database, rooms_of(settings, database, base_url))

    def prepare(self) -> None:
        """Bring the schema to the newest revision and create the account and its administrator if they are missing.

        A second call does nothing. Raises `RuntimeError` for a database of a newer version or of another data folder,
        and `DBAPIError`.
        """
        if self._is_prepared:
            return
        identity.check(self._settings, self.database)
        migrations.upgrade(self.database)
        with self.database.begin() as connection:
            ensure_clusters(connection, ensure_account(connection, self._settings))
        at_start.join(self._settings, self.database)
        self._is_prepared = True

    async def start(self) -> None:
        """Start the rooms: find running commands again, claim waiting ones, send pending messages.

        Raises the error of a part that cannot start, after all started parts have stopped.
        """
        try:
            for room in self.rooms:
                await self._start(room)
            sweeper = asyncio.create_task(run_forever("sweeper", self._sweep), name="sweeper")
            self._to_stop.push_async_callback(asyncio.gather, sweeper, return_exceptions=True)
            self._to_stop.callback(sweeper.cancel)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop in order: running commands continue and are found again by the next service.

        Each part is stopped even if another one raises. A second call does nothing.
        """
        self.release_calls()
        await self._to_stop.aclose()

    def release_calls(self) -> None:
        """Refuse new commands and release the calls that wait for the end of one."""
        self.parts[Intake].stop()
        self.parts[Commands].stop()

    async def is_needed(self) -> bool:
        """Return whether an idle service has future work: schedules, clusters to supervise, packages to build."""
        for room in self.rooms:
            if room.is_needed is not None and await room.is_needed():
                return True
        return False

    async def _start(self, room: Room) -> None:
        """Start a room's parts; each stop is registered first, since a part that fails half-way must also stop."""
        for close in room.closing:
            self._to_stop.push_async_callback(_call, close)
        for part in room.working:
            self._to_stop.push_async_callback(part.stop)
            await part.start()

    async def _sweep(self) -> None:
        for room in self.rooms:
            for sweep in room.sweeping:
                await sweep()
        await asyncio.sleep(_SWEEP_SECONDS)


async def _call(close: Callable[[], Awaitable[None] | None]) -> None:
    answer = close()
    if inspect.isawaitable(answer):
        await answer
