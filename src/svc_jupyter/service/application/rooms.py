"""Builds the rooms of a running service, in the order in which they start."""

from __future__ import annotations

import asyncio
import os
from functools import partial

from svc_jupyter.api.package_environments import EnvironmentType
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.object_policy_routes import router as object_policies_router
from svc_jupyter.service.access.routes import router as access_router
from svc_jupyter.service.access.run_tokens import RunTokens
from svc_jupyter.service.application.cluster_parts import ClusterParts
from svc_jupyter.service.application.command_kinds import command_kinds
from svc_jupyter.service.application.policy_objects import DECIDING, OBJECTS, by_path
from svc_jupyter.service.application.processes import Processes
from svc_jupyter.service.audit.audit import Audit
from svc_jupyter.service.audit.routes import router as audit_router
from svc_jupyter.service.catalogues.catalogues import Catalogues
from svc_jupyter.service.catalogues.routes import router as catalogues_router
from svc_jupyter.service.catalogues.sources import HiveSource, TapSources
from svc_jupyter.service.clusters.driver import Driver
from svc_jupyter.service.clusters.life_cycle import Changes
from svc_jupyter.service.clusters.nodes import Nodes
from svc_jupyter.service.clusters.reconciler import Tools
from svc_jupyter.service.clusters.routes import router as clusters_router
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.ends import AtEnd
from svc_jupyter.service.commands.file_routes import router as command_files_router
from svc_jupyter.service.commands.intake import Intake
from svc_jupyter.service.commands.kept_files import on_command_end
from svc_jupyter.service.commands.page import router as command_page_router
from svc_jupyter.service.commands.result_routes import router as command_results_router
from svc_jupyter.service.commands.routes import router as commands_router
from svc_jupyter.service.commands.row_routes import router as command_rows_router
from svc_jupyter.service.commands.row_views.views import RowViews
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.commands.session_routes import router as command_sessions_router
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.database.service_lease import ServiceLease
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.db_taps.routes import router as db_taps_router
from svc_jupyter.service.db_taps.table_lists import TableLists
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings, script_environment
from svc_jupyter.service.hive.partitions import HiveDependencies
from svc_jupyter.service.hive.routes import router as hive_router
from svc_jupyter.service.hive.sensors import Sensors
from svc_jupyter.service.hive.table_properties import TableProperties
from svc_jupyter.service.http.idempotency import Idempotency
from svc_jupyter.service.http.rate_limit import RateLimit
from svc_jupyter.service.http.rooms import Room
from svc_jupyter.service.kinds.notebook.service_access import ServiceAccess
from svc_jupyter.service.macros.sandbox import shared_sandbox
from svc_jupyter.service.monitoring.figures import Figures
from svc_jupyter.service.monitoring.monitoring import Monitoring
from svc_jupyter.service.monitoring.own_port import OwnPort
from svc_jupyter.service.monitoring.routes import router as monitoring_router
from svc_jupyter.service.notifications.channels import Channels
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.notifications.routes import router as channels_router
from svc_jupyter.service.packages.builder import Builder
from svc_jupyter.service.packages.environments import PackageEnvironments
from svc_jupyter.service.packages.python_packages import PythonPackages
from svc_jupyter.service.packages.r_packages import RPackages
from svc_jupyter.service.packages.routes import router as packages_router
from svc_jupyter.service.pipelines.pipelines import Pipelines
from svc_jupyter.service.pipelines.routes import router as pipelines_router
from svc_jupyter.service.pipelines.runs import PipelineRuns
from svc_jupyter.service.retention.pruner import Pruner
from svc_jupyter.service.retention.retention import Retention
from svc_jupyter.service.retention.routes import router as retention_router
from svc_jupyter.service.schedules.actions import Actions
from svc_jupyter.service.schedules.dependency_checks import EveryDependency, FileDependencies
from svc_jupyter.service.schedules.materialisation import Materialisation
from svc_jupyter.service.schedules.routes import router as schedules_router
from svc_jupyter.service.schedules.schedules import Schedules
from svc_jupyter.service.schedules.ticker import LEASE, LEASE_SECONDS, Ticker
from svc_jupyter.service.storage.routes import router as storage_router
from svc_jupyter.service.storage.storage import Storage
from svc_jupyter.service.workspace.dashboard_routes import router as dashboards_router
from svc_jupyter.service.workspace.folder_routes import router as folders_router
from svc_jupyter.service.workspace.jupyter_contents import JupyterContents
from svc_jupyter.service.workspace.jupyter_routes import router as jupyter_contents_router
from svc_jupyter.service.workspace.note_routes import router as notes_router
from svc_jupyter.service.workspace.notebook_documents import load_what_notebooks_need
from svc_jupyter.service.workspace.workspace import Workspace


