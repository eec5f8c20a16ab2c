"""Hive's SQL through HiveServer2. All statements of a script share one session: `USE`, `SET` and temporary views last
until its end. There are no transactions: a completed statement stays done when a later one fails.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from svc_jupyter.files import write_whole
from svc_jupyter.service.db_taps.bindings import with_literals
from svc_jupyter.service.db_taps.catalogue_file import DatabaseTables
from svc_jupyter.service.db_taps.engines.engine import Sink, TableName, cannot_connect
from svc_jupyter.service.db_taps.failures import QueryFailure, offset_of
from svc_jupyter.service.db_taps.job import JOBS_FILE, Connection
from svc_jupyter.service.db_taps.statements import Statement, TableParts
from svc_jupyter.service.kinds.hive import nested
from svc_jupyter.service.kinds.hive.columns import arrow_type, record_batch
from svc_jupyter.service.kinds.hive.nested import Described, NamedType
from svc_jupyter.service.runtimes.hive_server.client import (
    ColumnType,
    Operation,
    OperationState,
    ServerError,
    Session,
)
from svc_jupyter.service.runtimes.hive_server.endpoint import Endpoint, ServerLost
from svc_jupyter.service.runtimes.hive_server.jobs import Jobs, marked, overall
from svc_jupyter.service.runtimes.spark.driver.plan_text import failure_in
from svc_jupyter.sql_tokens import Dialect

QUERIES: Final = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "MAP", "REDUCE"})
_WRITING: Final = frozenset({"INSERT", "CREATE", "MERGE", "UPDATE", "DELETE", "LOAD", "ANALYZE", "REPLACE", "CACHE"})
_BATCH_ROWS: Final = 20_000
_OF_TABLES: Final = (["tableName", "isTemporary"], ["viewName", "isTemporary"])
"""What Spark's server shows of tables and views behind their database; Hive shows their names alone."""
_CANCEL_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.5
_NAME_SHOWN: Final = 200
_SPARK: Final = "Spark SQL"
"""The name that Spark's HiveServer2 gives its engine."""
_SPARK_POOL: Final = ("spark.sql.thriftserver.scheduler.pool",)
_HIVE_QUEUES: Final = ("tez.queue.name", "mapreduce.job.queuename")
_LOG_LINES: Final = 1000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.5
"""Seconds between two questions to a server that answers at once, although a statement still runs."""
_NOTHING: Final = [ColumnType("Result", 7)]
"""The columns that Hive returns for a statement without a table."""


