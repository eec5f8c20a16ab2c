"""SQLite through Python's own module: for what ADBC's driver would lose or cannot do.

A SQLite column may hold values of several types, but ADBC's driver takes the type from the first rows: it fails on a
later row of another type and shortens a number among texts. Here each value arrives unchanged. A column of whole
numbers and floats becomes float64, one of numbers and texts text, one with any blob binary.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from svc_jupyter.service.db_taps.engines.engine import Sink, TableName, controls_transactions
from svc_jupyter.service.db_taps.engines.sqlite_rules import failure_of, refuse_other_files, split_pragmas
from svc_jupyter.service.db_taps.statements import Statement
from svc_jupyter.service.db_taps.values import record_batch

_BATCH_ROWS = 8_192
_TABLES = (
    "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
    "ORDER BY name"
)


def run_exactly(uri: str, statements: Sequence[Statement], sink: Sink, *, busy_seconds: float) -> None:
    """Run a script as `Engine.run` does."""
    with closing(_connect(uri, busy_seconds)) as connection:
        pragmas, rest = split_pragmas(statements)
        in_transaction = not controls_transactions(statements) and not any(s.keyword == "VACUUM" for s in rest)
        for statement in pragmas:
            _run_one(connection, statement, sink)
        if in_transaction:
            connection.execute("BEGIN")
        for statement in rest:
            _run_one(connection, statement, sink)
        if in_transaction:
            try:
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise failure_of(str(error), "") from None


def list_tables(uri: str, *, busy_seconds: float) -> list[TableName]:
    """Return the tables and views of the file."""
    with closing(_connect(uri, busy_seconds)) as connection:
        try:
            return [TableName(name, None, kind) for name, kind in connection.execute(_TABLES)]
        except sqlite3.Error as error:
            raise failure_of(str(error), "") from None


def _connect(uri: str, busy_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=busy_seconds, check_same_thread=False)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _run_one(connection: sqlite3.Connection, statement: Statement, sink: Sink) -> None:
    sink.start(statement)
    refuse_other_files(statement)
    before = connection.total_changes
    try:
        with closing(connection.execute(statement.text)) as cursor:
            if cursor.description is None:
                sink.done(connection.total_changes - before)
                return
            names = [column[0] for column in cursor.description]
            sink.table()
            sink.write(record_batch(names, []))
            while rows := cursor.fetchmany(_BATCH_ROWS):
                sink.write(record_batch(names, rows))
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise failure_of(str(error), statement.text) from None
    sink.done(connection.total_changes - before)


def file_uri(path: Path) -> str:
    """Return the URI of an existing database file, with which SQLite does not create a missing one."""
    return f"{path.as_uri()}?mode=rw"
