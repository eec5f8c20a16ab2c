"""Statements that a worker process of `db_taps` sends to a database or an engine. The process outlives the service."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Desk, Outcome, StoredResult, Task
from svc_jupyter.service.commands.logs import followed
from svc_jupyter.service.db_taps.job import (
    ERROR_FILE,
    PART_SUFFIX,
    PROGRESS_FILE,
    RESULT_FILE,
    SUMMARY_FILE,
    Connection,
    Job,
    JobKind,
)
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.failures import START_FAILURES, not_begun, told_failure
from svc_jupyter.service.kinds.queries.workers import Workers
from svc_jupyter.service.kinds.script_source import ScriptSource
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.storage.storage import Storage

GROWING_FILE: Final = f"{RESULT_FILE}{PART_SUFFIX}"
"""The rows while they are written, in the attempt's folder."""


class WorkerQueries:
    """Runs the statements of commands whose script is `query` or a file at `script_location`."""

    def __init__(self, workers: Workers, storage: Storage, settings: Settings) -> None:
        self._workers = workers
        self._scripts = ScriptSource(storage, settings)
        self._min_free_bytes = settings.min_free_disk_bytes

    async def described(self, query: str | None, location: str | None, caller: Caller) -> dict[str, str | None]:
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
    return told_failure(task.folder / ERROR_FILE, code, "the process that ran the query")
