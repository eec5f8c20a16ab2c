"""`DbTapQueryCommand`: SQL on a stored connection. Its result is a typed table.

Each query runs in its own worker process, which outlives the service and ends on cancellation. Several statements run
in one transaction, committed after the last; the result is that of the last one that returns a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from svc_jupyter.api.commands import CommandType, DbTapQuerySubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.db_taps.job import Connection
from svc_jupyter.service.ground.errors import Invalid, NotFound, translated
from svc_jupyter.service.kinds.queries.options import described_options
from svc_jupyter.service.kinds.queries.worker_query import WorkerQueries, Workers
from svc_jupyter.service.storage.storage import Storage


class DbTapQueryKind:
    """Runs `DbTapQueryCommand`s."""

    command_type = CommandType.DB_TAP_QUERY

    def __init__(self, db_taps: DbTaps, workers: Workers, storage: Storage) -> None:
        self._db_taps = db_taps
        self._queries = WorkerQueries(workers, storage, db_taps.settings)

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`. Also loads the workers' parent."""
        submission = DbTapQuerySubmission.model_validate(body)
        with translated(NotFound, to=Invalid, about="db_tap_id"):
            await self._db_taps.check_usable(caller.account_id, submission.db_tap_id)
        fields = await self._queries.described(submission.query, submission.script_location, caller)
        if submission.bindings or submission.limit or submission.dry_run:
            tap = await self._db_taps.opened(caller.account_id, submission.db_tap_id)
            fields |= await described_options(submission, tap.connection.dialect)
        return {"db_tap_id": submission.db_tap_id, "md_cmd": submission.md_cmd, **fields}

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the query in a worker and return its outcome."""
        return await self._queries.run(task, desk, partial(self._connection, task))

    async def _connection(self, task: Task) -> Connection:
        return (await self._db_taps.opened(task.account_id, task.command["db_tap_id"])).connection
