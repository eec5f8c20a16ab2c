"""Cuts a script into its statements, by the lexical rules of its database. Each one goes there as it is written.

A `;` ends a statement except in quotes, comments, dollar quotes, and bodies of triggers and routines. Comments are part
of the statement, since they may hold hints, or what MySQL runs; a part without any other text is no statement.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter

from svc_jupyter.api.bindings import Value
from svc_jupyter.service.db_taps.lexing import Token, tokens_of
from svc_jupyter.service.ground.errors import Failure
from svc_jupyter.sql_tokens import Dialect

_KEYWORDS_KEPT = 6
_ROUTINES = frozenset({"FUNCTION", "PROCEDURE", "TRIGGER", "EVENT", "PACKAGE"})
_END_OF_OTHER_BLOCK = frozenset({"IF", "LOOP", "WHILE", "REPEAT", "FOR"})
_TRANSACTION = frozenset({"TRANSACTION", "TRAN", "WORK", "NAME"})
"""Words after a BEGIN that begins no block."""
_OTHER_BLOCKS = frozenset({Dialect.BIGQUERY, Dialect.CLICKHOUSE, Dialect.ORACLE, Dialect.SNOWFLAKE})
"""Dialects whose blocks are not told apart here."""
_PLAIN_QUOTE = re.compile(r"""'[^'\\]*'|"[^"\\]*\"""")
_NO_TOKEN = Token("", 0)
_TRAILING = re.compile(r"[;\s]+\Z")


@dataclass(frozen=True, slots=True)
class Bound:
    """A name in a statement's text, from `start` to `end`, and its values: more than one stand for a list.

    `is_in_list` is true where a comma or a parenthesis is on both sides of the name.
    """

    start: int
    end: int
    values: tuple[Value, ...]
    is_list: bool = False
    is_in_list: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its text without the `;`, its offset in the script, and its first words in capitals.

    `lead` is the length of the comments before its first word. Where a value or its mark has replaced a name of
    `bound`, `moves` has the offsets in the text at which that begins and ends, each with the author's. The first
    `asking` characters are not the author's; `start` is where they would begin.
    """

    text: str
    start: int
    keywords: tuple[str, ...]
    lead: int = 0
    bound: tuple[Bound, ...] = ()
    moves: tuple[tuple[int, int], ...] = ()
    asking: int = 0

    @property
    def keyword(self) -> str:
        """The first word, such as `SELECT`; empty when the statement begins with something else."""
        return self.keywords[0] if self.keywords else ""

    @property
    def first(self) -> int:
        """The offset of the first word in the script."""
        return self.start + self.lead

    def origin(self, position: int) -> int:
        """Return the offset in the script of a place in the text."""
        place = bisect_right(self.moves, position, key=itemgetter(0))
        sent, written = self.moves[place - 1] if place else (0, 0)
        following = self.moves[place][1] if place < len(self.moves) else sys.maxsize
        return self.start + max(self.asking, min(written + max(0, position - sent), following))


class NotSeparable(Failure):
    """A script cannot be cut into its statements with certainty."""

    may_retry = False


def split(script: str, dialect: Dialect) -> list[Statement]:
    """Return the script's statements in order.

    Where it is uncertain how a statement goes on, as after an open quote, the whole script is one statement, for the
    database to judge. Raises `NotSeparable` where others are before it.
    """
    if dialect is Dialect.OTHER:
        return _only_one(script)
    tokens = tokens_of(script, dialect)
    if dialect is Dialect.SQLSERVER:  # the server takes a whole batch: a ';' there may belong to an open block
        batch = [token for token in tokens.found if not token.is_end]
        return _statement(script, 0, len(script), batch or ([] if tokens.is_whole else [_NO_TOKEN]))
    found: list[Statement] = []
    head: list[Token] = []
    start = 0
    is_certain = tokens.is_whole
    body = _body_rule(dialect)
    for token in tokens.found:
        if token.is_end and not body.is_open(token):
            if dialect in _OTHER_BLOCKS and _begins_block(head):
                is_certain = False
                break
            found += _statement(script, start, token.start, head)
            head, start = [], token.end
            body = _body_rule(dialect)
            continue
        body.see(token)
        if len(head) < _KEYWORDS_KEPT:
            head.append(token)
    if is_certain:
        return found + _statement(script, start, len(script), head)
    if found:
        line = script.count("\n", 0, head[0].start if head else start) + 1
        raise NotSeparable(
            f"it is uncertain where the statement at line {line} ends, as a quote or a comment may be open or a block "
            "begins there; nothing was run: run the statements as separate queries"
        )
    return _statement(script, 0, len(script), head or [_NO_TOKEN])


def words_of(text: str, dialect: Dialect) -> list[str]:
    """Return the words of a statement in capitals, without quotes and comments."""
    return [token.word for token in tokens_of(text, dialect).found if token.word]


TableParts = tuple[str, ...]
"""A table's name in parts, without quotes: `("main", "flights")`."""
_QUOTES = "\"`['"
_BEFORE_TABLES = frozenset({"FROM", "JOIN", "INTO", "UPDATE", "TABLE"})


def tables_of(text: str, dialect: Dialect) -> list[TableParts]:
    """Return the tables that a statement names, without those that it names only in ways that are rare."""
    tokens = tokens_of(text, dialect).found
    found: dict[TableParts, None] = {}
    at = 0
    while at < len(tokens):
        at += 1
        if tokens[at - 1].word not in _BEFORE_TABLES:
            continue
        while True:
            parts, at = _dotted(tokens, at)
            if parts:
                found[parts] = None
            comma = next((n for n in range(at, min(at + 3, len(tokens))) if tokens[n].text == ","), None)
            if not parts or comma is None:
                break
            at = comma + 1
    return list(found)


