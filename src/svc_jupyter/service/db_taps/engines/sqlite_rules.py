"""Rules for both SQLite engines: statements that access other files, and errors with their position."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from svc_jupyter.service.db_taps.bindings import sqlite_value, with_marks
from svc_jupyter.service.db_taps.catalogue_file import CatalogueTable
from svc_jupyter.service.db_taps.engines.engine import Sink, TableName, controls_transactions
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.statements import Statement, TableParts, words_of
from svc_jupyter.service.db_taps.suggestions import occurrences
from svc_jupyter.service.db_taps.values import record_batch
from svc_jupyter.sql_tokens import Dialect

_NAMED = (
    re.compile(r'^near "(?P<token>.+)": syntax error', re.DOTALL),
    re.compile(r"^no such (?:column|table|function|index|view|trigger|module): (?P<token>.+)"),
    re.compile(r"^ambiguous column name: (?P<token>.+)"),
    re.compile(r"has no column named (?P<token>.+)$"),
    re.compile(r"^(?:wrong number of arguments to function|misuse of (?:aggregate|window function)):? (?P<token>\w+)"),
    re.compile(r'^unrecognized token: "(?P<token>.+)"', re.DOTALL),
    re.compile(r"^(?:table|view|index) (?P<token>\S+) already exists"),
)
_OCCURRENCES_TRIED = 50
_COUNTING_SECONDS = 2.0
"""For the counts of all tables together: SQLite reads a table to count it, some 50 million rows a second."""
_STEPS_BETWEEN_LOOKS = 10_000
_STARTS = frozenset(
    {
        *("SELECT", "VALUES", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "PRAGMA"),
        *("EXPLAIN", "ANALYZE", "REINDEX", "VACUUM", "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"),
    }
)


def refuse_other_files(statement: Statement) -> None:
    """Raise `QueryFailure` for a statement that would read or write another file than the tap's.

    Every statement of SQLite begins with a word of a known list; ATTACH, DETACH and VACUUM INTO name other files.
    """
    if statement.keyword in ("ATTACH", "DETACH"):
        raise QueryFailure(
            f"{statement.keyword} is not available in a tap's query: a tap is one file; make a tap of the other file",
            position=statement.lead,
            may_retry=False,
        )
    if statement.keyword == "VACUUM" and "INTO" in words_of(statement.text, Dialect.SQLITE):
        raise QueryFailure("VACUUM INTO is not available in a tap's query: a tap is one file", may_retry=False)
    if statement.keyword not in _STARTS:
        message = _message_of(statement.text) or "not a statement that SQLite knows"
        raise failure_of(message, statement.text)


def split_pragmas(statements: Sequence[Statement]) -> tuple[Sequence[Statement], Sequence[Statement]]:
    """Return a script's leading PRAGMAs, and the rest: some PRAGMAs work only before a transaction."""
    count = next((n for n, statement in enumerate(statements) if statement.keyword != "PRAGMA"), len(statements))
    return statements[:count], statements[count:]


def failure_of(message: str, text: str) -> QueryFailure:
    """Return SQLite's error with the position of the token that it names."""
    return QueryFailure(message, position=_position(message, text))


def _position(message: str, text: str) -> int | None:
    token = next((found["token"] for pattern in _NAMED if (found := pattern.search(message))), None)
    if token is None:
        return None
    places = occurrences(token, text) or occurrences(token.rpartition(".")[2], text)
    if not places:
        return None
    if len(places) == 1 or not message.startswith("near "):
        return places[0]
    for place in places[:_OCCURRENCES_TRIED]:  # a parser stops at the first token that cannot follow the text before it
        if _message_of(text[: place + len(token)]) == message:
            return place
    return None


def _message_of(text: str) -> str | None:
    """Return the parser's error message for a text, or None if it is valid."""
    with closing(sqlite3.connect(":memory:")) as scratch:
        scratch.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
        try:
            scratch.execute(f"EXPLAIN {text}")
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            return str(error)
    return None


_BATCH_ROWS = 8_192
_TABLES = (
    "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
    "ORDER BY name"
)


def run_exactly(uri: str, statements: Sequence[Statement], sink: Sink, *, busy_seconds: float) -> None:
    """Run a script as `Engine.run` does, through Python's own module: for what ADBC's driver would lose or cannot do.

    A SQLite column may hold values of several types, but ADBC's driver takes the type from the first rows: it fails on
    a later row of another type and shortens a number among texts. Here each value arrives unchanged. A column of whole
    numbers and floats becomes float64, one of numbers and texts text, one with any blob binary.
    """
    with closing(_connect(uri, busy_seconds)) as connection:
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")  # `array_of` tells of them
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


def known_names(uri: str, tables: Sequence[TableParts]) -> list[str]:
    """Return the columns of tables, or the names of all tables and views."""
    with closing(_connect(uri, 0)) as connection:
        if not tables:
            return [name for name, _ in connection.execute(_TABLES)]
        columns = "SELECT name FROM pragma_table_xinfo(?)"
        return [name for parts in tables for (name,) in connection.execute(columns, parts[-1:])]


def catalogue_of(uri: str, *, busy_seconds: float) -> list[CatalogueTable]:
    """Return the tables and views of the file with their columns, and the counts that two seconds suffice for."""
    found = []
    with closing(_connect(uri, busy_seconds)) as connection:
        try:
            names = connection.execute(_TABLES).fetchall()
        except sqlite3.Error as error:
            raise failure_of(str(error), "") from None
        until = time.monotonic() + _COUNTING_SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS_BETWEEN_LOOKS)
        for name, kind in names:
            count = _count(connection, name) if kind == "table" and time.monotonic() < until else None
            found.append((name, kind, count))
        connection.set_progress_handler(None, 0)
        return [CatalogueTable(None, name, kind, count, _columns(connection, name)) for name, kind, count in found]


def _count(connection: sqlite3.Connection, table: str) -> int | None:
    quoted = table.replace('"', '""')
    try:
        return int(connection.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()[0])  # noqa: S608  quoted
    except sqlite3.Error:
        return None


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    """Return the columns; none of a view that refers to a missing table."""
    try:
        return connection.execute("SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden <> 1", (table,)).fetchall()
    except sqlite3.Error:
        return []


def _connect(uri: str, busy_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=busy_seconds, check_same_thread=False)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _run_one(connection: sqlite3.Connection, written: Statement, sink: Sink) -> None:
    statement, values = with_marks(written, "?")
    sink.start(statement)
    refuse_other_files(statement)
    before = connection.total_changes
    try:
        with closing(connection.execute(statement.text, [sqlite_value(value) for value in values])) as cursor:
            if cursor.description is None:
                sink.done(connection.total_changes - before)
                return
            names = [column[0] for column in cursor.description]
            sink.table()
            sink.write(record_batch(names, [], sink.became_text))
            while not sink.is_full and (rows := cursor.fetchmany(_BATCH_ROWS)):
                sink.write(record_batch(names, rows, sink.became_text))
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise failure_of(str(error), statement.text) from None
    sink.done(connection.total_changes - before)


def file_uri(path: Path) -> str:
    """Return the URI of an existing database file, with which SQLite does not create a missing one."""
    return f"{path.as_uri()}?mode=rw"
