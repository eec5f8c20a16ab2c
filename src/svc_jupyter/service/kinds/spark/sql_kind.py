"""`SqlCommand`: statements of Spark SQL on a Spark cluster. Its result is a typed table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.spark_commands import SqlSubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.logs import append_line
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.failures import START_FAILURES, not_begun
from svc_jupyter.service.kinds.queries.written_jobs import written_jobs
from svc_jupyter.service.kinds.script_source import ScriptSource
from svc_jupyter.service.kinds.spark.session_runs import SessionRuns
from svc_jupyter.service.kinds.spark.statements import statement_of
from svc_jupyter.service.runtimes.spark.driver.statement import PART_SUFFIX, RESULT_FILE, Language
from svc_jupyter.service.storage.storage import Storage


class SqlKind:
    """Runs `SqlCommand`s, each in a session of its own."""

    command_type = CommandType.SQL
    cluster_types = frozenset({ClusterType.SPARK})
    growing_file = f"{RESULT_FILE}{PART_SUFFIX}"

    def __init__(self, sessions: SessionRuns, storage: Storage, settings: Settings) -> None:
        self._sessions = sessions
        self._scripts = ScriptSource(storage, settings)
        self._settings = settings

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`."""
        submission = SqlSubmission.model_validate(body)
        fields = await self._scripts.described(submission.query, submission.script_location, caller)
        return {**fields, "md_cmd": False}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """Return True: the session server runs every statement."""
        return True

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the statements and return their outcome."""
        try:
            script = await self._scripts.read(task)
            statement = statement_of(task, Language.SQL, script.text, [], self._settings.min_free_disk_bytes)
            return await self._sessions.run(task, desk, statement, None)
        except START_FAILURES as failure:
            return not_begun(failure)

    async def end_remote(self, task: Task) -> None:
        """End the statement of an interrupted attempt."""
        await self._sessions.end(task, partial(append_line, task.log_file))

    async def jobs(self, root: Path, row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return Spark's jobs of the command."""
        return await written_jobs(root)
