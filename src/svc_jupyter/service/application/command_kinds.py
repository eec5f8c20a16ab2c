"""Builds the kinds of commands of a running service with all that they need."""

from __future__ import annotations

import os
from collections.abc import Mapping

from svc_jupyter.service.application.cluster_parts import ClusterParts
from svc_jupyter.service.application.processes import Processes
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings, script_environment
from svc_jupyter.service.kinds.composite.kind import CompositeKind
from svc_jupyter.service.kinds.db_query.kind import DbTapQueryKind
from svc_jupyter.service.kinds.db_transfer.kind import DbExportKind, DbImportKind
from svc_jupyter.service.kinds.hadoop.kind import HadoopKind
from svc_jupyter.service.kinds.hive.kind import HiveKind
from svc_jupyter.service.kinds.nodes.kinds import AddNodeKind, RemoveNodeKind
from svc_jupyter.service.kinds.notebook.kind import JupyterNotebookKind
from svc_jupyter.service.kinds.notebook.service_access import ServiceAccess
from svc_jupyter.service.kinds.pig.kind import PigKind
from svc_jupyter.service.kinds.pig.on_cluster import PigOnCluster
from svc_jupyter.service.kinds.presto.kind import PrestoKind
from svc_jupyter.service.kinds.shell.kind import ShellKind
from svc_jupyter.service.kinds.spark.applications import Applications
from svc_jupyter.service.kinds.spark.connect_runs import ConnectRuns
from svc_jupyter.service.kinds.spark.kind import SparkKind, SqlKind
from svc_jupyter.service.kinds.spark.notes.note_runs import NoteRuns
from svc_jupyter.service.kinds.spark.session_runs import SessionRuns
from svc_jupyter.service.packages.attached import AttachedEnvironments
from svc_jupyter.service.runtimes.hadoop.tagged_jobs import TaggedJobs
from svc_jupyter.service.storage.storage import Storage
from svc_jupyter.service.workspace.form_arguments import CellForms
from svc_jupyter.service.workspace.jupyter_contents import JupyterContents
from svc_jupyter.service.workspace.workspace import Workspace


def command_kinds(
    settings: Settings,
    database: Database,
    secrets: SecretBox,
    storage: Storage,
    db_taps: DbTaps,
    jupyter_contents: JupyterContents,
    workspace: Workspace,
    processes: Processes,
    parts: ClusterParts,
    access_of_runs: ServiceAccess,
) -> Mapping[str, Kind]:
    """Return every kind by its `command_type`."""
    environment = script_environment(os.environ)
    clusters, hive_servers, session_servers = parts.clusters, parts.hive_servers, parts.session_servers
    attached = AttachedEnvironments(settings, database, environment)
    session_runs = SessionRuns(session_servers, clusters)
    connect_runs = ConnectRuns(parts.spark_connect, parts.connect_workers, clusters)
    tagged_jobs = TaggedJobs(clusters, parts.daemon_http)
    applications = Applications(session_servers, clusters, tagged_jobs, storage, environment)
    forms = CellForms(secrets)
    note_runs = NoteRuns(database, workspace.notes, secrets, processes.note_runs, settings)
    pig_on_cluster = PigOnCluster(clusters, parts.hadoop, parts.daemon_http, processes.pig.programs)
    kinds: list[Kind] = [
        ShellKind(storage, forms, settings),
        DbTapQueryKind(db_taps, processes.queries, storage),
        DbExportKind(db_taps, processes.queries, hive_servers, clusters),
        DbImportKind(db_taps, processes.queries, hive_servers, clusters),
        JupyterNotebookKind(jupyter_contents, processes.notebook_runs, settings, attached, access_of_runs),
        HadoopKind(parts.engines, parts.hadoop, clusters, tagged_jobs, storage, environment),
        HiveKind(hive_servers, parts.external_hive_servers, clusters, processes.queries, storage, settings),
        PigKind(parts.engines, processes.pig, storage, clusters, pig_on_cluster, settings),
        PrestoKind(parts.presto, clusters, processes.queries, storage, settings),
        SqlKind(session_runs, connect_runs, clusters, storage, settings),
        SparkKind(
            session_runs,
            connect_runs,
            applications,
            note_runs,
            session_servers,
            clusters,
            storage,
            settings,
            attached,
            forms,
        ),
    ]
    of_composites = _by_type(kinds)
    # Only node calls create these, so they cannot be part of a composite.
    of_node_calls = [node(database, parts.instances, parts.cluster_engines) for node in (AddNodeKind, RemoveNodeKind)]
    return {**of_composites, **_by_type([CompositeKind(of_composites, parts.gate), *of_node_calls])}


def _by_type(kinds: list[Kind]) -> dict[str, Kind]:
    return {str(kind.command_type): kind for kind in kinds}
