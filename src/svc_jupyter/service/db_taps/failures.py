"""Why a query failed, for its author: the engine's own message first, then the position, then the tap."""

from __future__ import annotations

import re
from dataclasses import dataclass

from svc_jupyter.service.db_taps.statements import Statement
from svc_jupyter.service.ground.errors import Failure

_LINE_SHOWN = 160
_URL_PASSWORD = re.compile(r"(://[^\s/:@]*):[^\s@]*@")


class QueryFailure(Failure):
    """The engine, or the connection to it, failed.

    `position` counts characters from the start of the statement. `may_retry` is False when the same text can never
    succeed; after a database error it can, for example once the missing table exists.
    """

    def __init__(
        self,
        message: str,
        *,
        position: int | None = None,
        hint: str | None = None,
        may_retry: bool = True,
        shows_column: bool = False,
    ) -> None:
        super().__init__(message, may_retry=may_retry)
        self.position = position
        self.hint = hint
        self.shows_column = shows_column


@dataclass(frozen=True, slots=True)
class Position:
    """A line of a script and a column in it, both counted from 1, and the line's text."""

    line: int
    text: str
    column: int = 1


def position_of(script: str, offset: int) -> Position:
    """Return the line with the character at `offset`, stripped; of a long line the part around it."""
    offset = min(max(offset, 0), len(script))
    start = script.rfind("\n", 0, offset) + 1
    end = script.find("\n", offset)
    text = script[start : len(script) if end < 0 else end]
    if len(text) > _LINE_SHOWN:
        first = max(0, min(offset - start - _LINE_SHOWN // 2, len(text) - _LINE_SHOWN))
        text = ("…" if first else "") + text[first : first + _LINE_SHOWN].strip() + "…"
    return Position(script.count("\n", 0, offset) + 1, text.strip(), offset - start + 1)


def describe(
    failure: QueryFailure,
    *,
    script: str,
    source: str,
    statement: Statement | None,
    only_one: bool,
    tap: str,
    noun: str = "tap",
) -> str:
    """Return the whole text for the user.

    Without a position, it shows the beginning of the failed statement if the script has several.
    """
    lines = [failure.message.strip()]
    if statement is not None and (failure.position is not None or not only_one):
        place = position_of(script, statement.start + (failure.position or 0))
        column = f", column {place.column}" if failure.shows_column and failure.position is not None else ""
        lines.append(f"  {source}, line {place.line}{column}: {place.text}")
    if failure.hint:
        lines.append(f"  {failure.hint.strip()}")
    lines.append(f"  {noun} {tap}")
    return without_passwords("\n".join(lines))


def without_passwords(text: str) -> str:
    """Return a text without passwords in URLs (a driver may quote the URL it was given)."""
    return _URL_PASSWORD.sub(r"\1:***@", text)


def offset_of(statement: str, line: int, column: int) -> int:
    """Return the offset of a line (from 1) and column (from 0), in characters from the statement's beginning."""
    start = 0
    for _ in range(line - 1):
        found = statement.find("\n", start)
        if found < 0:
            break
        start = found + 1
    return min(start + column, len(statement))
