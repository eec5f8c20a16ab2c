"""A worker's connection to a cluster's HiveServer2 for an attempt of a command."""

from __future__ import annotations

import json
from dataclasses import asdict

from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.gate import DEFAULT_LABEL
from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.db_taps.job import Connection, EngineName
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.runtimes.hive_server.endpoint import Endpoint
from svc_jupyter.service.runtimes.hive_server.server import HiveServers
from svc_jupyter.sql_tokens import Dialect


def mark_of(task: Task) -> str:
    """Return the mark of an attempt's statements on the server's engine."""
    return f"svc-command-{task.id}-{task.attempt}"


async def connection_for(task: Task, servers: HiveServers, clusters: Clusters, say: Say) -> Connection:
    """Return the connection, with the server started if necessary. Raises `ClusterFailure`, `ProviderFailure`."""
    server = await servers.ensure(await clusters.up_instance(task.cluster_id), say)
    return connection_to(task, server.endpoint, jobs=server.http)


def connection_to(task: Task, endpoint: Endpoint, *, jobs: str | None) -> Connection:
    """Return the connection to a server; `jobs` is the address of its engine's pages, None where it is not known."""
    target = {"endpoint": asdict(endpoint), "mark": mark_of(task), "jobs": jobs, "pool": task.pool}
    return Connection(
        task.label or DEFAULT_LABEL,
        "HiveServer2",
        EngineName.HIVE,
        Dialect.HIVE,
        f"{endpoint.host}:{endpoint.port}",
        json.dumps(target),
        noun="cluster",
        is_spark=jobs is not None,
    )
