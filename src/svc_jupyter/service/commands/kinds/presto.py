"""`PrestoCommand`: SQL on a Presto cluster (CONVENTIONS section 2). Its result is a typed table.

The statements of a command share a session. They are sent by a worker process, which outlives the service; the
coordinator ends a query whose worker is gone.
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType, PrestoSubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.kinds.db_tap_query import outcome_of
from svc_jupyter.service.commands.kinds.hive import written_jobs
from svc_jupyter.service.commands.process import DurableProcess
from svc_jupyter.service.commands.progress_file import followed
from svc_jupyter.service.db_taps.job import (
    PART_SUFFIX,
    PROGRESS_FILE,
    RESULT_FILE,
    Connection,
    Dialect,
    EngineName,
    Job,
    JobKind,
)
from svc_jupyter.service.db_taps.workers import Workers
from svc_jupyter.service.engines.presto.addresses import coordinator_http
from svc_jupyter.service.engines.presto.presto_cluster import PrestoEngine
from svc_jupyter.service.errors import Invalid, NotFound
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.storage import Storage


class PrestoKind:
    """Runs `PrestoCommand`s."""

    command_type = CommandType.PRESTO
    cluster_types = frozenset({ClusterType.PRESTO})
    growing_file = f"{RESULT_FILE}{PART_SUFFIX}"

    def __init__(
        self, presto: PrestoEngine, clusters: Clusters, workers: Workers, storage: Storage, settings: Settings
    ) -> None:
        self._presto = presto
        self._clusters = clusters
        self._workers = workers
        self._storage = storage
        self._settings = settings

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`. Loads the workers' parent meanwhile."""
        submission = PrestoSubmission.model_validate(body)
        query, location = submission.query or None, submission.script_location or None
        if "\0" in (query or "") or "\0" in (location or ""):
            raise Invalid("query and script_location must not contain a NUL character")
        if location is not None and "$" not in location:  # a macro says only later where it lies
            await self._storage.locate(caller.account_id, location)
        self._workers.warm()
        return {"query": query, "script_location": location, "md_cmd": None}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """The coordinator runs every statement."""
        return True

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the statements to their end in a worker and say how they ended."""
        try:
            process = await desk.process(partial(self._start, task))
        except StorageFailure as error:
            return Outcome(False, error.message, may_retry=error.may_retry)
        except ClusterFailure as error:
            return Outcome(False, error.message)
        except (Invalid, NotFound) as error:
            return Outcome(False, error.message, may_retry=False)
        code = await followed(process, task.folder / PROGRESS_FILE, desk)
        outcome = outcome_of(task, code)
        if not outcome.succeeded:
            await self.end_remote(task)
        return outcome

    async def end_remote(self, task: Task) -> None:
        """End the queries that the coordinator still runs for an attempt."""
        assert task.cluster_id is not None
        with suppress(ClusterFailure):  # with the cluster its queries have gone
            await self._presto.end_queries(await self._clusters.up_instance(task.cluster_id), _source(task))

    async def jobs(self, root: Path, row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return the queries of the command, as the worker wrote them down."""
        return await written_jobs(root)

    async def _start(self, task: Task) -> DurableProcess:
        query, source = task.command.get("query"), "query"
        if not query:
            source = task.command["script_location"]
            query = await self._storage.read_text(task.account_id, source, self._settings.max_body_bytes)
        return await self._workers.start(
            Job(
                JobKind.QUERY,
                folder=task.folder,
                log=task.log_file,
                connection=await self._connection(task),
                query=query,
                source=source,
                min_free_bytes=self._settings.min_free_disk_bytes,
            )
        )

    async def _connection(self, task: Task) -> Connection:
        assert task.cluster_id is not None
        coordinator = coordinator_http(await self._clusters.up_instance(task.cluster_id))
        told = {"coordinator": coordinator, "user": getpass.getuser(), "source": _source(task)}
        return Connection(
            task.label or str(task.cluster_id),
            "Presto",
            EngineName.PRESTO,
            Dialect.PRESTO,
            coordinator.partition("//")[2],
            json.dumps(told),
            noun="cluster",
        )


def _source(task: Task) -> str:
    """Return what the queries of an attempt are known by on the coordinator."""
    return f"svc-command-{task.id}-{task.attempt}"
