"""Presto through its coordinator. All statements of a script share one session: `USE`, `SET SESSION` and `PREPARE` last
until its end. There are no transactions but those that the script begins itself: a completed statement stays done.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from svc_jupyter.files import write_whole
from svc_jupyter.service.db_taps.bindings import with_literals
from svc_jupyter.service.db_taps.catalogue_file import DatabaseTables
from svc_jupyter.service.db_taps.engines.engine import Sink, TableName
from svc_jupyter.service.db_taps.failures import QueryFailure, offset_of
from svc_jupyter.service.db_taps.job import JOBS_FILE, Connection
from svc_jupyter.service.db_taps.statements import Statement, TableParts
from svc_jupyter.service.db_taps.values import read_or_texts
from svc_jupyter.service.kinds.presto.client import (
    READING,
    CoordinatorLost,
    StatementClient,
    Target,
    connector,
)
from svc_jupyter.service.kinds.presto.types import ColumnType, RepeatedHour, column, column_type, in_utc
from svc_jupyter.sql_tokens import Dialect

_JOBS_EVERY: Final = 0.5
_NAME_SHOWN: Final = 200
_AGAIN_SECONDS: Final = 90.0
"""How long a query that lost a worker is retried. The worker restarts at once, and for 15 to 40 s accepts tasks that it
cannot run yet.
"""
_PAUSE_SECONDS: Final = 2.0


class PrestoSqlEngine:
    """The coordinator of a cluster. `connection.target` is a `Target`."""

    def __init__(self, connection: Connection, folder: Path | None = None) -> None:
        target = Target.from_json(connection.target)
        self._address = connection.address
        self._coordinator = target.coordinator
        self._state = target.session()
        self._jobs = _JobList(folder)
        self._next: str | None = None
        self._connect = connector(target.access)
        self._is_own = target.access is None

    def run(self, statements: Sequence[Statement], sink: Sink) -> None:
        """See `Engine.run`; each statement takes effect as soon as it has run."""
        client = StatementClient(self._coordinator, self._state, self._connect)
        try:
            for written in statements:
                statement = with_literals(written, Dialect.PRESTO)
                sink.start(statement)
                rows = _Rows(sink)
                try:
                    self._run_one(client, statement, statement.text, rows, sink)
                except RepeatedHour as met:
                    self._run_in_utc(client, statement, rows, sink, met)
        except CoordinatorLost as error:
            raise QueryFailure(f"the connection to the coordinator at {self._address} is lost: {error}") from None
        finally:
            client.close()

    def tables(self) -> list[TableName]:
        """See `Engine.tables`; a command can run `SHOW TABLES`."""
        raise NotImplementedError

    def known(self, tables: Sequence[TableParts], schema: TableParts = ()) -> Iterator[str]:
        """See `Engine.known`."""
        client = StatementClient(self._coordinator, self._state, self._connect)
        try:
            within = f" FROM {_quoted(schema)}" if schema else ""
            for text in [f"SHOW COLUMNS FROM {_quoted(parts)}" for parts in tables] or [f"SHOW TABLES{within}"]:
                answer = client.post(text)
                while True:
                    yield from (row[0] for row in answer.get("data") or ())
                    if (uri := answer.get("nextUri")) is None:
                        break
                    client.ask_ahead(uri)
                    answer = client.following(uri)
        finally:
            client.close()

    def catalogue(self) -> DatabaseTables:
        """See `Engine.catalogue`; the service reads the metastore's."""
        raise NotImplementedError

    def cancel(self) -> None:
        """See `Engine.cancel`."""
        uri = self._next
        if uri is None:
            return
        self._jobs.cancelled()
        client = StatementClient(self._coordinator, self._state, self._connect)
        with suppress(CoordinatorLost):
            client.cancel(uri)
        client.close()

    def _run_one(self, client: StatementClient, statement: Statement, text: str, rows: _Rows, sink: Sink) -> None:
        """Run a statement, as `text`; retry one that only reads for a while after the loss of a worker."""
        may_run_again = self._may_run_again(statement)
        deadline: float | None = None
        while (error := self._attempt(client, statement, text, rows, sink)) is not None:
            now = time.monotonic()
            # Until the worker is back the coordinator may count none.
            has_lost = is_lost_worker(error) or (deadline is not None and is_without_workers(error))
            deadline = deadline or now + _AGAIN_SECONDS
            if not may_run_again or not has_lost or now > deadline:
                raise failure_of(error, text, is_own=self._is_own)
            time.sleep(_PAUSE_SECONDS)

    def _run_in_utc(
        self, client: StatementClient, statement: Statement, rows: _Rows, sink: Sink, met: RepeatedHour
    ) -> None:
        """Run a query again for its instants in UTC, as Presto does not say which of two hours an instant is in."""
        client.close()
        if self._next is not None:
            client.cancel(self._next)
            self._jobs.abandoned()
        if not self._may_run_again(statement):
            raise QueryFailure(f"{met}; select at_timezone(…, 'UTC')")
        in_order = replace(self._state, properties=self._state.properties | {"skip_redundant_sort": "false"})
        again = StatementClient(self._coordinator, in_order, self._connect)
        try:
            self._run_one(again, statement, rows.text_in_utc(statement.text), rows, sink)
        except QueryFailure as failure:
            message = f"{met}; asked for in UTC, the query fails: {failure.message}"
            raise QueryFailure(message, hint=failure.hint) from None
        finally:
            again.close()

    def _may_run_again(self, statement: Statement) -> bool:
        return statement.keyword in READING and self._state.transaction == "NONE"

    def _attempt(
        self, client: StatementClient, statement: Statement, text: str, rows: _Rows, sink: Sink
    ) -> Mapping[str, Any] | None:
        """Run a statement once, as `text`; return its error, if any."""
        changed = None
        rows.start()
        for answer in self._answers(client, statement, text):
            stats = answer["stats"]
            self._jobs.note(answer, statement)
            if (error := answer.get("error")) is not None:
                self._jobs.write()
                return dict(error)
            sink.working(share(stats))
            if answer.get("updateType") is None:
                rows.take(answer)
            changed = answer.get("updateCount", changed)
            if sink.is_full and self._next is not None and statement.keyword in READING:
                client.close()
                with suppress(CoordinatorLost):  # the rows are here
                    client.cancel(self._next)
                self._jobs.abandoned()
                break
        self._jobs.write()
        sink.done(changed)
        return None

    def _answers(self, client: StatementClient, statement: Statement, text: str) -> Iterator[Mapping[str, Any]]:
        """Yield the answers; of a statement that only reads, skip final ones that carry only statistics.

        A query is FINISHED once all its rows have reached the coordinator; an answer that began after that has rows as
        long as there are any.
        """
        answer = client.post(text)
        was_finished = False
        while True:
            is_finished = answer["stats"]["state"] == "FINISHED"
            is_empty = is_finished and was_finished and not answer.get("data") and statement.keyword in READING
            self._next = None if is_empty else answer.get("nextUri")
            if self._next is not None:
                client.ask_ahead(self._next)
            yield answer
            if self._next is None:
                return
            was_finished = is_finished
            answer = client.following(self._next)


