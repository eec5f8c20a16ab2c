"""`HiveCommand`: Hive's SQL through the cluster's HiveServer2 (CONVENTIONS section 2). Its result is a typed table.

The statements of a command share a session. They are asked for by a worker process, which outlives the service; when
that process ends, HiveServer2 ends what it still runs for it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType, HiveSubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.kinds.db_tap_query import outcome_of
from svc_jupyter.service.commands.process import DurableProcess
from svc_jupyter.service.commands.progress_file import followed
from svc_jupyter.service.db_taps.job import (
    JOBS_FILE,
    PART_SUFFIX,
    PROGRESS_FILE,
    RESULT_FILE,
    Job,
    JobKind,
)
from svc_jupyter.service.db_taps.workers import Workers
from svc_jupyter.service.engines.hive_server.connection import connection_for, mark_of
from svc_jupyter.service.engines.hive_server.server import HiveServers
from svc_jupyter.service.errors import Invalid, NotFound
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.storage import Storage

_OTHER_FIELDS: Final = {
    "sample": False,
    "approx_mode": False,
    "approx_aggregations": False,
    "loader_table_name": None,
    "loader_stable": None,
    "md_cmd": None,
}
"""Fields of the record that no request of ours sets (SPEC: Schedule record, `command`)."""


class HiveKind:
    """Runs `HiveCommand`s."""

    command_type = CommandType.HIVE
    cluster_types = frozenset({ClusterType.HADOOP})
    growing_file = f"{RESULT_FILE}{PART_SUFFIX}"

    def __init__(
        self, servers: HiveServers, clusters: Clusters, workers: Workers, storage: Storage, settings: Settings
    ) -> None:
        self._servers = servers
        self._clusters = clusters
        self._workers = workers
        self._storage = storage
        self._settings = settings

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`. Loads the workers' parent meanwhile."""
        submission = HiveSubmission.model_validate(body)
        query, location = submission.query or None, submission.script_location or None
        if "\0" in (query or "") or "\0" in (location or ""):
            raise Invalid("query and script_location must not contain a NUL character")
        if location is not None and "$" not in location:  # a macro says only later where it lies
            await self._storage.locate(caller.account_id, location)
        self._workers.warm()
        return {"query": query, "script_location": location, **_OTHER_FIELDS}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """HiveServer2 runs on the cluster's coordinator."""
        return True

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the statements to their end in a worker and say how they ended."""
        try:
            process = await desk.process(partial(self._start, task, desk))
        except StorageFailure as error:
            return Outcome(False, error.message, may_retry=error.may_retry)
        except (ClusterFailure, ProviderFailure) as error:
            return Outcome(False, error.message)
        except (Invalid, NotFound) as error:
            return Outcome(False, error.message, may_retry=False)
        code = await followed(process, task.folder / PROGRESS_FILE, desk)
        outcome = outcome_of(task, code)
        if not outcome.succeeded:
            await self.end_remote(task)
        return outcome

    async def end_remote(self, task: Task) -> None:
        """End the jobs that HiveServer2 still runs for an attempt, or begins only now."""
        await end_jobs(task, self._servers, self._clusters)

    async def jobs(self, root: Path, row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return the jobs that the statements had on HiveServer2's engine, as the worker wrote them down."""
        return await written_jobs(root)

    async def _start(self, task: Task, desk: Desk) -> DurableProcess:
        query, source = task.command.get("query"), "query"
        if not query:
            source = task.command["script_location"]
            query = await self._storage.read_text(task.account_id, source, self._settings.max_body_bytes)
        connection = await connection_for(task, self._servers, self._clusters, desk.say)
        return await self._workers.start(
            Job(
                JobKind.QUERY,
                folder=task.folder,
                log=task.log_file,
                connection=connection,
                query=query,
                source=source,
                min_free_bytes=self._settings.min_free_disk_bytes,
            )
        )


async def end_jobs(task: Task, servers: HiveServers, clusters: Clusters) -> None:
    """End the jobs that HiveServer2 still runs for an attempt, or begins only now."""
    assert task.cluster_id is not None
    with suppress(ClusterFailure):  # with the cluster its jobs have gone
        servers.end_jobs(await clusters.up_instance(task.cluster_id), mark_of(task))


async def written_jobs(root: Path) -> list[Mapping[str, Any]]:
    """Return the jobs that the workers of a command's attempts have written down, in order."""
    return await asyncio.to_thread(_jobs_in, root)


def _jobs_in(root: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for folder in sorted((path for path in root.iterdir() if path.name.isdecimal()), key=lambda path: int(path.name)):
        try:
            found += json.loads((folder / JOBS_FILE).read_text("utf-8"))
        except FileNotFoundError:
            continue
    return found
