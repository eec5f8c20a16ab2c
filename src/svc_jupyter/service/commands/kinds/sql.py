"""`SqlCommand`: statements of Spark SQL on a Spark cluster (CONVENTIONS section 2). Its result is a typed table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.spark_commands import SqlSubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.kinds.hive import written_jobs
from svc_jupyter.service.commands.logs import append_line
from svc_jupyter.service.errors import Invalid, NotFound
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.spark.driver.statement import PART_SUFFIX, RESULT_FILE, Language
from svc_jupyter.service.spark.session_runs import SessionRuns
from svc_jupyter.service.spark.statements import statement_of
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.storage import Storage


class SqlKind:
    """Runs `SqlCommand`s, each in a session of its own."""

    command_type = CommandType.SQL
    cluster_types = frozenset({ClusterType.SPARK})
    growing_file = f"{RESULT_FILE}{PART_SUFFIX}"

    def __init__(self, sessions: SessionRuns, storage: Storage, settings: Settings) -> None:
        self._sessions = sessions
        self._storage = storage
        self._settings = settings

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`."""
        submission = SqlSubmission.model_validate(body)
        query, location = submission.query or None, submission.script_location or None
        if "\0" in (query or "") or "\0" in (location or ""):
            raise Invalid("query and script_location must not contain a NUL character")
        if location is not None and "$" not in location:  # a macro says only later where it lies
            await self._storage.locate(caller.account_id, location)
        return {"query": query, "script_location": location, "md_cmd": None}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """The session server runs every statement."""
        return True

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the statements to their end and say how they ended."""
        try:
            query = task.command.get("query")
            if not query:
                location = task.command["script_location"]
                query = await self._storage.read_text(task.account_id, location, self._settings.max_body_bytes)
            statement = statement_of(task, Language.SQL, query, [], self._settings.min_free_disk_bytes)
            return await self._sessions.run(task, desk, statement, None)
        except StorageFailure as error:
            return Outcome(False, error.message, may_retry=error.may_retry)
        except (ClusterFailure, ProviderFailure) as error:
            return Outcome(False, error.message)
        except (Invalid, NotFound) as error:
            return Outcome(False, error.message, may_retry=False)

    async def end_remote(self, task: Task) -> None:
        """End the statement of an attempt that was ended in the middle."""
        await self._sessions.end(task, partial(append_line, task.log_file))

    async def jobs(self, root: Path, row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return Spark's jobs of the command."""
        return await written_jobs(root)