def _quoted(parts: TableParts) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


class _Rows:
    """Passes the rows of a statement's answers to the sink; `start` begins with the first row again."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._columns: Sequence[Mapping[str, Any]] = ()
        self._types: list[ColumnType] = []
        self._is_begun = False

    def start(self) -> None:
        self._is_begun = False

    def take(self, answer: Mapping[str, Any]) -> None:
        columns = answer.get("columns")
        if columns is None:
            return
        if not self._columns:
            self._columns = columns
            self._types = [column_type(each["type"]) for each in columns]
        if not self._is_begun:
            self._is_begun = True
            self._sink.table()
            self._write([])
        if data := answer.get("data"):
            self._write(data)

    def text_in_utc(self, query: str) -> str:
        """Return a query with the same rows, whose instants are in UTC."""
        values = ", ".join(in_utc(each["type"], f"c{place}") for place, each in enumerate(self._columns))
        names = ", ".join(f"c{place}" for place in range(len(self._columns)))
        return f"SELECT {values} FROM (\n{query}\n) AS t({names})"  # noqa: S608  the user's own query

    def _write(self, rows: Sequence[Sequence[Any]]) -> None:
        cells: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) if rows else [()] * len(self._types)
        names = [each["name"] for each in self._columns]
        arrays = []
        for each, kind, values in zip(self._columns, self._types, cells, strict=True):
            name = each["name"]
            try:
                made, reason = read_or_texts(each["type"], values, partial(column, kind))
            except RepeatedHour as met:
                raise RepeatedHour(f"column {name}: {met}") from None
            if reason is not None:
                self._sink.became_text(name, reason)
            arrays.append(made)
        schema = pa.schema([pa.field(name, made.type) for name, made in zip(names, arrays, strict=True)])
        self._sink.write(pa.RecordBatch.from_arrays(arrays, schema=schema))


class _JobList:
    """The queries of a script as `GET commands/ID/jobs` shows them, written periodically and when one has finished."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / JOBS_FILE
        self._found: dict[str, dict[str, Any]] = {}
        self._written_at = time.monotonic()
        self._is_written = True
        self._is_cancelled = False
        self._turn = threading.Lock()

    def note(self, answer: Mapping[str, Any], statement: Statement) -> None:
        state = answer["stats"]["state"]
        job = {
            "job_id": answer["id"],
            "name": " ".join(statement.text[statement.lead :].split())[:_NAME_SHOWN],
            "url": answer.get("infoUri"),
            "status": self._status(state),
            "progress": round(100 * share(answer["stats"])),
        }
        if self._found.get(job["job_id"]) == job:
            return
        self._found[job["job_id"]] = job
        self._is_written = False
        if state == "FINISHED" or time.monotonic() - self._written_at >= _JOBS_EVERY:
            self.write()

    def cancelled(self) -> None:
        """Note that the running query is cancelled, from another thread; its last answer reports that as a failure."""
        self._is_cancelled = True
        for job in list(self._found.values()):
            job["status"] = self._status(job["status"])
        self._is_written = False
        self.write()

    def abandoned(self) -> None:
        """Note that the running query is cancelled, since its rows are not needed."""
        [*_, job] = self._found.values()
        job["status"] = "CANCELED"
        self._is_written = False
        self.write()

    def write(self) -> None:
        with self._turn:
            self._written_at = time.monotonic()
            if self._file is not None and not self._is_written:
                self._is_written = True
                write_whole(self._file, json.dumps(list(self._found.values())))

    def _status(self, state: str) -> str:
        return "CANCELED" if self._is_cancelled and state != "FINISHED" else state


