"""The dialects of SQL, and the tokens of unfinished text for completion. Pure, and needs only the standard library.

Front ends import it, so it does without sqlglot; `service/db_taps/lexing.py` reads what goes to a database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class Dialect(StrEnum):
    """The lexical rules of a database; MariaDB has MySQL's, Trino has Presto's, Databricks has Spark's."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    REDSHIFT = "redshift"
    MYSQL = "mysql"
    SQLSERVER = "sqlserver"
    DUCKDB = "duckdb"
    SPARK = "spark"
    HIVE = "hive"
    PRESTO = "presto"
    BIGQUERY = "bigquery"
    CLICKHOUSE = "clickhouse"
    ORACLE = "oracle"
    SNOWFLAKE = "snowflake"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Token:
    """A part of a text, from `start` to `end`.

    `kind` is word, quote (a string or a quoted name), dollar (a string), number, semicolon, other, or comment. `word`
    is a word in capitals, else empty. `is_open` is true for a quote or a comment that lacks its end.
    """

    kind: str
    start: int
    end: int
    word: str = ""
    is_open: bool = False


_SPACE = r"(?P<space>[\s\ufeff]+)"
_WORD = r"(?P<word>[A-Za-z_\u0080-\U0010ffff][\w$]*)"
_QUOTES = {
    "'": re.compile(r"'(?:[^']|'')*(?:(?P<close>')|\Z)"),
    '"': re.compile(r'"(?:[^"]|"")*(?:(?P<close>")|\Z)'),
    "`": re.compile(r"`(?:[^`]|``)*(?:(?P<close>`)|\Z)"),
    "[": re.compile(r"\[[^\]]*(?:(?P<close>\])|\Z)"),
}
_ESCAPED_QUOTES = {
    "'": re.compile(r"'(?:[^'\\]|''|\\.)*(?:(?P<close>')|\\?\Z)", re.DOTALL),
    '"': re.compile(r'"(?:[^"\\]|""|\\.)*(?:(?P<close>")|\\?\Z)', re.DOTALL),
}
_OWN_QUOTES = {Dialect.SQLITE: r"['\"`\[]", Dialect.SQLSERVER: r"['\"\[]"}
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_LIKE_POSTGRESQL = frozenset({Dialect.POSTGRESQL, Dialect.REDSHIFT, Dialect.DUCKDB})
_LIKE_SPARK = frozenset({Dialect.SPARK, Dialect.HIVE})
_NESTED_COMMENTS = _LIKE_POSTGRESQL | _LIKE_SPARK
BACKSLASHES = _LIKE_SPARK | {Dialect.MYSQL, Dialect.BIGQUERY}
"""Dialects whose strings have escapes with a backslash, and in which `"` is a string's quote."""


def tokens_of(text: str, dialect: Dialect, *, comments: bool = False) -> Iterator[Token]:
    """Yield the tokens of a text, comments only where they are asked for."""
    scanner = _scanner(dialect)
    position, previous = 0, Token("other", 0, 0)
    while position < len(text):
        match = scanner.match(text, position)
        assert match is not None, "every character matches `other`"
        kind, start, position = match.lastgroup or "other", position, match.end()
        if kind == "space":
            continue
        if kind in ("line", "comment"):
            is_open = kind == "line" and position == len(text)
            if kind == "comment":
                position, is_open = comment_end(text, position, nested=dialect in _NESTED_COMMENTS)
            if comments:
                yield Token("comment", start, position, is_open=is_open)
            continue
        is_open = False
        if kind == "quote":
            prefix = previous.word if previous.end == start else ""
            escapes = (dialect in BACKSLASHES and not (dialect in _LIKE_SPARK and prefix == "R")) or (
                dialect in _LIKE_POSTGRESQL and prefix == "E"
            )
            position, is_open = _quote_end(text, start, escapes=escapes)
        elif kind == "dollar":
            closing = text.find(match[0], position)
            is_open = closing < 0
            position = len(text) if is_open else closing + len(match[0])
        previous = Token(kind, start, position, match[0].upper() if kind == "word" else "", is_open)
        yield previous


@cache
def _scanner(dialect: Dialect) -> re.Pattern[str]:
    # MySQL takes `--` directly before other text for two minus signs.
    line = r"--(?=[\s\x00-\x1f\x7f]|\Z)[^\n]*|\#[^\n]*" if dialect is Dialect.MYSQL else r"--[^\n]*"
    parts = [_SPACE, rf"(?P<line>{line})", r"(?P<comment>/\*)", _WORD, r"(?P<semicolon>;)"]
    if dialect in _LIKE_POSTGRESQL:
        parts.append(r"(?P<dollar>\$(?:[A-Za-z_\u0080-\U0010ffff]\w*)?\$)")
    quotes = r"['\"]" if dialect in _LIKE_POSTGRESQL else _OWN_QUOTES.get(dialect, r"['\"`]")
    parts += [rf"(?P<quote>{quotes})", r"(?P<number>\d[\d.]*[eE][+-]?\d\w*|\d[\w.]*)", r"(?P<other>.)"]
    return re.compile("|".join(parts), re.DOTALL)


def _quote_end(text: str, start: int, *, escapes: bool) -> tuple[int, bool]:
    """Return where a quote ends, and whether it is open."""
    patterns = {**_QUOTES, **_ESCAPED_QUOTES} if escapes else _QUOTES
    match = patterns[text[start]].match(text, start)
    return (len(text), True) if match is None else (match.end(), match["close"] is None)


def comment_end(text: str, position: int, *, nested: bool) -> tuple[int, bool]:
    """Return where a comment with `/*` ends, of which `position` is the text, and whether it is open."""
    depth = 1
    for edge in _COMMENT_EDGE.finditer(text, position):
        if edge[0] == "*/":
            depth -= 1
        elif nested:
            depth += 1
        if depth == 0:
            return edge.end(), False
    return len(text), True
