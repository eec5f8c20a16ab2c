"""The kinds of commands of a running service: what each one needs, in one place."""

from __future__ import annotations

import os
from collections.abc import Mapping

from svc_jupyter.service.cluster_parts import ClusterParts
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.commands.kinds.add_node import AddNodeKind
from svc_jupyter.service.commands.kinds.composite import CompositeKind
from svc_jupyter.service.commands.kinds.db_tap_query import DbTapQueryKind
from svc_jupyter.service.commands.kinds.db_transfer import DbExportKind, DbImportKind
from svc_jupyter.service.commands.kinds.hadoop import HadoopKind
from svc_jupyter.service.commands.kinds.hive import HiveKind
from svc_jupyter.service.commands.kinds.jupyter_notebook import JupyterNotebookKind
from svc_jupyter.service.commands.kinds.pig import PigKind
from svc_jupyter.service.commands.kinds.presto import PrestoKind
from svc_jupyter.service.commands.kinds.remove_node import RemoveNodeKind
from svc_jupyter.service.commands.kinds.shell import ShellKind, script_environment
from svc_jupyter.service.commands.kinds.spark import SparkKind
from svc_jupyter.service.commands.kinds.sql import SqlKind
from svc_jupyter.service.database import Database
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.engines.hadoop.tagged_jobs import TaggedJobs
from svc_jupyter.service.engines.pig.on_cluster import PigOnCluster
from svc_jupyter.service.packages.attached import AttachedEnvironments
from svc_jupyter.service.processes import Processes
from svc_jupyter.service.secrets import SecretBox
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.spark.applications import Applications
from svc_jupyter.service.spark.session_runs import SessionRuns
from svc_jupyter.service.spark_notes.note_runs import NoteRuns
from svc_jupyter.service.storage.storage import Storage
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
) -> Mapping[str, Kind]:
    """Return every kind by its `command_type`."""
    environment = script_environment(os.environ)
    clusters, hive_servers, session_servers = parts.clusters, parts.hive_servers, parts.session_servers
    attached = AttachedEnvironments(settings, database, environment)
    session_runs = SessionRuns(session_servers, clusters)
    tagged_jobs = TaggedJobs(clusters, parts.daemon_http)
    applications = Applications(session_servers, clusters, tagged_jobs, storage, environment)
    note_runs = NoteRuns(database, workspace.notes, secrets, processes.note_runs, settings)
    pig_on_cluster = PigOnCluster(clusters, parts.hadoop, parts.daemon_http, processes.pig.programs)
    kinds: list[Kind] = [
        ShellKind(storage, settings),
        DbTapQueryKind(db_taps, processes.queries, storage),
        DbExportKind(db_taps, processes.queries, hive_servers, clusters),
        DbImportKind(db_taps, processes.queries, hive_servers, clusters),
        JupyterNotebookKind(jupyter_contents, processes.notebook_runs, settings, attached),
        HadoopKind(parts.engines, parts.hadoop, clusters, tagged_jobs, storage, environment),
        HiveKind(hive_servers, clusters, processes.queries, storage, settings),
        PigKind(parts.engines, processes.pig, storage, clusters, pig_on_cluster, settings),
        PrestoKind(parts.presto, clusters, processes.queries, storage, settings),
        SqlKind(session_runs, storage, settings),
        SparkKind(session_runs, applications, note_runs, session_servers, clusters, storage, settings, attached),
    ]
    of_composites = _by_type(kinds)
    # Made by the node calls only, so no part of a composite.
    of_node_calls = [node(database, parts.instances, parts.cluster_engines) for node in (AddNodeKind, RemoveNodeKind)]
    return {**of_composites, **_by_type([CompositeKind(of_composites, parts.gate), *of_node_calls])}


def _by_type(kinds: list[Kind]) -> dict[str, Kind]:
    return {kind.command_type.value: kind for kind in kinds}
