"""`DbExportCommand` and `DbImportCommand`: rows between a Hive table and a table of a DB tap.

A worker reads all rows from one side, then writes them to the other in one transaction: all or none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.db_transfers import DbExportSubmission, DbImportSubmission, partition_of
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.logs import followed
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.db_taps.job import PROGRESS_FILE, SUMMARY_FILE, Connection, EngineName, Job, JobKind
from svc_jupyter.service.ground.errors import Invalid, NotFound, translated
from svc_jupyter.service.kinds.failures import START_FAILURES, not_begun
from svc_jupyter.service.kinds.hive.kind import end_jobs
from svc_jupyter.service.kinds.queries.worker_query import Workers, failure_of, written_jobs
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.runtimes.hive_server.connection import connection_for
from svc_jupyter.service.runtimes.hive_server.server import HiveServers

_TARGETS: Final = frozenset({EngineName.SQLITE, EngineName.POSTGRESQL})


class _DbTransferKind:
    """The shared part of both directions."""

    command_type: CommandType
    cluster_types = frozenset({ClusterType.HADOOP})
    job_kind: JobKind

    def __init__(self, db_taps: DbTaps, workers: Workers, servers: HiveServers, clusters: Clusters) -> None:
        self._db_taps = db_taps
        self._workers = workers
        self._servers = servers
        self._clusters = clusters

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """Return True: Hive's side is HiveServer2, which runs on the cluster's coordinator."""
        return True

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the transfer in a worker and return its outcome."""
        try:
            process = await desk.process(partial(self._start, task, desk))
        except START_FAILURES as failure:
            return not_begun(failure)
        code = await followed(process, task.folder / PROGRESS_FILE, desk)
        try:
            summary = json.loads((task.folder / SUMMARY_FILE).read_text("utf-8"))
        except FileNotFoundError:
            await self.end_remote(task)
            return failure_of(task, code)
        desk.say(summary["message"])
        stores = [{"alias": None, "location": summary["target"], "rows": summary["moved"], "bytes": None}]
        return Outcome(True, summary["message"], exit_code=code, outputs={"dumps": [], "stores": stores})

    async def end_remote(self, task: Task) -> None:
        """End the jobs that HiveServer2 runs for an attempt, or starts just now."""
        await end_jobs(task, self._servers, self._clusters)

    async def jobs(self, root: Path, row: CommandRow) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return the jobs that HiveServer2's engine ran."""
        return await written_jobs(root)

    async def _check_tap(self, caller: Caller, tap_id: int) -> None:
        with translated(NotFound, to=Invalid, about="dbtap_id"):
            await self._db_taps.check_usable(caller.account_id, tap_id)
            self._check_engine((await self._db_taps.opened(caller.account_id, tap_id)).connection)
        self._workers.warm()

    def _check_engine(self, connection: Connection) -> None:
        """Refuse a database that a transfer does not support."""

    def _plan(self, command: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the worker's job."""
        raise NotImplementedError

    async def _start(self, task: Task, desk: Desk) -> DurableProcess:
        tap = await self._db_taps.opened(task.account_id, task.command["dbtap_id"])
        self._check_engine(tap.connection)
        plan = self._plan(task.command)
        hive = await connection_for(task, self._servers, self._clusters, desk.say)
        return await self._workers.start(
            Job(
                self.job_kind,
                folder=task.folder,
                log=task.log_file,
                connection=tap.connection,
                query=json.dumps(plan),
                source="statement",
                min_free_bytes=self._db_taps.settings.min_free_disk_bytes,
                hive=hive,
            )
        )


class DbExportKind(_DbTransferKind):
    """Runs `DbExportCommand`s: a Hive table, or one partition of it, into an existing table of a tap."""

    command_type = CommandType.DB_EXPORT
    job_kind = JobKind.EXPORT

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`."""
        submission = DbExportSubmission.model_validate(body)
        await self._check_tap(caller, submission.dbtap_id)
        return submission.model_dump(mode="json", by_alias=True)

    def _check_engine(self, connection: Connection) -> None:
        if connection.engine not in _TARGETS or connection.db_type == "redshift":
            raise Invalid(
                f"dbtap_id: rows can be exported to sqlite and postgresql only; tap {connection.tap} is "
                f"{connection.db_type}"
            )

    def _plan(self, command: Mapping[str, Any]) -> Mapping[str, Any]:
        submission = DbExportSubmission.model_validate(command)
        partition = partition_of(submission.partition_spec)
        where = " AND ".join(f"`{name}` = {_literal(value)}" for name, value in partition.items())
        table = ".".join(f"`{part}`" for part in submission.hive_table.split("."))
        return {
            "hive_table": submission.hive_table,
            "partition": partition,
            "select": f"SELECT * FROM {table}{f' WHERE {where}' if where else ''}",  # noqa: S608  checked names
            "db_table": submission.whole_db_table,
            "keys": submission.keys,
        }


class DbImportKind(_DbTransferKind):
    """Runs `DbImportCommand`s: a table of a tap, or a query there, into a Hive table, created if it is missing."""

    command_type = CommandType.DB_IMPORT
    job_kind = JobKind.IMPORT

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`."""
        submission = DbImportSubmission.model_validate(body)
        await self._check_tap(caller, submission.dbtap_id)
        return submission.model_dump(mode="json", by_alias=True)

    def _plan(self, command: Mapping[str, Any]) -> Mapping[str, Any]:
        submission = DbImportSubmission.model_validate(command)
        return {
            "hive_table": submission.hive_table,
            "format": submission.hive_serde or "parquet",
            "partition": partition_of(submission.partition_spec),
            "select": submission.select,
        }


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