class HiveEngine:
    """HiveServer2 of a cluster. `connection.target` is a JSON object: endpoint, mark, jobs (URL), pool.

    One that others run has no `jobs`: its engine's pages are not known. It is asked for progress and its log instead.
    """

    def __init__(self, connection: Connection, folder: Path | None = None) -> None:
        self._address = connection.address
        self._target: dict[str, Any] = json.loads(connection.target)
        self._endpoint = Endpoint(**self._target["endpoint"])
        self._folder = folder
        self._jobs = Jobs(self._target["jobs"]) if self._target["jobs"] else None
        self._earlier: list[dict[str, Any]] = []
        self._running: Operation | None = None

    def run(self, statements: Sequence[Statement], sink: Sink) -> None:
        """See `Engine.run`; each statement takes effect as soon as it has run."""
        try:
            session = self._session()
        except (ServerLost, ServerError) as error:
            raise cannot_connect(self._address, str(error)) from None
        with session:
            describes = self._jobs is not None or session.engine() == _SPARK
            if self._target.get("pool"):
                for name in _SPARK_POOL if describes else _HIVE_QUEUES:
                    self._quietly(session, f"SET {name}={self._target['pool']}")
            for number, written in enumerate(statements, start=1):
                statement = with_literals(written, Dialect.HIVE)
                sink.start(statement)
                try:
                    self._run_one(session, statement, f"{self._target['mark']}-{number}", sink, describes=describes)
                except ServerError as error:
                    raise failure_of(str(error), statement.text) from None
                except ServerLost as error:
                    lost = f"the connection to HiveServer2 at {self._address} is lost: {error}"
                    doubt = "; whether the statement has taken effect is not known" if self._running else ""
                    raise QueryFailure(lost + ("" if statement.keyword in QUERIES else doubt)) from None

    def tables(self) -> list[TableName]:
        """See `Engine.tables`; the metastore's catalogue has more."""
        raise NotImplementedError

    def known(self, tables: Sequence[TableParts], schema: TableParts = ()) -> list[str]:
        """See `Engine.known`."""
        with self._session() as session:
            if not tables:
                within = f" IN {_quoted(schema)}" if schema else ""
                return self._column(session, f"SHOW TABLES{within}", "tableName")
            return [
                name
                for parts in tables
                for name in self._column(session, f"SHOW COLUMNS IN {_quoted(parts)}", "col_name")
            ]

    def catalogue(self) -> DatabaseTables:
        """See `Engine.catalogue`; the service reads the metastore's."""
        raise NotImplementedError

    def cancel(self) -> None:
        """See `Engine.cancel`. Closing the connection also cancels, but only once the server notices."""
        operation = self._running
        if operation is None:
            return
        with (
            suppress(ServerLost, ServerError),
            Session(self._endpoint, seconds=_CANCEL_SECONDS, opens=False) as session,
        ):
            session.cancel(operation)
            session.finish(operation)

    def _session(self) -> Session:
        return Session(self._endpoint)

    def _run_one(self, session: Session, statement: Statement, mark: str, sink: Sink, *, describes: bool) -> None:
        is_query = statement.keyword in QUERIES or not statement.keyword
        columns = self._described(session, statement) if is_query and describes else []
        types = nested.described(statement.text, columns, partial(self._describe, session))
        documents = {place: kind for place, kind in enumerate(types) if kind.is_nested}
        text = nested.with_json(statement.text, types)
        if sink.limit is not None and columns:  # Spark's server reads the whole result first
            text = f"SELECT * FROM ({text}\n) LIMIT {sink.limit}"  # noqa: S608  the user's own query
        watch: AbstractContextManager[None] = nullcontext()
        if self._jobs is not None and (is_query or statement.keyword in _WRITING):
            text = marked(text, mark)
            watch = _Watch(self, self._jobs, mark, statement, sink)
        with watch:
            operation = self._running = session.execute(text)
            self._wait(session, operation, statement, sink)
            sent = session.columns(operation)
            if statement.asking:
                self._plan(session, operation, statement, sink)
            elif sent != _NOTHING or is_query:
                names = [name for name, _ in columns] or [column.name for column in sent]
                if statement.keyword == "SHOW" and names[1:] in _OF_TABLES:
                    self._fetch(session, operation, ["tab_name"], sent[1:2], {}, sink, first=1)
                else:
                    self._fetch(session, operation, names, sent, documents, sink)
            session.finish(operation)
            self._running = None
        sink.done(None)

    def _described(self, session: Session, statement: Statement) -> list[NamedType]:
        """Return the columns of a query from its description; none if it is not a query (then it runs unchanged)."""
        try:
            return self._describe(session, statement.text)
        except ServerError:
            return []

    @staticmethod
    def _describe(session: Session, query: str) -> list[NamedType]:
        operation = session.execute(f"DESCRIBE QUERY {query}")
        while not (status := session.status(operation)).state.is_over:
            pass
        if status.state is not OperationState.FINISHED:
            raise ServerError(status.why or "the query cannot be described")
        rows = session.fetch(operation, _BATCH_ROWS)
        session.finish(operation)
        names, kinds = rows[0][0], rows[1][0]
        return [(name.decode(), kind.decode()) for name, kind in zip(names, kinds, strict=True)]

    def _wait(self, session: Session, operation: Operation, statement: Statement, sink: Sink) -> None:
        """Return once the statement is over; report the progress and the log of a server that others run."""
        asks = has_log = self._jobs is None
        pause = _FIRST_PAUSE
        while True:
            asked_at = time.monotonic()
            status = session.status(operation, with_progress=asks)
            has_log = has_log and _passes_log_on(session, operation)
            if status.state.is_over:
                break
            if status.share is not None:
                sink.working(min(1.0, max(0.0, status.share)))
            if time.monotonic() - asked_at < pause:  # it answers without waiting for news
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        if status.state is not OperationState.FINISHED:
            raise failure_of(status.why or f"the statement ended as {status.state.name.lower()}", statement.text)

    def _fetch(
        self,
        session: Session,
        operation: Operation,
        names: Sequence[str],
        columns: Sequence[ColumnType],
        documents: Mapping[int, Described],
        sink: Sink,
        *,
        first: int = 0,
    ) -> None:
        """Write the rows of these columns, the `first` of which has this place among those of the server."""
        kinds = [
            nested.arrow_type(documents[place]) if place in documents else arrow_type(column)
            for place, column in enumerate(columns)
        ]
        parsers = {place: nested.document_parser(kinds[place]) for place in documents}
        sink.table()
        schema = pa.schema(list(zip(names, kinds, strict=True)))
        sink.write(pa.RecordBatch.from_arrays([pa.array([], kind) for kind in kinds], schema=schema))
        while not sink.is_full and (cells := session.fetch(operation, _BATCH_ROWS)):
            if not len(cells[0][0]):
                break
            sink.write(record_batch(names, kinds, cells[first : first + len(kinds)], parsers, sink.became_text))

    @staticmethod
    def _plan(session: Session, operation: Operation, statement: Statement, sink: Sink) -> None:
        """Write the lines of a plan, unless they say why there is none."""
        lines = [line.decode() for line in session.fetch(operation, _BATCH_ROWS)[0][0]]
        plan = "\n".join(lines)
        if failure_in(plan) is not None:
            raise failure_of(plan, statement.text)
        sink.table()
        sink.write(pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], names=["plan"]))

    @staticmethod
    def _column(session: Session, statement: str, name: str) -> list[str]:
        """Return one column of a statement's rows; the only one, where there is none of this name."""
        operation = session.execute(statement)
        while not session.state(operation)[0].is_over:
            pass
        names = [column.name for column in session.columns(operation)]
        cells = session.fetch(operation, _BATCH_ROWS)
        session.finish(operation)
        return [value.decode() for value in cells[names.index(name) if name in names else 0][0]]

    @staticmethod
    def _quietly(session: Session, statement: str) -> None:
        operation = session.execute(statement)
        while not (status := session.status(operation)).state.is_over:
            pass
        if status.state is not OperationState.FINISHED:
            raise failure_of(status.why or f"{statement} was not possible", statement)
        session.finish(operation)

    def look(self, jobs: Jobs, mark: str, name: str, sink: Sink) -> None:
        """Report the progress of the statement with a mark, and record its jobs."""
        found = jobs.of(mark, name)
        sink.working(overall(found))
        self._write_jobs(found)

    def keep(self, jobs: Jobs, mark: str, name: str) -> None:
        """Record how the jobs of a statement ended."""
        self._earlier += jobs.of(mark, name)
        self._write_jobs([])

    def _write_jobs(self, running: Sequence[dict[str, Any]]) -> None:
        found = [*self._earlier, *running]
        if self._folder is not None and found:
            write_whole(self._folder / JOBS_FILE, json.dumps(found))


