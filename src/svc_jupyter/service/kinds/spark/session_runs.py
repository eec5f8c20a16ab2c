"""Statements of commands on a cluster's session server: started once, awaited, and found again after a restart.

Files in the attempt's folder report how a statement ended; the server writes them even while the service is away. They
also report its start: a statement that waited for its session when the server died is sent to the next server.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.commands.kind import Desk, Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.plans import NOTHING_RUN, first_rows
from svc_jupyter.service.db_taps.statements import NotSeparable
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.kinds.spark.sql_failures import reason_of
from svc_jupyter.service.kinds.spark.sql_parts import sql_parts
from svc_jupyter.service.runtimes.hadoop.tagged_jobs import tag_of
from svc_jupyter.service.runtimes.spark.driver.statement import (
    ERROR_FILE,
    OUT_FILE,
    RESULT_FILE,
    STARTED_FILE,
    SUMMARY_FILE,
    Language,
    Statement,
)
from svc_jupyter.service.runtimes.spark.session_client import ServerSilent, SessionClient
from svc_jupyter.service.runtimes.spark.session_servers import SessionServers


def statement_of(
    task: Task,
    language: Language,
    code: str,
    arguments: list[str],
    min_free_bytes: int,
    cell: dict[str, Any] | None = None,
) -> Statement:
    """Return the statement of an attempt.

    Raises `Invalid` for SQL without a statement, with uncertain ones, whose names and values do not fit together, or
    whose plan is wanted and which has none.
    """
    try:
        parts = sql_parts(code, task.command) if language is Language.SQL else []
    except (NotSeparable, QueryFailure) as failure:
        raise Invalid(failure.message) from None
    if language is Language.SQL and not parts:
        raise Invalid("the query holds no statement")
    return Statement(
        id=tag_of(task.id, task.attempt),
        language=language,
        code=code,
        folder=str(task.folder),
        log=str(task.log_file),
        work=str(task.working_folder),
        arguments=arguments,
        parts=parts,
        pool=task.pool,
        limit=task.command.get("limit"),
        min_free_bytes=min_free_bytes,
        note=cell,
    )


def has_ended(folder: Path) -> bool:
    """Return whether a statement has reported its end."""
    return (folder / SUMMARY_FILE).exists() or (folder / ERROR_FILE).exists()


def outcome_of(task: Task, code: int | None = None) -> Outcome:
    """Return the outcome of an ended statement: typed rows, or else its printed lines, or else a text.

    Output printed in addition to rows goes into the log. `code` is the exit code of its process, if it had its own.
    """
    error = _content(task.folder / ERROR_FILE)
    if error is not None:
        where = "" if error.get("line") is None else f"line {error['line']}: "
        return Outcome(False, f"{where}{reason_of(error)}", exit_code=code, may_retry=error["may_retry"])
    summary = _content(task.folder / SUMMARY_FILE)
    if summary is None:
        return Outcome(False, _UNTOLD, exit_code=code)
    printed = task.folder / OUT_FILE
    size = printed.stat().st_size if printed.exists() else 0
    if summary.get("rows") is None:
        lines = StoredResult(ResultForm.LINES, file=f"{task.attempt}/{OUT_FILE}", size=size) if size else None
        return Outcome(True, None if size else summary.get("message"), exit_code=code, result=lines)
    if size:
        with printed.open("rb") as source, task.log_file.open("ab") as log:
            shutil.copyfileobj(source, log)
    limit = task.command.get("limit")
    told = [NOTHING_RUN] if task.command.get("dry_run") else []
    if limit is not None and summary["rows"] == limit:
        told.append(first_rows(limit))
    summary["notes"] = [*summary.get("notes", ()), *told]
    return Outcome(True, exit_code=code, result=StoredResult.of_rows(f"{task.attempt}/{RESULT_FILE}", summary))


def _content(file: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return None
    return content


BEGUN_FILE: Final = "statement"
"""Written before the statement is sent to the server; holds its id."""
_AGAIN_SECONDS: Final = 0.5
_SILENT_SECONDS: Final = 60.0
"""How long the server may be silent, for example during garbage collection, before it counts as gone."""
_END_SECONDS: Final = 12.0
_LOST: Final = (
    "the cluster's session server ended while the program ran (was it killed, or did its memory run out?); "
    "it is started again: run the command once more"
)
_NEVER_BEGUN: Final = (
    "the cluster's session server ended {times} times before the program began; the log of the cluster's session "
    "server says why"
)
_UNTOLD: Final = (
    "the program ended, and its session did not say how (was its process killed, or is its disk full?): "
    "run the command once more"
)
_SENT_AT_MOST: Final = 3
"""Limit of sends: a session whose start kills the server would otherwise kill it again and again."""


class _Lost(Exception):
    """The end of the statement is unknown, or it cannot start; the text is for the user."""


class SessionRuns:
    """Runs statements."""

    def __init__(self, servers: SessionServers, clusters: Clusters) -> None:
        self._servers = servers
        self._clusters = clusters

    async def run(self, task: Task, desk: Desk, statement: Statement, session: str | None) -> Outcome:
        """Run a statement in a kept session, or in its own; return its outcome. Raises `ClusterFailure`."""
        instance = await self._clusters.up_instance(task.cluster_id)
        if not has_ended(task.folder):
            begun = task.folder / BEGUN_FILE
            is_new = not begun.exists()
            if is_new:
                if not await self._servers.is_current(instance):
                    await self._servers.ensure(instance, desk.say)
                begun.write_text(f"{statement.id}\n", "ascii")
            try:
                await self._followed(instance, desk, statement, session, is_new=is_new)
            except _Lost as lost:
                if not has_ended(task.folder):
                    return Outcome(False, str(lost))
        return await asyncio.to_thread(outcome_of, task)

    async def end(self, task: Task, say: Say) -> None:
        """End the statement of an attempt, if one was started; return once it has ended."""
        try:
            statement_id = (task.folder / BEGUN_FILE).read_text("ascii").strip()
            instance = await self._clusters.up_instance(task.cluster_id)
        except (FileNotFoundError, ClusterFailure):
            return  # nothing was started, or it ended with the cluster
        try:
            async with asyncio.timeout(_END_SECONDS), self._client(instance) as client:
                if await client.cancel(statement_id):
                    state: dict[str, Any] = {"state": "running", "version": None}
                    while state["state"] not in ("ended", "unknown"):
                        state = await client.wait(statement_id, state["version"])
        except (ServerSilent, TimeoutError) as error:
            say(f"the program may still run in its session: {error or 'it did not end in time'}")

    async def ask(self, cluster_id: int, name: str, question: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a session's answer to an editor's question; None when it cannot answer at once, or is not there."""
        with suppress(ClusterFailure, ServerSilent):
            instance = await self._clusters.up_instance(cluster_id)
            async with self._client(instance) as client:
                return await client.ask(name, question)
        return None

    async def end_kept(self, cluster_id: int, name: str) -> bool:
        """End a kept session, by its name, and what runs in it; return whether there was one."""
        with suppress(ClusterFailure, ServerSilent):
            instance = await self._clusters.up_instance(cluster_id)
            async with self._client(instance) as client:
                return await client.end_session(name)
        return False

    async def end_session(self, task: Task, name: str, say: Say) -> None:
        """End a session, by its name, and what runs in it, if it exists."""
        try:
            instance = await self._clusters.up_instance(task.cluster_id)
        except ClusterFailure:
            return  # it ended with the cluster
        try:
            async with asyncio.timeout(_END_SECONDS), self._client(instance) as client:
                await client.end_session(name)
        except (ServerSilent, TimeoutError) as error:
            say(f"the note's session may still be there: {error or 'it did not end in time'}")

    def _client(self, instance: Instance) -> SessionClient:
        address = self._servers.address(instance)
        return SessionClient(address.host, address.port, address.secret)

    async def _followed(
        self, instance: Instance, desk: Desk, statement: Statement, session: str | None, *, is_new: bool
    ) -> None:
        """Start the statement if it is new, and return once it has ended. Raises `_Lost`, `ClusterFailure`."""
        silent_since: float | None = None
        sent = 0
        while True:
            try:
                async with self._client(instance) as client:
                    silent_since = None
                    if is_new:
                        sent += 1
                    state = await client.run(statement, session) if is_new else await client.wait(statement.id, None)
                    is_new = False
                    while state["state"] not in ("ended", "unknown"):
                        desk.progress(state["percent"], state["rows"])
                        state = await client.wait(statement.id, state["version"])
                if state["state"] == "ended" or has_ended(Path(statement.folder)):
                    return
                if _has_started(statement):
                    raise _Lost(_LOST)
                if sent >= _SENT_AT_MOST:
                    raise _Lost(_NEVER_BEGUN.format(times=sent))
                is_new = True
            except ServerSilent:
                silent_since = silent_since or time.monotonic()
                if time.monotonic() - silent_since > _SILENT_SECONDS:
                    raise _Lost(_LOST) from None
                if _has_started(statement):
                    is_new = False  # the call arrived, but its answer did not
                else:  # the server may be gone
                    await self._servers.ensure(instance, desk.say)
                await asyncio.sleep(_AGAIN_SECONDS)


def _has_started(statement: Statement) -> bool:
    """Return whether a part of a statement may have run."""
    return (Path(statement.folder) / STARTED_FILE).exists()
