"""`DbTapQueryCommand`: SQL on a stored connection (SPEC: Submit a DB query command). Its result is a typed table.

Each query runs in a worker process of its own, which outlives the service and ends with a cancellation. Several
statements run in one transaction, committed after the last; the result is that of the last one that returns a table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from svc_jupyter.api.commands import CommandType, DbTapQuerySubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Desk, Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.commands.process import DurableProcess
from svc_jupyter.service.commands.progress_file import followed
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.db_taps.job import (
    ERROR_FILE,
    PART_SUFFIX,
    PROGRESS_FILE,
    RESULT_FILE,
    SUMMARY_FILE,
    Job,
    JobKind,
)
from svc_jupyter.service.db_taps.workers import Workers
from svc_jupyter.service.errors import Invalid, NotFound
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.storage import Storage

_SIGNALLED = 128


class DbTapQueryKind:
    """Runs `DbTapQueryCommand`s."""

    command_type = CommandType.DB_TAP_QUERY
    growing_file = f"{RESULT_FILE}{PART_SUFFIX}"

    def __init__(self, db_taps: DbTaps, workers: Workers, storage: Storage) -> None:
        self._db_taps = db_taps
        self._workers = workers
        self._storage = storage

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`. Loads the workers' parent meanwhile."""
        submission = DbTapQuerySubmission.model_validate(body)
        query, location = submission.query or None, submission.script_location or None
        if "\0" in (query or "") or "\0" in (location or ""):
            raise Invalid("query and script_location must not contain a NUL character")
        try:
            await self._db_taps.check_usable(caller.account_id, submission.db_tap_id)
        except NotFound as error:
            raise Invalid(f"db_tap_id: {error.message}") from error
        if location is not None and "$" not in location:  # a macro says only later where it lies
            await self._storage.locate(caller.account_id, location)
        self._workers.warm()
        return {"db_tap_id": submission.db_tap_id, "query": query, "md_cmd": None, "script_location": location}

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the query to its end in a worker and say how it ended."""
        try:
            process = await desk.process(partial(self._start, task))
        except StorageFailure as error:
            return Outcome(False, error.message, may_retry=error.may_retry)
        except (Invalid, NotFound) as error:
            return Outcome(False, error.message, may_retry=False)
        code = await followed(process, task.folder / PROGRESS_FILE, desk)
        return outcome_of(task, code)

    async def _start(self, task: Task) -> DurableProcess:
        tap = await self._db_taps.opened(task.account_id, task.command["db_tap_id"])
        query, source = task.command.get("query"), "query"
        if not query:
            source = task.command["script_location"]
            query = await self._storage.read_text(task.account_id, source, self._db_taps.settings.max_body_bytes)
        return await self._workers.start(
            Job(
                JobKind.QUERY,
                folder=task.folder,
                log=task.log_file,
                connection=tap.connection,
                query=query,
                source=source,
                min_free_bytes=self._db_taps.settings.min_free_disk_bytes,
            )
        )


def outcome_of(task: Task, code: int | None) -> Outcome:
    """Return how an attempt ended, by what its worker left and its exit code."""
    try:
        summary = json.loads((task.folder / SUMMARY_FILE).read_text("utf-8"))
    except FileNotFoundError:
        return failure_of(task, code)
    if summary["rows"] is None:
        return Outcome(True, summary["message"], exit_code=code)
    result = StoredResult(
        ResultForm.ARROW,
        file=f"{task.attempt}/{RESULT_FILE}",
        size=summary["size"],
        rows=summary["rows"],
        columns=tuple((name, kind) for name, kind in summary["columns"]),
    )
    return Outcome(True, exit_code=code, result=result)


def _how(code: int | None) -> str:
    if code is None:
        return "it was killed (did memory run out?), or the machine was restarted"
    if code > _SIGNALLED:
        return f"it was ended by signal {code - _SIGNALLED}"
    return f"it failed with code {code}; the log says more"


def failure_of(task: Task, code: int | None) -> Outcome:
    """Return why a worker left no summary."""
    try:
        error = json.loads((task.folder / ERROR_FILE).read_text("utf-8"))
    except FileNotFoundError:
        return Outcome(False, f"the process that ran the query ended before it: {_how(code)}", exit_code=code)
    return Outcome(False, error["message"], exit_code=code, may_retry=error["may_retry"])
