"""The parts of a running service, made in order and started and stopped in order."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass

from svc_jupyter.service import idempotency, migrations
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.audit.audit import Audit
from svc_jupyter.service.bus import Bus
from svc_jupyter.service.commands.background import run_forever
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.endings import AtEnd
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.commands.kinds.composite import CompositeKind
from svc_jupyter.service.commands.kinds.db_tap_query import DbTapQueryKind
from svc_jupyter.service.commands.kinds.jupyter_notebook import JupyterNotebookKind
from svc_jupyter.service.commands.kinds.shell import ShellKind, script_environment
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.database import Database
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.db_taps.workers import Workers
from svc_jupyter.service.idempotency import Idempotency
from svc_jupyter.service.notebook_runs.pages import NotebookPages
from svc_jupyter.service.notebook_runs.workers import RunWorkers
from svc_jupyter.service.notifications.channels import Channels
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.objects import OBJECTS
from svc_jupyter.service.rate_limit import RateLimit
from svc_jupyter.service.schedules.actions import Actions
from svc_jupyter.service.schedules.file_dependencies import FileDependencies
from svc_jupyter.service.schedules.macro_sandbox import shared_sandbox
from svc_jupyter.service.schedules.materialisation import Materialisation
from svc_jupyter.service.schedules.schedules import Schedules
from svc_jupyter.service.schedules.ticker import Ticker
from svc_jupyter.service.schedules.ticker_lease import LEASE_SECONDS, TickerLease
from svc_jupyter.service.secrets import SecretBox
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.storage.storage import Storage
from svc_jupyter.service.workspace.jupyter_contents import JupyterContents
from svc_jupyter.service.workspace.workspace import Workspace

_HOUSEKEEPING_SECONDS = 3600.0


@dataclass
class Service:
    """The parts of a running service; routes find them at `app.state.service`."""

    settings: Settings
    database: Database
    bus: Bus
    secrets: SecretBox
    access: Access
    audit: Audit
    storage: Storage
    db_taps: DbTaps
    workers: Workers
    run_workers: RunWorkers
    notebook_pages: NotebookPages
    jupyter_contents: JupyterContents
    workspace: Workspace
    channels: Channels
    notifications: Notifications
    runner: Runner
    commands: Commands
    schedules: Schedules
    actions: Actions
    ticker: Ticker
    idempotency: Idempotency
    rate_limit: RateLimit
    is_prepared: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Service:
        """Return the parts over the database that the settings name; nothing runs yet."""
        database = Database(settings)
        bus = Bus(database)
        secrets = SecretBox(settings.data_dir / "secret.key")
        access = Access.of(database, bus, settings, objects=OBJECTS)
        storage = Storage(settings, database, secrets)
        jupyter_contents = JupyterContents(settings, database, access.accounts)
        db_taps = DbTaps(settings, database, secrets)
        workers = Workers()
        run_workers = RunWorkers(script_environment(os.environ))
        notifications = Notifications(settings, database, bus, secrets)
        kinds: dict[str, Kind] = {
            kind.command_type.value: kind
            for kind in (
                ShellKind(storage, settings),
                DbTapQueryKind(db_taps, workers, storage),
                JupyterNotebookKind(jupyter_contents, run_workers, settings),
            )
        }
        kinds[CompositeKind.command_type.value] = CompositeKind(dict(kinds))
        at_end: list[AtEnd] = [notifications.on_command_end]
        runner = Runner(settings, database, bus, kinds, at_end=at_end)
        commands = Commands(settings, database, bus, kinds, runner, access.tokens.recheck)
        work = Materialisation(bus, commands.insert_scheduled, notifications.on_action_end)
        lease = TickerLease(min(LEASE_SECONDS, settings.lease_seconds))
        ticker = Ticker(database, bus, work, FileDependencies(storage), lease=lease)
        at_end.append(ticker.on_command_end)  # the runner's ends reach the ticker, whose commands reach the runner
        return cls(
            settings=settings,
            database=database,
            bus=bus,
            secrets=secrets,
            access=access,
            audit=Audit(database, settings.audit_days),
            storage=storage,
            db_taps=db_taps,
            workers=workers,
            run_workers=run_workers,
            notebook_pages=NotebookPages(),
            jupyter_contents=jupyter_contents,
            workspace=Workspace.of(database),
            channels=Channels(settings, database, secrets),
            notifications=notifications,
            runner=runner,
            commands=commands,
            schedules=Schedules(database, bus, commands, kinds, notifications),
            actions=Actions(database, commands, work),
            ticker=ticker,
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
        await self.ticker.start()
        self._housekeeper = asyncio.create_task(run_forever("housekeeper", self._keep_house), name="housekeeper")

    async def stop(self) -> None:
        """Stop in good order: running commands go on and are found again by the next service."""
        self.commands.stop()
        self._housekeeper.cancel()
        await self.ticker.stop()
        await self.notifications.stop()
        await self.runner.stop()
        await self.workers.stop()
        await self.run_workers.stop()
        self.storage.close()
        shared_sandbox().close()
        await self.bus.stop()
        await asyncio.to_thread(self.database.close)

    async def _keep_house(self) -> None:
        await self.database.write(idempotency.forget_old)
        await self.notifications.forget_old()
        await self.audit.forget_old()
        await asyncio.to_thread(self.jupyter_contents.sweep)
        await asyncio.sleep(_HOUSEKEEPING_SECONDS)
