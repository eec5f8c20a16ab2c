"""Rules for both SQLite engines: statements that access other files, and errors with their position."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from svc_jupyter.service.db_taps.engines.engine import Sink, TableName, controls_transactions
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.job import Dialect
from svc_jupyter.service.db_taps.statements import Statement, words_of
from svc_jupyter.service.db_taps.values import record_batch

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
            position=0,
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
    places = _occurrences(token, text) or _occurrences(token.rpartition(".")[2], text)
    if not places:
        return None
    if len(places) == 1 or not message.startswith("near "):
        return places[0]
    for place in places:  # a parser stops at the first token that cannot follow the text before it
        if _message_of(text[: place + len(token)]) == message:
            return place
    return None


def _occurrences(token: str, text: str) -> list[int]:
    """Return the positions of a token in a statement as a whole word, outside string literals and comments."""
    if not token:
        return []
    edge = r"(?<![\w$])" if token[0].isalnum() or token[0] == "_" else ""
    end = r"(?![\w$])" if token[-1].isalnum() or token[-1] == "_" else ""
    hidden = r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/" if not token.startswith("'") else r"--[^\n]*|/\*.*?\*/"
    wanted = re.compile(f"{hidden}|(?P<found>{edge}{re.escape(token)}{end})", re.DOTALL | re.IGNORECASE)
    places = [match.start() for match in wanted.finditer(text) if match["found"] is not None]
    return places[:_OCCURRENCES_TRIED]


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
