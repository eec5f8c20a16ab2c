"""Splits a script into its statements, by the lexical rules of its dialect. Pure, and fast on large scripts.

A `;` ends a statement except in quotes, comments, dollar quotes, and bodies of triggers and routines. Comments before a
statement are dropped, as are statements without any other text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from svc_jupyter.sql_tokens import Dialect, Token, tokens_of

_KEYWORDS_KEPT = 6
_ROUTINES = frozenset({"FUNCTION", "PROCEDURE", "TRIGGER", "EVENT"})
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


def split(script: str, dialect: Dialect) -> list[Statement]:
    """Return the script's statements in order. An unterminated quote or comment ends the last one."""
    if dialect is Dialect.SQLSERVER:  # the server takes a whole batch: a ';' there may belong to an open block
        return _whole(script)
    found: list[Statement] = []
    head: list[Token] = []
    end = 0
    body = _body_rule(dialect)
    for token in tokens_of(script, dialect):
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
    return [token.word for token in tokens_of(text, dialect) if token.word]


TableParts = tuple[str, ...]
"""A table's name in parts, without quotes: `("main", "flights")`."""
_BEFORE_TABLES = frozenset({"FROM", "JOIN", "INTO", "UPDATE", "TABLE"})


def tables_of(text: str, dialect: Dialect) -> list[TableParts]:
    """Return the tables that a statement names, without those that it names only in ways that are rare."""
    tokens = list(tokens_of(text, dialect))
    found: dict[TableParts, None] = {}
    at = 0
    while at < len(tokens):
        at += 1
        if tokens[at - 1].word not in _BEFORE_TABLES:
            continue
        while True:
            parts, at = _dotted(text, tokens, at)
            if parts:
                found[parts] = None
            comma = next((n for n in range(at, min(at + 3, len(tokens))) if _is(text, tokens[n], ",")), None)
            if not parts or comma is None:
                break
            at = comma + 1
    return list(found)


def _dotted(text: str, tokens: Sequence[Token], at: int) -> tuple[TableParts, int]:
    """Return the name that begins with a token, and the number of the token after it."""
    parts: list[str] = []
    while at < len(tokens) and tokens[at].kind in ("word", "quote"):
        part = text[tokens[at].start : tokens[at].end]
        parts.append(part[1:-1] if tokens[at].kind == "quote" else part)
        at += 1
        if at >= len(tokens) or not _is(text, tokens[at], "."):
            break
        at += 1
    return tuple(parts), at


def _is(text: str, token: Token, character: str) -> bool:
    return text[token.start : token.end] == character


def _whole(script: str) -> list[Statement]:
    tokens = [token for token in tokens_of(script, Dialect.SQLSERVER) if token.kind != "semicolon"]
    return _statement(script, tokens[:_KEYWORDS_KEPT], tokens[-1].end) if tokens else []


def _statement(script: str, head: list[Token], end: int) -> list[Statement]:
    if not head:
        return []
    words = tuple(token.word for token in takewhile(lambda token: token.kind == "word", head))
    return [Statement(script[head[0].start : end], head[0].start, words)]


class _TriggerRule:
    """SQLite: `CREATE TRIGGER` ends at a `;` after an END that itself follows a `;` (as in SQLite's shell)."""

    def __init__(self) -> None:
        self._head: list[str] = []
        self._last = ("", "")

    def see(self, token: Token) -> None:
        if len(self._head) < _KEYWORDS_KEPT:
            self._head.append(token.word)
        self._last = (self._last[1], ";" if token.kind == "semicolon" else token.word)

    def is_open(self, _token: Token) -> bool:
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

    def see(self, token: Token) -> None:
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

    def is_open(self, token: Token) -> bool:
        if self._is_routine:
            self._count(token.word)
            self._previous = ""
        return self._depth > 0


def _body_rule(dialect: Dialect) -> _TriggerRule | _RoutineRule:
    if dialect is Dialect.SQLITE:
        return _TriggerRule()
    return _RoutineRule(atomic_only=dialect is Dialect.POSTGRESQL)
