"""Statements that a worker process of `db_taps` sends to a database or an engine. The process outlives the service."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Desk, Outcome, StoredResult, Task
from svc_jupyter.service.commands.logs import followed
from svc_jupyter.service.commands.row_views.job import RowsJob
from svc_jupyter.service.db_taps.job import (
    ERROR_FILE,
    JOBS_FILE,
    PROGRESS_FILE,
    RESULT_FILE,
    SUMMARY_FILE,
    Connection,
    Job,
    JobKind,
)
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.failures import START_FAILURES, not_begun, reported_failure
from svc_jupyter.service.kinds.script_source import ScriptSource
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.warm_workers import IDLE_SECONDS, WarmWorkers
from svc_jupyter.service.storage.storage import Storage

_MODULE = "svc_jupyter.service.kinds.query_worker"
_PRIVATE = ("SVC_", "PG")
"""Prefixes of the service's own variables: its database and mail server, libpq's default password."""
_SINGLE_THREADED = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""A process that forks must have no threads; these libraries start some when they are loaded."""


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for workers: the service's, without its private variables."""
    kept = {name: value for name, value in environment.items() if not name.startswith(_PRIVATE)}
    return kept | _SINGLE_THREADED


class Workers(WarmWorkers[Job | RowsJob]):
    """Starts a worker for each query, and for each result whose rows are read."""

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS, python: str = sys.executable) -> None:
        super().__init__(_MODULE, worker_environment(os.environ), idle_seconds=idle_seconds, python=python)


_MOST_BYTES = 4 << 20
"""About 20,000 jobs; as objects they take ten times as much."""


async def written_jobs(root: Path) -> list[Mapping[str, Any]]:
    """Return the jobs that the workers of a command's attempts recorded, in order.

    Raises `Invalid` when the list is too large to show, or damaged.
    """
    return await asyncio.to_thread(_jobs_in, root)


def _jobs_in(root: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    left = _MOST_BYTES
    for folder in sorted((path for path in root.iterdir() if path.name.isdecimal()), key=lambda path: int(path.name)):
        file = folder / JOBS_FILE
        try:
            with file.open("rb") as stream:
                text = stream.read(left + 1)
        except FileNotFoundError:
            continue
        if len(text) > left:
            raise Invalid(f"the list of its jobs has more than {_MOST_BYTES >> 20} MiB; it is at {file.as_uri()}")
        left -= len(text)
        try:
            found += json.loads(text)
        except ValueError:
            raise Invalid(f"the list of its jobs cannot be read: {file.as_uri()} was changed") from None
    return found


class WorkerQueries:
    """Runs the statements of commands whose script is `query` or a file at `script_location`."""

    def __init__(self, workers: Workers, storage: Storage, settings: Settings) -> None:
        self._workers = workers
        self._scripts = ScriptSource(storage, settings)
        self._min_free_bytes = settings.min_free_disk_bytes

    async def described(self, query: str | None, location: str | None, caller: Caller) -> dict[str, Any]:
        """Return both fields of the record's `command`; also loads the workers' parent. Raises `Invalid`."""
        fields = await self._scripts.described(query, location, caller)
        self._workers.warm()
        return fields

    async def run(
        self,
        task: Task,
        desk: Desk,
        connect: Callable[[], Awaitable[Connection]],
        end_remote: Callable[[Task], Awaitable[None]] | None = None,
    ) -> Outcome:
        """Run the statements over the connection from `connect`, and return their outcome.

        `end_remote` ends what the engine still runs for statements that failed.
        """
        try:
            process = await desk.process(partial(self._start, task, connect))
        except START_FAILURES as failure:
            return not_begun(failure)
        code = await followed(process, task.folder / PROGRESS_FILE, desk)
        outcome = outcome_of(task, code)
        if not outcome.succeeded and end_remote is not None:
            await end_remote(task)
        return outcome

    async def _start(self, task: Task, connect: Callable[[], Awaitable[Connection]]) -> DurableProcess:
        script = await self._scripts.read(task)
        return await self._workers.start(
            Job(
                JobKind.QUERY,
                folder=task.folder,
                log=task.log_file,
                connection=await connect(),
                query=script.text,
                source=script.source,
                bindings=task.command.get("bindings") or {},
                dry_run=bool(task.command.get("dry_run")),
                limit=task.command.get("limit"),
                min_free_bytes=self._min_free_bytes,
            )
        )


def outcome_of(task: Task, code: int | None) -> Outcome:
    """Return the outcome of an attempt from its worker's files and exit code."""
    try:
        summary = json.loads((task.folder / SUMMARY_FILE).read_text("utf-8"))
    except FileNotFoundError:
        return failure_of(task, code)
    if summary["rows"] is None:
        return Outcome(True, summary["message"], exit_code=code)
    return Outcome(True, exit_code=code, result=StoredResult.of_rows(f"{task.attempt}/{RESULT_FILE}", summary))


def failure_of(task: Task, code: int | None) -> Outcome:
    """Return why a worker left no summary."""
    return reported_failure(task.folder / ERROR_FILE, code, "the process that ran the query")
