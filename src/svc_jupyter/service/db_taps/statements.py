"""Splits a script into its statements, by the lexical rules of its dialect. Pure, and fast on large scripts.

A `;` ends a statement except in quotes, comments, dollar quotes, and bodies of triggers and routines. Comments before a
statement are dropped, as are statements without any other text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from svc_jupyter.service.db_taps.job import Dialect

_KEYWORDS_KEPT = 6
_SPACE = r"(?P<space>[\s\ufeff]+|--[^\n]*)"
_WORD = r"(?P<word>[A-Za-z_\u0080-\U0010ffff][\w$]*)"
_QUOTES = {
    "'": re.compile(r"'(?:[^']|'')*(?:'|\Z)"),
    '"': re.compile(r'"(?:[^"]|"")*(?:"|\Z)'),
    "`": re.compile(r"`(?:[^`]|``)*(?:`|\Z)"),
    "[": re.compile(r"\[[^\]]*(?:\]|\Z)"),
}
_ESCAPED_QUOTES = {
    "'": re.compile(r"'(?:[^'\\]|''|\\.)*(?:'|\\?\Z)", re.DOTALL),
    '"': re.compile(r'"(?:[^"\\]|""|\\.)*(?:"|\\?\Z)', re.DOTALL),
}
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_ROUTINES = frozenset({"FUNCTION", "PROCEDURE", "TRIGGER", "EVENT"})
_NESTED_COMMENTS = frozenset({Dialect.POSTGRESQL, Dialect.HIVE})
_BACKSLASHES = frozenset({Dialect.MYSQL, Dialect.HIVE})
_END_OF_OTHER_BLOCK = frozenset({"IF", "LOOP", "WHILE", "REPEAT", "FOR"})


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its text without the `;`, its offset in the script, and its first words in capitals."""

    text: str
    start: int
    keywords: tuple[str, ...]

    @property
    def keyword(self) -> str:
        """The first word, such as `SELECT`; empty when the statement begins with something else."""
        return self.keywords[0] if self.keywords else ""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    start: int
    end: int
    word: str = ""


def split(script: str, dialect: Dialect) -> list[Statement]:
    """Return the script's statements in order. An unterminated quote or comment ends the last one."""
    if dialect is Dialect.SQLSERVER:  # the server takes a whole batch: a ';' there may belong to an open block
        return _whole(script)
    found: list[Statement] = []
    head: list[_Token] = []
    end = 0
    body = _body_rule(dialect)
    for token in _tokens(script, dialect):
        if token.kind == "semicolon" and not body.is_open(token):
            found += _statement(script, head, end)
            head = []
            body = _body_rule(dialect)
            continue
        body.see(token)
        if len(head) < _KEYWORDS_KEPT:
            head.append(token)
        end = token.end
    return found + _statement(script, head, end)


def words_of(text: str, dialect: Dialect) -> list[str]:
    """Return the words of a statement in capitals, without quotes and comments."""
    return [token.word for token in _tokens(text, dialect) if token.word]


def _whole(script: str) -> list[Statement]:
    tokens = [token for token in _tokens(script, Dialect.SQLSERVER) if token.kind != "semicolon"]
    return _statement(script, tokens[:_KEYWORDS_KEPT], tokens[-1].end) if tokens else []


def _statement(script: str, head: list[_Token], end: int) -> list[Statement]:
    if not head:
        return []
    words = tuple(token.word for token in takewhile(lambda token: token.kind == "word", head))
    return [Statement(script[head[0].start : end], head[0].start, words)]


@cache
def _scanner(dialect: Dialect) -> re.Pattern[str]:
    parts = [_SPACE, r"(?P<comment>/\*)", _WORD, r"(?P<semicolon>;)"]
    if dialect is Dialect.MYSQL:
        parts.insert(0, r"(?P<hash>\#[^\n]*)")
    if dialect is Dialect.POSTGRESQL:
        parts.append(r"(?P<dollar>\$(?:[A-Za-z_\u0080-\U0010ffff]\w*)?\$)")
    quotes = {
        Dialect.POSTGRESQL: r"['\"]",
        Dialect.MYSQL: r"['\"`]",
        Dialect.SQLITE: r"['\"`\[]",
        Dialect.SQLSERVER: r"['\"\[]",
        Dialect.HIVE: r"['\"`]",
        Dialect.PRESTO: r"['\"`]",
        Dialect.OTHER: r"['\"`]",
    }[dialect]
    parts += [rf"(?P<quote>{quotes})", r"(?P<number>\d[\w.]*)", r"(?P<other>.)"]
    return re.compile("|".join(parts), re.DOTALL)


