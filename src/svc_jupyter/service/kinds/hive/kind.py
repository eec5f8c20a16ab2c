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
from svc_jupyter.service.db_taps.job import Connection
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.queries.options import described_options
from svc_jupyter.service.kinds.queries.worker_query import WorkerQueries, Workers, written_jobs
from svc_jupyter.service.runtimes.hadoop.causes import explained
from svc_jupyter.service.runtimes.hive_server.connection import connection_for, connection_to, mark_of
from svc_jupyter.service.runtimes.hive_server.external import ExternalHiveServers
from svc_jupyter.service.runtimes.hive_server.server import HiveServers
from svc_jupyter.service.storage.storage import Storage
from svc_jupyter.sql_tokens import Dialect

_OTHER_FIELDS: Final = {
    "sample": False,
    "approx_mode": False,
    "approx_aggregations": False,
    "loader_table_name": None,
    "loader_stable": None,
}
"""Fields of the record that only other services honour."""


class HiveKind:
    """Runs `HiveCommand`s."""

    command_type = CommandType.HIVE
    cluster_types = frozenset({ClusterType.HADOOP, ClusterType.HIVE})

    def __init__(
        self,
        servers: HiveServers,
        of_others: ExternalHiveServers,
        clusters: Clusters,
        workers: Workers,
        storage: Storage,
        settings: Settings,
    ) -> None:
        self._servers = servers
        self._of_others = of_others
        self._clusters = clusters
        self._queries = WorkerQueries(workers, storage, settings)

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`. Also loads the workers' parent."""
        submission = HiveSubmission.model_validate(body)
        fields = await self._queries.described(submission.query, submission.script_location, caller)
        fields |= await described_options(submission, Dialect.HIVE)
        return {**fields, **_OTHER_FIELDS, "md_cmd": submission.md_cmd}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """Return True: the cluster's HiveServer2 runs every statement."""
        return True

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the statements in a worker and return their outcome."""
        outcome = await self._queries.run(task, desk, partial(self._connection, task, desk), self.end_remote)
        return outcome if outcome.message is None else replace(outcome, message=explained(outcome.message))

    async def end_remote(self, task: Task) -> None:
        """End the jobs that HiveServer2 runs for an attempt, or starts just now."""
        await end_jobs(task, self._servers, self._clusters)

    async def _connection(self, task: Task, desk: Desk) -> Connection:
        instance = await self._clusters.up_instance(task.cluster_id)
        if not instance.configuration.is_external:
            return await connection_for(task, self._servers, self._clusters, desk.say)
        user = await self._clusters.email_of(task.user_id)
        return connection_to(task, self._of_others.endpoint(instance, user), jobs=None)

    async def jobs(self, root: Path, row: CommandRow) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return the jobs of the statements on HiveServer2's engine, as the worker recorded them."""
        return await written_jobs(root)


async def end_jobs(task: Task, servers: HiveServers, clusters: Clusters) -> None:
    """End the jobs that HiveServer2 runs for an attempt, or starts just now."""
    with suppress(ClusterFailure):  # the jobs ended with the cluster
        instance = await clusters.up_instance(task.cluster_id)
        if not instance.configuration.is_external:  # there, the end of the session ends them
            servers.end_jobs(instance, mark_of(task))
