"""The parts of a running service, made in order and started and stopped in order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

from svc_jupyter.service import idempotency, migrations
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.bus import Bus
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.commands.kinds.db_tap_query import DbTapQueryKind
from svc_jupyter.service.commands.kinds.shell import ShellKind
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.database import Database
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.db_taps.workers import Workers
from svc_jupyter.service.errors import Unavailable
from svc_jupyter.service.idempotency import Idempotency
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.rate_limit import RateLimit
from svc_jupyter.service.schedules.macro_sandbox import shared_sandbox
from svc_jupyter.service.secrets import SecretBox
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.storage.storage import Storage

_HOUSEKEEPING_SECONDS = 3600.0


@dataclass
class Service:
    """The parts of a running service; routes find them at `app.state.service`."""

    settings: Settings
    database: Database
    bus: Bus
    secrets: SecretBox
    access: Access
    storage: Storage
    db_taps: DbTaps
    workers: Workers
    notifications: Notifications
    runner: Runner
    commands: Commands
    idempotency: Idempotency
    rate_limit: RateLimit
    is_prepared: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Service:
        """Return the parts over the database that the settings name; nothing runs yet."""
        database = Database(settings)
        bus = Bus(database)
        secrets = SecretBox(settings.data_dir / "secret.key")
        storage = Storage(settings, database, secrets)
        db_taps = DbTaps(settings, database, secrets)
        workers = Workers()
        notifications = Notifications(settings, database, bus)
        kinds: Mapping[str, Kind] = {
            kind.command_type.value: kind
            for kind in (ShellKind(storage, settings), DbTapQueryKind(db_taps, workers, storage))
        }
        runner = Runner(settings, database, bus, kinds, at_end=[notifications.on_command_end])
        return cls(
            settings=settings,
            database=database,
            bus=bus,
            secrets=secrets,
            access=Access.of(database, bus, settings),
            storage=storage,
            db_taps=db_taps,
            workers=workers,
            notifications=notifications,
            runner=runner,
            commands=Commands(settings, database, bus, kinds, runner),
            idempotency=Idempotency(database, secrets),
            rate_limit=RateLimit(settings.requests_per_second),
        )

    def prepare(self) -> None:
        """Bring the schema to the newest revision and make sure that the account and its administrator exist.

        A second call does nothing. Raises `RuntimeError` for a database of a newer version, and `DBAPIError`.
        """
        if self.is_prepared:
            return
        migrations.upgrade(self.database)
        with self.database.begin() as connection:
            ensure_account(connection, self.settings)
        self.is_prepared = True

    async def start(self) -> None:
        """Begin to work: find running commands again, claim waiting ones, send what is to be sent."""
        await self.bus.start()
        await self.runner.start()
        await self.notifications.start()
        self._housekeeper = asyncio.create_task(self._keep_house_forever(), name="housekeeper")

    async def stop(self) -> None:
        """Stop in good order: running commands go on and are found again by the next service."""
        self.commands.stop()
        self._housekeeper.cancel()
        await self.notifications.stop()
        await self.runner.stop()
        await self.workers.stop()
        self.storage.close()
        shared_sandbox().close()
        await self.bus.stop()
        await asyncio.to_thread(self.database.close)

    async def _keep_house_forever(self) -> None:
        while True:
            with contextlib.suppress(Unavailable):
                await self.database.write(idempotency.forget_old)
            await asyncio.sleep(_HOUSEKEEPING_SECONDS)
