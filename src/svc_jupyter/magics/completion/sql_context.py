"""What is being written at the cursor of an SQL text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile

from svc_jupyter.magics.completion.sql_query import Part, Position
from svc_jupyter.magics.completion.sql_statement import Reader
from svc_jupyter.magics.completion.sql_words import is_name, unquoted
from svc_jupyter.sql_tokens import Dialect, Token, tokens_of

_LOOKED_AHEAD = 20_000
"""Characters behind the cursor in which the statement's end is looked for."""
_REST_OF_WORD = re.compile(r"[\w$]*")
_BEFORE_OTHER_NAMES = "$:@?"
"""Marks of parameters, variables, macros and types."""


@dataclass(frozen=True, slots=True)
class SqlContext:
    """A name that is being written, and where it is."""

    dialect: Dialect
    start: int
    """Where the name begins in the text: what is chosen replaces it up to the cursor."""
    prefix: str
    """The name so far, without its quote."""
    quote: str
    """The quote that has been typed before it."""
    is_closed: bool
    """Whether the closing quote is already behind the cursor."""
    qualifiers: tuple[str, ...]
    """The names before it: `schema.table.`"""
    position: Position
    is_lower: bool
    """Whether words of syntax are written in lower case here."""


def context_at(text: str, cursor: int, dialect: Dialect) -> SqlContext | None:
    """Return what is being written at a cursor; None in strings, comments and numbers."""
    before = _statement_before(text[:cursor], dialect)
    if before is None:
        return None
    start, quote, prefix = cursor, "", ""
    if before and before[-1].end == cursor and before[-1].kind in ("word", "quote"):
        start = before.pop().start
        prefix = text[start:cursor]
        quote = prefix[0] if prefix[0] in '"`[' else ""
    if before and before[-1].end == start and text[before[-1].start] in _BEFORE_OTHER_NAMES:
        return None
    qualifiers: list[str] = []
    while before and text[before[-1].start : before[-1].end] == ".":
        if len(before) < 2 or not _is_name(text, before[-2], dialect):
            return None
        qualifiers.insert(0, unquoted(text[before[-2].start : before[-2].end]))
        del before[-2:]
    behind = text[cursor : cursor + _LOOKED_AHEAD]
    is_closed = bool(quote) and behind.startswith("]" if quote == "[" else quote)
    rest = _REST_OF_WORD.sub("", behind[is_closed:], count=1)
    after = takewhile(lambda token: token.kind != "semicolon", tokens_of(rest, dialect))
    parts = [_part(text, token, dialect) for token in before]
    position = Reader([*parts, Part("cursor", ""), *(_part(rest, token, dialect) for token in after)]).position
    assert position is not None, "the reader reads all parts"
    first_word = next((part.text for part in parts if part.kind == "word"), "")
    is_lower = (first_word if quote or not prefix else prefix).islower()
    return SqlContext(dialect, start, unquoted(prefix), quote, is_closed, tuple(qualifiers), position, is_lower)


def _statement_before(text: str, dialect: Dialect) -> list[Token] | None:
    """Return the tokens of the statement that ends with a text; None if that is in a string, comment or number."""
    found: list[Token] = []
    for token in tokens_of(text, dialect, comments=True):
        if token.kind == "semicolon":
            found.clear()
        elif token.kind != "comment":
            found.append(token)
        elif token.is_open:
            return None
    if found and found[-1].end == len(text):
        last = found[-1]
        if last.kind in ("number", "dollar") or (last.kind == "quote" and not _is_name(text, last, dialect)):
            return None
    return found


def _is_name(text: str, token: Token, dialect: Dialect) -> bool:
    return token.kind == "word" or (token.kind == "quote" and is_name(text[token.start], dialect))


def _part(text: str, token: Token, dialect: Dialect) -> Part:
    content = text[token.start : token.end]
    if token.kind == "word":
        return Part("word", content)
    if token.kind == "quote" and is_name(content, dialect):
        return Part("name", unquoted(content))
    return Part("mark" if token.kind == "other" else "value", content)