def _tokens(script: str, dialect: Dialect) -> Iterator[_Token]:
    """Yield the tokens that are neither space nor comment."""
    scanner = _scanner(dialect)
    position, previous = 0, _Token("other", 0, 0)
    while position < len(script):
        match = scanner.match(script, position)
        assert match is not None, "every character matches `other`"
        kind, start, position = match.lastgroup or "other", position, match.end()
        if kind in ("space", "hash"):
            continue
        if kind == "comment":
            position = _comment_end(script, position, nested=dialect in _NESTED_COMMENTS)
            continue
        if kind == "quote":
            escapes = dialect in _BACKSLASHES or (
                dialect is Dialect.POSTGRESQL and previous.word == "E" and previous.end == start
            )
            position = _quote_end(script, start, escapes=escapes)
        elif kind == "dollar":
            closing = script.find(match[0], position)
            position = len(script) if closing < 0 else closing + len(match[0])
        previous = _Token(kind, start, position, match[0].upper() if kind == "word" else "")
        yield previous


def _quote_end(script: str, start: int, *, escapes: bool) -> int:
    patterns = {**_QUOTES, **_ESCAPED_QUOTES} if escapes else _QUOTES
    match = patterns[script[start]].match(script, start)
    return len(script) if match is None else match.end()


def _comment_end(script: str, position: int, *, nested: bool) -> int:
    depth = 1
    for edge in _COMMENT_EDGE.finditer(script, position):
        if edge[0] == "*/":
            depth -= 1
        elif nested:
            depth += 1
        if depth == 0:
            return edge.end()
    return len(script)


class _TriggerRule:
    """SQLite: `CREATE TRIGGER` ends at a `;` after an END that itself follows a `;` (as in SQLite's shell)."""

    def __init__(self) -> None:
        self._head: list[str] = []
        self._last = ("", "")

    def see(self, token: _Token) -> None:
        if len(self._head) < _KEYWORDS_KEPT:
            self._head.append(token.word)
        self._last = (self._last[1], ";" if token.kind == "semicolon" else token.word)

    def is_open(self, _token: _Token) -> bool:
        return self._is_trigger() and self._last != (";", "END")

    def _is_trigger(self) -> bool:
        words = [word for word in self._head if word not in ("EXPLAIN", "QUERY", "PLAN", "TEMP", "TEMPORARY")]
        return words[:2] == ["CREATE", "TRIGGER"]


class _RoutineRule:
    """Elsewhere: the body of a routine lasts from its BEGIN (PostgreSQL: BEGIN ATOMIC) to the matching END."""

    def __init__(self, *, atomic_only: bool) -> None:
        self._atomic_only = atomic_only
        self._first = ""
        self._is_routine = False
        self._depth = 0
        self._previous = ""

    def see(self, token: _Token) -> None:
        word = token.word
        self._first = self._first or word or "-"
        self._is_routine |= self._first == "CREATE" and word in _ROUTINES
        if self._is_routine:
            self._count(word)
        self._previous = word

    def _count(self, word: str) -> None:
        if self._previous == "END" and self._depth:
            if word not in _END_OF_OTHER_BLOCK:
                self._depth -= 1
            if word == "CASE":
                return
        opens = self._previous == "BEGIN" and word == "ATOMIC" if self._atomic_only else word == "BEGIN"
        if opens or (word == "CASE" and self._depth):
            self._depth += 1

    def is_open(self, token: _Token) -> bool:
        if self._is_routine:
            self._count(token.word)
            self._previous = ""
        return self._depth > 0


def _body_rule(dialect: Dialect) -> _TriggerRule | _RoutineRule:
    if dialect is Dialect.SQLITE:
        return _TriggerRule()
    return _RoutineRule(atomic_only=dialect is Dialect.POSTGRESQL)
