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
from svc_jupyter.service.ground.remembering import remember
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.presto.client import Target
from svc_jupyter.service.kinds.presto.head_start import HeadStart, HeadStarts
from svc_jupyter.service.kinds.queries.worker_query import WorkerQueries, Workers, written_jobs
from svc_jupyter.service.runtimes.presto.access import ExternalAccess
from svc_jupyter.service.runtimes.presto.configuration import coordinator_http
from svc_jupyter.service.runtimes.presto.external import address_of
from svc_jupyter.service.runtimes.presto.presto_cluster import PrestoEngine
from svc_jupyter.service.storage.storage import Storage
from svc_jupyter.sql_tokens import Dialect

_MOST_CLUSTERS = 256
_MOST_USERS = 1024
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
        self._names: dict[int, str] = {}
        """The names that users had on coordinators of others."""

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`. Also loads the workers' parent."""
        submission = PrestoSubmission.model_validate(body)
        fields = await self._queries.described(submission.query, submission.script_location, caller)
        return {**fields, "md_cmd": submission.md_cmd}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """Return True: the coordinator runs every statement."""
        return True

    def foresee(self, values: Mapping[str, Any], command_id: int) -> Callable[[], None]:
        """Post the first statement ahead, if it, its coordinator and its user's name there are already known."""
        coordinator = self._coordinators.get(values["cluster_id"])
        script = values["command"]["query"]
        if coordinator is not None and script and not values["resolved_macros"]:
            user = self._names.get(values["user_id"]) if coordinator.access else getpass.getuser()
            if user is not None:
                self._head_starts.post(command_id, coordinator.target(user, command_id, attempt=1), script)
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
        with suppress(ClusterFailure):  # the queries ended with the cluster, or cannot be reached
            instance = await self._clusters.up_instance(task.cluster_id)
            target = self._coordinator(instance).target(await self._user(task, instance), task.id, task.attempt)
            if target.access is None:
                await self._presto.end_queries(instance, target.source)
            else:
                await self._presto.of_others.end_queries(instance, target.source, target.user)

    async def jobs(self, root: Path, row: CommandRow) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return the queries of the command, as the worker recorded them."""
        return await written_jobs(root)

    async def _connection(self, task: Task) -> Connection:
        assert task.cluster_id is not None
        written = HeadStart.written(task.folder)
        head_start = written or await self._head_start(task, task.cluster_id)
        if head_start is None or (written is not None and written.target.access is not None):
            instance = await self._clusters.up_instance(task.cluster_id)
            coordinator = self._coordinator(instance)
            remember(self._coordinators, task.cluster_id, coordinator, most=_MOST_CLUSTERS)
            target = coordinator.target(await self._user(task, instance), task.id, task.attempt)
        else:
            target = head_start.target
        return Connection(
            task.label or str(task.cluster_id),
            "Presto" if target.access is None else target.access.family,
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
        user = await self._name_of(task.user_id) if known.access else getpass.getuser()
        target = known.target(user, task.id, task.attempt)
        return await self._head_starts.begin(task.id, target, script, task.folder)

    def _coordinator(self, instance: Instance) -> _Coordinator:
        if not instance.configuration.is_external:
            return _Coordinator(instance.id, coordinator_http(instance))
        access = self._presto.of_others.access(instance)
        # What other services run there has the same ids of commands and instances, but not the same times.
        mark = sha256(repr((instance.id, instance.start_at)).encode()).hexdigest()[:_MARK_LENGTH]
        return _Coordinator(instance.id, address_of(instance), access, mark)

    async def _user(self, task: Task, instance: Instance) -> str:
        """Return the user's name on the coordinator: on one of others the e-mail, on one's own the service's user."""
        return await self._name_of(task.user_id) if instance.configuration.is_external else getpass.getuser()

    async def _name_of(self, user_id: int) -> str:
        name = await self._clusters.email_of(user_id)
        remember(self._names, user_id, name, most=_MOST_USERS)
        return name


@dataclass(frozen=True, slots=True)
class _Coordinator:
    """The coordinator of a cluster's instance."""

    instance_id: int
    url: str
    access: ExternalAccess | None = None
    mark: str = ""

    def target(self, user: str, command_id: int, attempt: int) -> Target:
        """Return where an attempt's statements are sent; the name of its queries is unique on the coordinator."""
        end = f"-{self.mark}" if self.mark else ""
        return Target(self.url, user, f"svc-command-{command_id}-{attempt}{end}", self.access)
