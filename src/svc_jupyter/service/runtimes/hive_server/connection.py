"""A worker's connection to a cluster's HiveServer2 for an attempt of a command."""

from __future__ import annotations

import getpass
import json

from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.gate import DEFAULT_LABEL
from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.db_taps.job import Connection, Dialect, EngineName
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.runtimes.hive_server.server import HiveServers


def mark_of(task: Task) -> str:
    """Return the mark of an attempt's statements on the server's engine."""
    return f"svc-command-{task.id}-{task.attempt}"


async def connection_for(task: Task, servers: HiveServers, clusters: Clusters, say: Say) -> Connection:
    """Return the connection, with the server started if necessary. Raises `ClusterFailure`, `ProviderFailure`."""
    server = await servers.ensure(await clusters.up_instance(task.cluster_id), say)
    target = {
        "host": server.host,
        "port": server.port,
        "user": getpass.getuser(),
        "mark": mark_of(task),
        "jobs": server.http,
        "pool": task.pool,
    }
    return Connection(
        task.label or DEFAULT_LABEL,
        "HiveServer2",
        EngineName.HIVE,
        Dialect.HIVE,
        str(server),
        json.dumps(target),
        noun="cluster",
    )