def share(stats: Mapping[str, Any]) -> float:
    """Return the share of a query that is done, 0 to 1, by its splits."""
    if stats["state"] == "FINISHED":
        return 1.0
    splits = int(stats.get("totalSplits") or 0)
    return min(1.0, int(stats.get("completedSplits") or 0) / splits) if splits and stats.get("scheduled") else 0.0


_PLACE: Final = re.compile(r"^line \d+:\d+: ")
_STACK: Final = re.compile(r"\n(?:\s+at [\w.$]+|Caused by: |(?:[a-z]\w*\.)+[A-Z]\w*: )")
LOST_WORKER: Final = frozenset(
    {
        "ABANDONED_TASK",
        "NO_NODES_AVAILABLE",
        "PAGE_TRANSPORT_ERROR",
        "PAGE_TRANSPORT_TIMEOUT",
        "REMOTE_HOST_GONE",
        "REMOTE_TASK_ERROR",
        "REMOTE_TASK_MISMATCH",
        "SERVER_SHUTTING_DOWN",
        "TOO_MANY_REQUESTS_FAILED",
    }
)
"""Names of the errors of a query that had work on a lost worker."""
_NO_WORKERS: Final = frozenset({"GENERIC_INSUFFICIENT_RESOURCES", "NO_NODES_AVAILABLE"})
_MEMORY: Final = frozenset({"EXCEEDED_LOCAL_MEMORY_LIMIT", "EXCEEDED_GLOBAL_MEMORY_LIMIT", "CLUSTER_OUT_OF_MEMORY"})


def failure_of(error: Mapping[str, Any], statement: str, *, is_own: bool = True) -> QueryFailure:
    """Return the failure of a statement, from the `error` of an answer; with a hint on clusters of the service."""
    text = _STACK.split(str(error.get("message") or "the query failed and Presto does not say why"), maxsplit=1)[0]
    message = _PLACE.sub("", text)
    position = None
    place = error.get("errorLocation")
    if place is not None:
        position = offset_of(statement, int(place["lineNumber"]), int(place["columnNumber"]) - 1)
    hint = _hint(str(error.get("errorName"))) if is_own else None
    return QueryFailure(message, position=position, hint=hint, shows_column=True)


def is_lost_worker(error: Mapping[str, Any]) -> bool:
    """Return whether a query failed because it lost a worker, so that it may succeed when it runs again."""
    return error.get("errorName") in LOST_WORKER


def is_without_workers(error: Mapping[str, Any]) -> bool:
    """Return whether a query found no worker to run on."""
    return error.get("errorName") in _NO_WORKERS


def _hint(name: str) -> str | None:
    if name in _NO_WORKERS:
        return "the cluster has no worker that takes work: see its nodes (GET clusters/ID/state), or add one"
    if name in LOST_WORKER:
        return "a worker ended while the query had work there; run it again"
    if name in _MEMORY:
        return "jvm.max-heap and query.max-memory-per-node in presto_settings.custom_config give a query more memory"
    return None
