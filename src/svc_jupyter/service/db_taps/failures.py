"""Why a query failed, in words for its author: the engine's own message first, then the place, then the tap."""

from __future__ import annotations

import re
from dataclasses import dataclass

from svc_jupyter.service.db_taps.statements import Statement

_LINE_SHOWN = 160
_URL_PASSWORD = re.compile(r"(://[^\s/:@]*):[^\s@]*@")


class QueryFailure(Exception):
    """The engine, or the way to it, refused.

    `position` counts characters from the start of the statement. `may_retry` is False where the same text can never
    succeed; an error of the database can, once somebody has made the missing table.
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
        super().__init__(message)
        self.message = message
        self.position = position
        self.hint = hint
        self.may_retry = may_retry
        self.shows_column = shows_column


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a script and a column in it, both counted from 1, and what stands in the line."""

    line: int
    text: str
    column: int = 1


def place_of(script: str, offset: int) -> Place:
    """Return the line that holds the character at `offset`, stripped; of a long line the part around it."""
    offset = min(max(offset, 0), len(script))
    start = script.rfind("\n", 0, offset) + 1
    end = script.find("\n", offset)
    text = script[start : len(script) if end < 0 else end]
    if len(text) > _LINE_SHOWN:
        first = max(0, min(offset - start - _LINE_SHOWN // 2, len(text) - _LINE_SHOWN))
        text = ("…" if first else "") + text[first : first + _LINE_SHOWN].strip() + "…"
    return Place(script.count("\n", 0, offset) + 1, text.strip(), offset - start + 1)


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

    Without a position, the beginning of the failed statement is shown where the script holds several.
    """
    lines = [failure.message.strip()]
    if statement is not None and (failure.position is not None or not only_one):
        place = place_of(script, statement.start + (failure.position or 0))
        column = f", column {place.column}" if failure.shows_column and failure.position is not None else ""
        lines.append(f"  {source}, line {place.line}{column}: {place.text}")
    if failure.hint:
        lines.append(f"  {failure.hint.strip()}")
    lines.append(f"  {noun} {tap}")
    return without_passwords("\n".join(lines))


def without_passwords(text: str) -> str:
    """Return a text in which no URL shows a password (a driver may quote the one it was given)."""
    return _URL_PASSWORD.sub(r"\1:***@", text)
