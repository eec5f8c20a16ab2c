"""Rules for both SQLite engines: statements that access other files, and errors with their position."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing

from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.job import Dialect
from svc_jupyter.service.db_taps.statements import Statement, words_of

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
