"""Hive's SQL through HiveServer2. All statements of a script share one session: `USE`, `SET` and temporary views last
until its end. There are no transactions: a completed statement stays done when a later one fails.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from svc_jupyter.files import write_whole
from svc_jupyter.service.db_taps.engines.engine import Sink, TableName, cannot_connect
from svc_jupyter.service.db_taps.failures import QueryFailure, offset_of
from svc_jupyter.service.db_taps.job import JOBS_FILE, Connection
from svc_jupyter.service.db_taps.statements import Statement
from svc_jupyter.service.kinds.hive.columns import (
    arrow_type,
    document_parser,
    is_nested,
    parsed_type,
    record_batch,
    with_json,
)
from svc_jupyter.service.runtimes.hive_server.client import (
    ColumnType,
    Operation,
    OperationState,
    ServerError,
    ServerLost,
    Session,
)
from svc_jupyter.service.runtimes.hive_server.jobs import Jobs, marked, overall

QUERIES: Final = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "MAP", "REDUCE"})
_WRITING: Final = frozenset({"INSERT", "CREATE", "MERGE", "UPDATE", "DELETE", "LOAD", "ANALYZE", "REPLACE", "CACHE"})
_BATCH_ROWS: Final = 20_000
_CANCEL_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.5
_NAME_SHOWN: Final = 200
_NOTHING: Final = [ColumnType("Result", 7)]
"""The columns that Hive returns for a statement without a table."""


class HiveEngine:
    """HiveServer2 of a cluster. `connection.target` is a JSON object: host, port, user, mark, jobs (URL), pool."""

    def __init__(self, connection: Connection, folder: Path | None = None) -> None:
        self._address = connection.address
        self._target: dict[str, Any] = json.loads(connection.target)
        self._folder = folder
        self._jobs = Jobs(self._target["jobs"])
        self._earlier: list[dict[str, Any]] = []
        self._running: Operation | None = None

    def run(self, statements: Sequence[Statement], sink: Sink) -> None:
        """See `Engine.run`; each statement takes effect as soon as it has run."""
        try:
            session = self._session()
        except (ServerLost, ServerError) as error:
            raise cannot_connect(self._address, str(error)) from None
        with session:
            if self._target.get("pool"):
                self._quietly(session, f"SET spark.sql.thriftserver.scheduler.pool={self._target['pool']}")
            for number, statement in enumerate(statements, start=1):
                sink.start(statement)
                try:
                    self._run_one(session, statement, f"{self._target['mark']}-{number}", sink)
                except ServerError as error:
                    raise failure_of(str(error), statement.text) from None
                except ServerLost as error:
                    raise QueryFailure(f"the connection to HiveServer2 at {self._address} is lost: {error}") from None

    def tables(self) -> list[TableName]:
        """See `Engine.tables`; the metastore's catalogue has more."""
        raise NotImplementedError

    def cancel(self) -> None:
        """See `Engine.cancel`. Closing the connection also cancels, but only once the server notices."""
        operation = self._running
        if operation is None:
            return
        with suppress(ServerLost, ServerError):
            session = Session(
                self._target["host"], self._target["port"], self._target["user"], seconds=_CANCEL_SECONDS, opens=False
            )
            with session:
                session.cancel(operation)
                session.finish(operation)

    def _session(self) -> Session:
        return Session(self._target["host"], self._target["port"], self._target["user"])

    def _run_one(self, session: Session, statement: Statement, mark: str, sink: Sink) -> None:
        is_query = statement.keyword in QUERIES or not statement.keyword
        described = self._described(session, statement) if is_query else None
        text = statement.text
        if described is not None and any(is_nested(kind) for _, kind in described):
            text = with_json(text, [kind for _, kind in described])
        else:
            described = None
        if is_query or statement.keyword in _WRITING:
            text = marked(text, mark)
        with _Watch(self, mark, statement, sink):
            operation = self._running = session.execute(text)
            self._wait(session, operation, statement)
            columns = session.columns(operation)
            if columns != _NOTHING or is_query:
                self._fetch(session, operation, columns, described, sink)
            session.finish(operation)
            self._running = None
        sink.done(None)

    def _described(self, session: Session, statement: Statement) -> list[tuple[str, str]] | None:
        """Return the columns of a query from its description; None if it is not a query (then it runs unchanged)."""
        try:
            operation = session.execute(f"DESCRIBE QUERY {statement.text}")
            state = OperationState.RUNNING
            while not state.is_over:
                state, _ = session.state(operation)
            if state is not OperationState.FINISHED:
                return None
            rows = session.fetch(operation, _BATCH_ROWS)
            session.finish(operation)
        except ServerError:
            return None
        names, kinds = rows[0][0], rows[1][0]
        return [(name.decode(), kind.decode()) for name, kind in zip(names, kinds, strict=True)]

    def _wait(self, session: Session, operation: Operation, statement: Statement) -> None:
        state, why = session.state(operation)
        while not state.is_over:
            state, why = session.state(operation)
        if state is not OperationState.FINISHED:
            raise failure_of(why or f"the statement ended as {state.name.lower()}", statement.text)

    def _fetch(
        self,
        session: Session,
        operation: Operation,
        columns: Sequence[ColumnType],
        described: Sequence[tuple[str, str]] | None,
        sink: Sink,
    ) -> None:
        names = [column.name for column in columns]
        kinds = [arrow_type(column) for column in columns]
        parsers = {}
        if described is not None:
            names = [name for name, _ in described]
            for number, (_, kind) in enumerate(described):
                if is_nested(kind):
                    kinds[number] = parsed_type(kind)
                    parsers[number] = document_parser(kinds[number])
        sink.table()
        schema = pa.schema(list(zip(names, kinds, strict=True)))
        sink.write(pa.RecordBatch.from_arrays([pa.array([], kind) for kind in kinds], schema=schema))
        while cells := session.fetch(operation, _BATCH_ROWS):
            if not len(cells[0][0]):
                break
            sink.write(record_batch(names, kinds, cells, parsers))

    @staticmethod
    def _quietly(session: Session, statement: str) -> None:
        operation = session.execute(statement)
        while not session.state(operation)[0].is_over:
            pass
        session.finish(operation)

    def look(self, mark: str, name: str, sink: Sink) -> None:
        """Report the progress of the statement with a mark, and record its jobs."""
        found = self._jobs.of(mark, name)
        sink.working(overall(found))
        self._write_jobs(found)

    def keep(self, mark: str, name: str) -> None:
        """Record how the jobs of a statement ended."""
        self._earlier += self._jobs.of(mark, name)
        self._write_jobs([])

    def _write_jobs(self, running: Sequence[dict[str, Any]]) -> None:
        found = [*self._earlier, *running]
        if self._folder is not None and found:
            write_whole(self._folder / JOBS_FILE, json.dumps(found))


class _Watch:
    """Polls the jobs of a running statement in a thread, since fetching may block for long."""

    def __init__(self, engine: HiveEngine, mark: str, statement: Statement, sink: Sink) -> None:
        self._engine = engine
        self._mark = mark
        self._name = " ".join(statement.text.split())[:_NAME_SHOWN]
        self._sink = sink
        self._is_over = threading.Event()
        self._has_looked = False
        self._thread = threading.Thread(target=self._look, name="hive-jobs", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        if self._has_looked:
            self._engine.keep(self._mark, self._name)

    def _look(self) -> None:
        while not self._is_over.wait(_LOOK_SECONDS):
            self._has_looked = True
            self._engine.look(self._mark, self._name, self._sink)


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
