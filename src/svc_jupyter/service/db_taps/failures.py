"""Why a query failed, for its author: the engine's own message first, then the position, then the tap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from svc_jupyter.service.db_taps.statements import Statement
from svc_jupyter.service.db_taps.suggestions import place_of, question, without_offer
from svc_jupyter.service.ground.errors import Failure

_LINE_SHOWN = 160
_OFFERS = "Perhaps you meant"
"""The beginning of the hint in which PostgreSQL offers a name itself."""
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


@dataclass(frozen=True, slots=True)
class Report:
    """A failed statement for its author, in parts: as `StatementFailure` of the API, whose fields it has."""

    reason: str
    source: str
    target: str
    line: int | None = None
    column: int | None = None
    text: str | None = None
    did_you_mean: Sequence[str] = ()
    hint: str | None = None

    @property
    def message(self) -> str:
        """The whole text for the user."""
        reason = self.reason
        if self.did_you_mean:
            end = "" if reason.endswith((".", "?", "!")) else "."
            reason = f"{reason}{end} {question(self.did_you_mean)}"
        lines = [reason]
        if self.line is not None:
            column = "" if self.column is None else f", column {self.column}"
            lines.append(f"  {self.source}, line {self.line}{column}: {self.text}")
        if self.hint:
            lines.append(f"  {self.hint}")
        return "\n".join([*lines, f"  {self.target}"])


def report_of(
    failure: QueryFailure,
    *,
    script: str,
    source: str,
    statement: Statement | None,
    only_one: bool,
    target: str,
    did_you_mean: Sequence[str] = (),
) -> Report:
    """Return the report of a failure for the author of its script.

    The position is the engine's, or else that of the unknown name. Without one, the report shows the beginning of the
    failed statement if the script has several.
    """
    reason, _ = without_offer(failure.message.strip()) if did_you_mean else (failure.message.strip(), ())
    position = failure.position
    if position is None and statement is not None:
        position = place_of(failure.message, statement.text)
    hint = failure.hint
    if did_you_mean and hint is not None and hint.startswith(_OFFERS):
        hint = None
    place = None
    if statement is not None and (position is not None or not only_one):
        offset = statement.first if position is None else statement.origin(position)
        place = position_of(script, offset)
    return Report(
        without_passwords(reason),
        source,
        target,
        line=None if place is None else place.line,
        column=place.column if place is not None and failure.shows_column and position is not None else None,
        text=None if place is None else without_passwords(place.text),
        did_you_mean=did_you_mean,
        hint=None if hint is None else without_passwords(hint.strip()),
    )


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