def rooms_of(settings: Settings, database: Database, base_url: str | None) -> list[Room]:
    """Return the rooms over a database; nothing runs yet. `base_url` is where this machine reaches the service."""
    bus = Bus(database)
    secrets = SecretBox(settings.data_dir / "secret.key")
    access = Access.of(database, bus, settings, objects=OBJECTS, deciding=DECIDING, by_path=by_path(settings))
    storage = Storage(settings, database, secrets)
    jupyter_contents = JupyterContents(settings, database, access.accounts)
    db_taps = DbTaps(settings, database, secrets)
    notifications = Notifications(settings, database, bus, secrets)
    run_tokens = RunTokens(database, bus, access.tokens, settings.timeout_check_seconds)
    figures = Figures(database)
    at_end: list[AtEnd] = [
        notifications.on_command_end,
        run_tokens.on_command_end,
        on_command_end,
        figures.on_command_end,
    ]
    of_clusters = ClusterParts.of(settings, database, bus, secrets, storage, db_taps, at_end)
    gate = of_clusters.gate
    workspace = Workspace.of(database)
    processes = Processes.of(settings, of_clusters.engines)
    kinds = command_kinds(
        settings,
        database,
        secrets,
        storage,
        db_taps,
        jupyter_contents,
        workspace,
        processes,
        of_clusters,
        ServiceAccess(run_tokens, base_url),
    )
    runner = Runner(settings, database, bus, kinds, gate=gate, at_end=at_end)
    intake = Intake(database, bus, kinds, gate)
    commands = Commands(settings, database, bus, kinds, runner, gate, access.tokens.recheck)
    row_views = RowViews(processes.queries)
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
    work = Materialisation(bus, intake.insert_scheduled, intake.place_scheduled, notifications.on_action_end)
    lease = ServiceLease(LEASE, min(LEASE_SECONDS, settings.lease_seconds))
    hive_dependencies = HiveDependencies(of_clusters.hive.search)
    checker = EveryDependency([FileDependencies(storage), hive_dependencies])
    ticker = Ticker(database, bus, work, checker, lease=lease)
    pipeline_runs = PipelineRuns(settings, database, intake, commands, kinds, gate, notifications)
    at_end.append(pipeline_runs.on_command_end)
    at_end.append(ticker.on_command_end)  # the runner's ends reach the ticker, whose commands reach the runner
    catalogues = Catalogues(settings)
    at_end.append(catalogues.on_command_end)
    monitoring = Monitoring(settings, database, figures, {"ticker": ticker.pulse, "cluster_driver": driver.pulse})
    audit = Audit(database, settings.audit_days)
    idempotency = Idempotency(database, secrets)
    hive = of_clusters.hive
    nodes = Nodes(database, of_clusters.clusters, of_clusters.instances, of_clusters.cluster_engines, intake)
    environment = script_environment(os.environ)
    builder = Builder(
        settings,
        database,
        bus,
        {
            EnvironmentType.PYTHON: PythonPackages(environment),
            EnvironmentType.R: RPackages(environment, settings.r_cache_dir),
        },
        lambda: runner.replica,
    )
    schedules = Schedules(
        database,
        bus,
        commands,
        kinds,
        notifications,
        gate,
        tables=hive_dependencies,
        on_preview=load_what_notebooks_need,
    )
    return [
        Room(working=(bus,), closing=(shared_sandbox().close,)),
        Room(parts=(idempotency, RateLimit(settings.requests_per_second)), sweeping=(idempotency.forget_old,)),
        Room(parts=(access,), routers=(access_router, object_policies_router)),
        Room(parts=(audit,), routers=(audit_router,), sweeping=(audit.forget_old,)),
        Room(parts=(storage,), routers=(storage_router,), closing=(storage.close,)),
        Room(parts=(db_taps, TableLists(db_taps, processes.queries)), routers=(db_taps_router,)),
        Room(
            parts=(jupyter_contents,),
            routers=(jupyter_contents_router,),
            sweeping=(partial(asyncio.to_thread, jupyter_contents.sweep),),
        ),
        Room(
            parts=(workspace.folders, workspace.lists, workspace.notes, workspace.history, workspace.dashboards),
            routers=(folders_router, notes_router, dashboards_router),
        ),
        Room(closing=(processes.stop,), sweeping=(partial(asyncio.to_thread, processes.pig.sweep),)),
        Room(closing=(of_clusters.hosts.close, of_clusters.daemon_http.close)),
        Room(
            parts=(hive.catalogue, TableProperties(hive.catalogue, database), Sensors(hive.search, storage)),
            routers=(hive_router,),
            working=(hive,),
        ),
        Room(
            parts=(TapSources(db_taps, processes.queries), HiveSource.of(hive.connections)),
            routers=(catalogues_router,),
            working=(catalogues,),
            sweeping=(catalogues.sweep,),
        ),
        Room(
            closing=(
                of_clusters.presto.close,
                of_clusters.external_hive_servers.close,
                of_clusters.connect_workers.stop,
                of_clusters.hive_servers.stop,
            )
        ),
        Room(
            parts=(intake, commands, row_views),
            routers=(
                commands_router,
                command_results_router,
                command_rows_router,
                command_sessions_router,
                command_files_router,
                command_page_router,
            ),
            working=(runner,),
            closing=(row_views.stop,),
        ),
        Room(
            parts=(Retention(database, bus, kinds),),
            routers=(retention_router,),
            working=(Pruner(settings, database, bus),),
        ),
        Room(
            parts=(of_clusters.clusters, of_clusters.health, nodes),
            routers=(clusters_router,),
            working=(driver,),
            is_needed=of_clusters.clusters.are_active,
        ),
        Room(
            parts=(PackageEnvironments(database, bus, access.accounts),),
            routers=(packages_router,),
            working=(builder,),
            is_needed=builder.are_active,
        ),
        Room(
            parts=(Channels(settings, database, secrets),),
            routers=(channels_router,),
            working=(notifications,),
            sweeping=(notifications.forget_old,),
        ),
        Room(parts=(Pipelines(settings, database), pipeline_runs), routers=(pipelines_router,)),
        Room(
            parts=(schedules, Actions(database, commands, work)),
            routers=(schedules_router,),
            working=(ticker,),
            is_needed=schedules.are_active,
        ),
        Room(
            parts=(figures, monitoring),
            routers=(monitoring_router,),
            working=(OwnPort(monitoring, settings.metrics_port),),
        ),
    ]