class _Watch:
    """Polls the jobs of a running statement in a thread, since fetching may block for long."""

    def __init__(self, engine: HiveEngine, jobs: Jobs, mark: str, statement: Statement, sink: Sink) -> None:
        self._engine = engine
        self._jobs = jobs
        self._mark = mark
        self._name = " ".join(statement.text[statement.lead :].split())[:_NAME_SHOWN]
        self._sink = sink
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="hive-jobs", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        self._engine.keep(self._jobs, self._mark, self._name)

    def _look(self) -> None:
        while not self._is_over.wait(_LOOK_SECONDS):
            self._engine.look(self._jobs, self._mark, self._name, self._sink)


def _passes_log_on(session: Session, operation: Operation) -> bool:
    """Write what is new in the server's log of a statement into the command's; return whether there is such a log."""
    try:
        lines = session.log(operation, _LOG_LINES)
    except ServerError:
        return False
    if lines:
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()
    return True


def _quoted(parts: TableParts) -> str:
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


_STACK: Final = re.compile(r"\n\s*at [\w.$]+\(|\nCaused by: |\nDriver stacktrace:")
_WRAPPER: Final = re.compile(r"^(?:org\.apache\.hive\.service\.cli\.HiveSQLException: )?(?:Error running query: )?")
_CLASS: Final = re.compile(r"^(?:\[[\w.]+\] )?(?:(?:[a-z]\w*\.)+[A-Z][\w$]*: ?\s*)+(?=\S)")
_PLACE: Final = re.compile(r"\s*(?:\(line (\d+), pos (\d+)\)|; line (\d+) pos (\d+);?)")
_SQL: Final = re.compile(r"\n+== SQL.*?==\n", re.DOTALL)
_TASK: Final = re.compile(r"^Job aborted due to stage failure: .*?(?:\): |failure: )(?=[\w.]+\.[A-Z])", re.DOTALL)


def failure_of(text: str, statement: str) -> QueryFailure:
    """Return the failure of a statement, with its position where the server reports one."""
    message = _WRAPPER.sub("", _STACK.split(text.strip(), maxsplit=1)[0])
    message = _TASK.sub("", _CLASS.sub("", message))
    message = _CLASS.sub("", message)
    position = None
    if (place := _PLACE.search(message)) is not None:
        line, column = (int(number) for number in place.groups() if number is not None)
        position = offset_of(statement, line, column)
        message = message[: place.start()]
    message = _SQL.split(message)[0].strip()
    return QueryFailure(message or text.strip()[:500], position=position, shows_column=True)
