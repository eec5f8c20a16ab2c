"""The parts of a running service, made in order and started and stopped in order."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Protocol

from svc_jupyter.api.package_environments import EnvironmentType
from svc_jupyter.service import idempotency, migrations
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.audit.audit import Audit
from svc_jupyter.service.bus import Bus
from svc_jupyter.service.cluster_parts import ClusterParts
from svc_jupyter.service.clusters.changes import Changes
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.drive import Tools
from svc_jupyter.service.clusters.driver import Driver
from svc_jupyter.service.clusters.first_clusters import ensure_clusters
from svc_jupyter.service.clusters.health import Health
from svc_jupyter.service.clusters.instances import Instances
from svc_jupyter.service.clusters.nodes import Nodes
from svc_jupyter.service.clusters.providers.hosts import HostsProvider
from svc_jupyter.service.command_kinds import command_kinds
from svc_jupyter.service.commands.at_end import AtEnd
from svc_jupyter.service.commands.background import run_forever
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.kinds.shell import script_environment
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.database import Database
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.engines.engines import Engines
from svc_jupyter.service.engines.hadoop.daemon_http import DaemonHttp
from svc_jupyter.service.engines.hive_server.server import HiveServers
from svc_jupyter.service.engines.presto.presto_cluster import PrestoEngine
from svc_jupyter.service.hive.hive import Hive
from svc_jupyter.service.hive.hive_dependencies import HiveDependencies
from svc_jupyter.service.hive.sensors import Sensors
from svc_jupyter.service.hive.table_properties import TableProperties
from svc_jupyter.service.idempotency import Idempotency
from svc_jupyter.service.identity import at_start, identity
from svc_jupyter.service.notebook_runs.pages import NotebookPages
from svc_jupyter.service.notifications.channels import Channels
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.objects import DECIDING, OBJECTS, by_path
from svc_jupyter.service.packages.builder import Builder
from svc_jupyter.service.packages.environments import PackageEnvironments
from svc_jupyter.service.packages.python_packages import PythonPackages
from svc_jupyter.service.packages.r_packages import RPackages
from svc_jupyter.service.pipelines.pipelines import Pipelines
from svc_jupyter.service.pipelines.runs import PipelineRuns
from svc_jupyter.service.processes import Processes
from svc_jupyter.service.rate_limit import RateLimit
from svc_jupyter.service.schedules.actions import Actions
from svc_jupyter.service.schedules.every_dependency import EveryDependency
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
from svc_jupyter.service.workspace.notebook_documents import load_what_notebooks_need
from svc_jupyter.service.workspace.workspace import Workspace

_HOUSEKEEPING_SECONDS = 3600.0


class _Part(Protocol):
    """What begins to work with the service and stops with it; it may be stopped without having begun."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


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
    processes: Processes
    notebook_pages: NotebookPages
    jupyter_contents: JupyterContents
    workspace: Workspace
    channels: Channels
    notifications: Notifications
    runner: Runner
    commands: Commands
    engines: Engines
    daemon_http: DaemonHttp
    hosts: HostsProvider
    hive: Hive
    hive_servers: HiveServers
    presto: PrestoEngine
    table_properties: TableProperties
    sensors: Sensors
    instances: Instances
    clusters: Clusters
    health: Health
    nodes: Nodes
    driver: Driver
    package_environments: PackageEnvironments
    package_builder: Builder
    pipelines: Pipelines
    pipeline_runs: PipelineRuns
    schedules: Schedules
    actions: Actions
    ticker: Ticker
    idempotency: Idempotency
    rate_limit: RateLimit
    is_prepared: bool = False
    _to_stop: AsyncExitStack = field(default_factory=AsyncExitStack)

    def __post_init__(self) -> None:
        """Have the database closed last of all, also where nothing ever began."""
        self._to_stop.push_async_callback(asyncio.to_thread, self.database.close)

    @classmethod
    def of(cls, settings: Settings) -> Service:
        """Return the parts over the database that the settings name; nothing runs yet."""
        database = Database(settings)
        bus = Bus(database)
        secrets = SecretBox(settings.data_dir / "secret.key")
        access = Access.of(database, bus, settings, objects=OBJECTS, deciding=DECIDING, by_path=by_path(settings))
        storage = Storage(settings, database, secrets)
        jupyter_contents = JupyterContents(settings, database, access.accounts)
        db_taps = DbTaps(settings, database, secrets)
        notifications = Notifications(settings, database, bus, secrets)
        at_end: list[AtEnd] = [notifications.on_command_end]
        of_clusters = ClusterParts.of(settings, database, bus, secrets, storage, db_taps, at_end)
        gate = of_clusters.gate
        workspace = Workspace.of(database)
        processes = Processes.of(settings, of_clusters.engines)
        kinds = command_kinds(
            settings, database, secrets, storage, db_taps, jupyter_contents, workspace, processes, of_clusters
        )
        runner = Runner(settings, database, bus, kinds, gate=gate, at_end=at_end)
        commands = Commands(settings, database, bus, kinds, runner, gate, access.tokens.recheck)
        driver = Driver(
            Tools(
                settings=settings,
                database=database,
                instances=of_clusters.instances,
                life_cycle=of_clusters.life_cycle,
                engines=of_clusters.cluster_engines,
                providers=of_clusters.providers,
                changes=Changes(bus),
                replica=lambda: runner.replica,
                watch=of_clusters.health,
            )
        )
        work = Materialisation(bus, commands.insert_scheduled, commands.place_scheduled, notifications.on_action_end)
        lease = TickerLease(min(LEASE_SECONDS, settings.lease_seconds))
        hive_dependencies = HiveDependencies(of_clusters.hive.search)
        checker = EveryDependency([FileDependencies(storage), hive_dependencies])
        ticker = Ticker(database, bus, work, checker, lease=lease)
        pipeline_runs = PipelineRuns(settings, database, commands, kinds, gate, notifications)
        at_end.append(pipeline_runs.on_command_end)
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
            processes=processes,
            notebook_pages=NotebookPages(),
            jupyter_contents=jupyter_contents,
            workspace=workspace,
            channels=Channels(settings, database, secrets),
            notifications=notifications,
            runner=runner,
            commands=commands,
            engines=of_clusters.engines,
            daemon_http=of_clusters.daemon_http,
            hive=of_clusters.hive,
            hive_servers=of_clusters.hive_servers,
            presto=of_clusters.presto,
            table_properties=TableProperties(of_clusters.hive.catalogue, database),
            sensors=Sensors(of_clusters.hive.search, storage),
            hosts=of_clusters.hosts,
            instances=of_clusters.instances,
            clusters=of_clusters.clusters,
            health=of_clusters.health,
            nodes=Nodes(database, of_clusters.clusters, of_clusters.instances, of_clusters.cluster_engines, commands),
            driver=driver,
            pipelines=Pipelines(settings, database),
            pipeline_runs=pipeline_runs,
            package_environments=PackageEnvironments(database, bus, access.accounts),
            package_builder=Builder(
                settings,
                database,
                bus,
                {
                    EnvironmentType.PYTHON: PythonPackages(script_environment(os.environ)),
                    EnvironmentType.R: RPackages(script_environment(os.environ), settings.r_cache_dir),
                },
                lambda: runner.replica,
            ),
            schedules=Schedules(
                database,
                bus,
                commands,
                kinds,
                notifications,
                gate,
                tables=hive_dependencies,
                on_preview=load_what_notebooks_need,
            ),
            actions=Actions(database, commands, work),
            ticker=ticker,
            idempotency=Idempotency(database, secrets),
            rate_limit=RateLimit(settings.requests_per_second),
        )

    def prepare(self) -> None:
        """Bring the schema to the newest revision and make sure that the account and its administrator exist.

        A second call does nothing. Raises `RuntimeError` for a database of a newer version or of another data folder,
        and `DBAPIError`.
        """
        if self.is_prepared:
            return
        identity.check(self.settings, self.database)
        migrations.upgrade(self.database)
        with self.database.begin() as connection:
            ensure_clusters(connection, ensure_account(connection, self.settings))
        at_start.join(self.settings, self.database)
        self.is_prepared = True

    async def start(self) -> None:
        """Begin to work: find running commands again, claim waiting ones, send what is to be sent.

        Raises what a part raises that cannot begin; everything that had begun before has stopped then.
        """
        try:
            await self._start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop in good order: running commands go on and are found again by the next service.

        Each part is stopped whatever another one raises. A second call does nothing.
        """
        self.commands.stop()
        await self._to_stop.aclose()

    async def _start(self) -> None:
        """Start each part after it is written down how it stops: the last that started stops first."""
        to_stop = self._to_stop
        await self._start_part(self.bus)
        to_stop.callback(shared_sandbox().close)
        to_stop.callback(self.storage.close)
        for close in (self.processes.stop, self.hosts.close, self.daemon_http.close):
            to_stop.push_async_callback(close)
        await self._start_part(self.hive)
        to_stop.push_async_callback(self.presto.close)
        to_stop.push_async_callback(self.hive_servers.stop)
        for part in (self.runner, self.driver, self.package_builder, self.notifications, self.ticker):
            await self._start_part(part)
        housekeeper = asyncio.create_task(run_forever("housekeeper", self._keep_house), name="housekeeper")
        to_stop.push_async_callback(asyncio.gather, housekeeper, return_exceptions=True)
        to_stop.callback(housekeeper.cancel)

    async def _start_part(self, part: _Part) -> None:
        self._to_stop.push_async_callback(part.stop)  # one that fails half-way is to be stopped as well
        await part.start()

    async def _keep_house(self) -> None:
        await self.database.write(idempotency.forget_old)
        await self.notifications.forget_old()
        await self.audit.forget_old()
        await asyncio.to_thread(self.jupyter_contents.sweep)
        await asyncio.to_thread(self.processes.pig.sweep)
        await asyncio.sleep(_HOUSEKEEPING_SECONDS)
