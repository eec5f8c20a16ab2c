"""`PrestoCommand`: SQL on a Presto cluster. Its result is a typed table.

The statements of a command share a session. A worker process, which outlives the service, sends them; the coordinator
ends a query whose worker is gone.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType, PrestoSubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.db_taps.job import Connection, Dialect, EngineName
from svc_jupyter.service.ground.remembering import remember
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.presto.client import Target
from svc_jupyter.service.kinds.presto.head_start import HeadStart, HeadStarts
from svc_jupyter.service.kinds.queries.worker_query import GROWING_FILE, WorkerQueries, Workers, written_jobs
from svc_jupyter.service.runtimes.presto.configuration import coordinator_http
from svc_jupyter.service.runtimes.presto.presto_cluster import PrestoEngine
from svc_jupyter.service.storage.storage import Storage

_MOST_CLUSTERS = 256


class PrestoKind:
    """Runs `PrestoCommand`s."""

    command_type = CommandType.PRESTO
    cluster_types = frozenset({ClusterType.PRESTO})
    growing_file = GROWING_FILE

    def __init__(
        self,
        presto: PrestoEngine,
        clusters: Clusters,
        workers: Workers,
        head_starts: HeadStarts,
        storage: Storage,
        settings: Settings,
    ) -> None:
        self._presto = presto
        self._head_starts = head_starts
        self._clusters = clusters
        self._queries = WorkerQueries(workers, storage, settings)
        self._coordinators: dict[int, _Coordinator] = {}
        """The coordinator that each cluster's statements were last sent to."""

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`. Also loads the workers' parent."""
        submission = PrestoSubmission.model_validate(body)
        fields = await self._queries.described(submission.query, submission.script_location, caller)
        return {**fields, "md_cmd": False}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """Return True: the coordinator runs every statement."""
        return True

    def foresee(self, values: Mapping[str, Any], command_id: int) -> Callable[[], None]:
        """Post the first statement ahead, if it and its coordinator are already known."""
        coordinator = self._coordinators.get(values["cluster_id"])
        script = values["command"]["query"]
        if coordinator is not None and script and not values["resolved_macros"]:
            self._head_starts.post(command_id, _target(coordinator.url, command_id, attempt=1), script)
        return partial(self._head_starts.drop, command_id)

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the statements in a worker and return their outcome."""
        try:
            return await self._queries.run(task, desk, partial(self._connection, task), self.end_remote)
        except OSError:  # no worker took over what may have begun
            await self.end_remote(task)
            raise

    async def end_remote(self, task: Task) -> None:
        """End the queries that the coordinator still runs for an attempt."""
        with suppress(ClusterFailure):  # the queries ended with the cluster
            await self._presto.end_queries(
                await self._clusters.up_instance(task.cluster_id), _source(task.id, task.attempt)
            )

    async def jobs(self, root: Path, row: CommandRow) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return the queries of the command, as the worker recorded them."""
        return await written_jobs(root)

    async def _connection(self, task: Task) -> Connection:
        assert task.cluster_id is not None
        head_start = HeadStart.written(task.folder) or await self._head_start(task, task.cluster_id)
        if head_start is None:
            instance = await self._clusters.up_instance(task.cluster_id)
            coordinator = _Coordinator(instance.id, coordinator_http(instance))
            remember(self._coordinators, task.cluster_id, coordinator, most=_MOST_CLUSTERS)
            target = _target(coordinator.url, task.id, task.attempt)
        else:
            target = head_start.target
        return Connection(
            task.label or str(task.cluster_id),
            "Presto",
            EngineName.PRESTO,
            Dialect.PRESTO,
            target.coordinator.partition("//")[2],
            target.to_json(),
            noun="cluster",
            posted="" if head_start is None else head_start.answer,
        )

    async def _head_start(self, task: Task, cluster_id: int) -> HeadStart | None:
        known = self._coordinators.get(cluster_id)
        script = task.command["query"]
        if known is None or not script or await self._clusters.up_instance_id(cluster_id) != known.instance_id:
            self._head_starts.drop(task.id)  # it was sent to the cluster's former coordinator
            return None
        target = _target(known.url, task.id, task.attempt)
        return await self._head_starts.begin(task.id, target, script, task.folder)


@dataclass(frozen=True, slots=True)
class _Coordinator:
    """The coordinator of a cluster's instance."""

    instance_id: int
    url: str


def _target(coordinator: str, command_id: int, attempt: int) -> Target:
    return Target(coordinator, getpass.getuser(), _source(command_id, attempt))


def _source(command_id: int, attempt: int) -> str:
    """Return the source name of an attempt's queries on the coordinator."""
    return f"svc-command-{command_id}-{attempt}"
