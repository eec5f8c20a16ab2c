"""`HiveCommand`: Hive's SQL through the cluster's HiveServer2. Its result is a typed table.

The statements of a command share a session. A worker process, which outlives the service, sends them; when it ends,
HiveServer2 ends the statements it still runs for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType, HiveSubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.queries.worker_query import GROWING_FILE, WorkerQueries, Workers, written_jobs
from svc_jupyter.service.runtimes.hadoop.causes import explained
from svc_jupyter.service.runtimes.hive_server.connection import connection_for, mark_of
from svc_jupyter.service.runtimes.hive_server.server import HiveServers
from svc_jupyter.service.storage.storage import Storage

_OTHER_FIELDS: Final = {
    "sample": False,
    "approx_mode": False,
    "approx_aggregations": False,
    "loader_table_name": None,
    "loader_stable": None,
    "md_cmd": False,
}
"""Fields of the record that the service's own requests never set."""


class HiveKind:
    """Runs `HiveCommand`s."""

    command_type = CommandType.HIVE
    cluster_types = frozenset({ClusterType.HADOOP})
    growing_file = GROWING_FILE

    def __init__(
        self, servers: HiveServers, clusters: Clusters, workers: Workers, storage: Storage, settings: Settings
    ) -> None:
        self._servers = servers
        self._clusters = clusters
        self._queries = WorkerQueries(workers, storage, settings)

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`. Also loads the workers' parent."""
        submission = HiveSubmission.model_validate(body)
        fields = await self._queries.described(submission.query, submission.script_location, caller)
        return {**fields, **_OTHER_FIELDS}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """Return True: HiveServer2 runs on the cluster's coordinator."""
        return True

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the statements in a worker and return their outcome."""
        connect = partial(connection_for, task, self._servers, self._clusters, desk.say)
        outcome = await self._queries.run(task, desk, connect, self.end_remote)
        return outcome if outcome.message is None else replace(outcome, message=explained(outcome.message))

    async def end_remote(self, task: Task) -> None:
        """End the jobs that HiveServer2 runs for an attempt, or starts just now."""
        await end_jobs(task, self._servers, self._clusters)

    async def jobs(self, root: Path, row: CommandRow) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return the jobs of the statements on HiveServer2's engine, as the worker recorded them."""
        return await written_jobs(root)


async def end_jobs(task: Task, servers: HiveServers, clusters: Clusters) -> None:
    """End the jobs that HiveServer2 runs for an attempt, or starts just now."""
    with suppress(ClusterFailure):  # the jobs ended with the cluster
        servers.end_jobs(await clusters.up_instance(task.cluster_id), mark_of(task))
