"""`PrestoCommand`: SQL on a Presto cluster. Its result is a typed table.

The statements of a command share a session. A worker process, which outlives the service, sends them; the coordinator
ends a query whose worker is gone.
"""

from __future__ import annotations

import getpass
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType, PrestoSubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.db_taps.job import Connection, EngineName
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.presto.client import Target
from svc_jupyter.service.kinds.queries.options import described_options
from svc_jupyter.service.kinds.queries.worker_query import WorkerQueries, Workers, written_jobs
from svc_jupyter.service.runtimes.presto.configuration import coordinator_http
from svc_jupyter.service.runtimes.presto.external import address_of
from svc_jupyter.service.runtimes.presto.presto_cluster import PrestoEngine
from svc_jupyter.service.storage.storage import Storage
from svc_jupyter.sql_tokens import Dialect

_MARK_LENGTH = 12


class PrestoKind:
    """Runs `PrestoCommand`s."""

    command_type = CommandType.PRESTO
    cluster_types = frozenset({ClusterType.PRESTO})

    def __init__(
        self,
        presto: PrestoEngine,
        clusters: Clusters,
        workers: Workers,
        storage: Storage,
        settings: Settings,
    ) -> None:
        self._presto = presto
        self._clusters = clusters
        self._queries = WorkerQueries(workers, storage, settings)

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`. Also loads the workers' parent."""
        submission = PrestoSubmission.model_validate(body)
        fields = await self._queries.described(submission.query, submission.script_location, caller)
        fields |= await described_options(submission, Dialect.PRESTO)
        return {**fields, "md_cmd": submission.md_cmd}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """Return True: the coordinator runs every statement."""
        return True

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the statements in a worker and return their outcome."""
        try:
            return await self._queries.run(task, desk, partial(self._connection, task), self.end_remote)
        except OSError:  # no worker took over what may have begun
            await self.end_remote(task)
            raise

    async def end_remote(self, task: Task) -> None:
        """End the queries that the coordinator still runs for an attempt."""
        with suppress(ClusterFailure):  # the queries ended with the cluster, or cannot be reached
            instance = await self._clusters.up_instance(task.cluster_id)
            target = await self._target(task, instance)
            if target.access is None:
                await self._presto.end_queries(instance, target.source)
            else:
                await self._presto.of_others.end_queries(instance, target.source, target.user)

    async def jobs(self, root: Path, row: CommandRow) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return the queries of the command, as the worker recorded them."""
        return await written_jobs(root)

    async def _connection(self, task: Task) -> Connection:
        target = await self._target(task, await self._clusters.up_instance(task.cluster_id))
        return Connection(
            task.label or str(task.cluster_id),
            "Presto" if target.access is None else target.access.family,
            EngineName.PRESTO,
            Dialect.PRESTO,
            target.coordinator.partition("//")[2],
            target.to_json(),
            noun="cluster",
        )

    async def _target(self, task: Task, instance: Instance) -> Target:
        """Return where an attempt's statements are sent; the name of its queries is unique on the coordinator.

        The user's name is the e-mail on a coordinator of others, and the service's own user on one of the service.
        """
        name = f"svc-command-{task.id}-{task.attempt}"
        if not instance.configuration.is_external:
            return Target(coordinator_http(instance), getpass.getuser(), name)
        # What other services run there has the same ids of commands and instances, but not the same times.
        mark = sha256(repr((instance.id, instance.start_at)).encode()).hexdigest()[:_MARK_LENGTH]
        user = await self._clusters.email_of(task.user_id)
        return Target(address_of(instance), user, f"{name}-{mark}", self._presto.of_others.access(instance))