def _dotted(tokens: Sequence[Token], at: int) -> tuple[TableParts, int]:
    """Return the name that begins with a token, and the number of the token after it."""
    parts: list[str] = []
    while at < len(tokens) and (tokens[at].word or tokens[at].text[0] in _QUOTES):
        part = tokens[at].text
        parts.append(part if tokens[at].word else part[1:-1])
        at += 1
        if at >= len(tokens) or tokens[at].text != ".":
            break
        at += 1
    return tuple(parts), at


def _only_one(script: str) -> list[Statement]:
    """Return the only statement of a script for a database whose rules are not known."""
    tokens = tokens_of(script, Dialect.OTHER)
    head = [token for token in tokens.found if not token.is_end]
    if tokens.is_whole and not head:
        return []
    text = _TRAILING.sub("", script)
    if ";" in _PLAIN_QUOTE.sub("", text):
        raise NotSeparable(
            "how this database separates statements is not known here; nothing was run: run each statement as a query "
            "of its own"
        )
    return _statement(text, 0, len(text), head or [_NO_TOKEN])


def _statement(script: str, start: int, end: int, head: Sequence[Token]) -> list[Statement]:
    if not head:
        return []
    part = script[start:end]
    # A byte order mark belongs to the file.
    text = part.lstrip().removeprefix("\ufeff").lstrip() if start == 0 else part.lstrip()
    start += len(part) - len(text)
    words = [token for token in head if not token.text.startswith("/*")]
    named = takewhile(bool, (token.word for token in words[:_KEYWORDS_KEPT]))
    return [Statement(text.rstrip(), start, tuple(named), max(0, head[0].start - start))]


def _begins_block(head: Sequence[Token]) -> bool:
    """Return whether a statement begins as a block or a routine does, in which a `;` may end a part of it."""
    first, *others = [token.word for token in head] or [""]
    if first == "BEGIN":
        return bool(others) and others[0] not in _TRANSACTION
    if first == "CREATE":
        return not _ROUTINES.isdisjoint(others)
    return first in ("DECLARE", "CASE") or first in _END_OF_OTHER_BLOCK


class _TriggerRule:
    """SQLite: `CREATE TRIGGER` ends at a `;` after an END that itself follows a `;` (as in SQLite's shell)."""

    def __init__(self) -> None:
        self._head: list[str] = []
        self._last = ("", "")

    def see(self, token: Token) -> None:
        if len(self._head) < _KEYWORDS_KEPT:
            self._head.append(token.word)
        self._last = (self._last[1], ";" if token.is_end else token.word)

    def is_open(self, _token: Token) -> bool:
        return self._is_trigger() and self._last != (";", "END")

    def _is_trigger(self) -> bool:
        words = [word for word in self._head if word not in ("EXPLAIN", "QUERY", "PLAN", "TEMP", "TEMPORARY")]
        return words[:2] == ["CREATE", "TRIGGER"]


class _BlockRule:
    """Elsewhere: a block, alone or as the body of a routine, lasts from its BEGIN to the matching END.

    PostgreSQL has only the bodies of routines that begin with BEGIN ATOMIC, and rules with statements in parentheses.
    """

    def __init__(self, *, is_postgresql: bool) -> None:
        self._is_postgresql = is_postgresql
        self._head: list[str] = []
        self._has_blocks = False
        self._depth = 0
        self._parentheses = 0
        self._previous = ""

    def see(self, token: Token) -> None:
        # A name in quotes, or behind a dot, is no word of syntax.
        word = "" if self._previous == "." else token.word
        if self._is_postgresql and token.text in ("(", ")"):
            self._parentheses = max(0, self._parentheses + (1 if token.text == "(" else -1))
        if len(self._head) < _LABELLED:
            self._head.append(word or token.text)
            self._see_beginning()
        self._has_blocks |= self._head[0] == "CREATE" and word in _ROUTINES
        if self._has_blocks:
            self._count(word)
        self._previous = word or token.text

    def _see_beginning(self) -> None:
        """Note a block that the statement begins with: `BEGIN …` or `label: BEGIN`, but not `BEGIN TRANSACTION`."""
        match self._head:
            case ["BEGIN", second] if not self._is_postgresql and second not in _TRANSACTION:
                self._has_blocks = True
                self._depth = 1
            case [_, ":", "BEGIN"] if not self._is_postgresql:
                self._has_blocks = True

    def _count(self, word: str) -> None:
        if self._previous == "END" and self._depth:
            if word not in _END_OF_OTHER_BLOCK:
                self._depth -= 1
            if word == "CASE":
                return
        opens = self._previous == "BEGIN" and word == "ATOMIC" if self._is_postgresql else word == "BEGIN"
        if opens or (word == "CASE" and self._depth):
            self._depth += 1

    def is_open(self, token: Token) -> bool:
        if self._has_blocks:
            self._count(token.word)
            self._previous = ""
        return self._depth > 0 or self._parentheses > 0


_LABELLED = 3
"""Tokens up to the BEGIN of a block with a label."""


def _body_rule(dialect: Dialect) -> _TriggerRule | _BlockRule:
    if dialect is Dialect.SQLITE:
        return _TriggerRule()
    return _BlockRule(is_postgresql=dialect in (Dialect.POSTGRESQL, Dialect.REDSHIFT, Dialect.DUCKDB))
