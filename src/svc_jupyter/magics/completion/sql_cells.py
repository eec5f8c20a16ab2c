"""Completion in the cells of `%%svc_db`, `%%svc_hive`, `%%svc_presto` and `%%svc_sql`, through IPython's matchers.

What reads SQL is imported at the first use: most notebooks load the magics for something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult

from svc_jupyter.magics.arguments.decorators import matcher
from svc_jupyter.magics.arguments.options import parse
from svc_jupyter.magics.completion.completion import Matcher
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.session.session import Session

if TYPE_CHECKING:
    from svc_jupyter.magics.completion.known_catalogues import KnownCatalogues
    from svc_jupyter.magics.completion.sql_choices import Choice

_MAGIC_LINE = re.compile(r"%%(svc_\w+)\b(.*)")
_ON_HIVE = {"svc_hive": "hive", "svc_sql": "spark", "svc_presto": "presto"}
"""Magics whose tables are those of Hive's catalogue, with their dialects."""


@dataclass(frozen=True, slots=True)
class SqlCell:
    """The text below the line of a magic, and where the cursor is in it."""

    magic: str
    line: str
    text: str
    cursor: int


class NothingElse(list[SimpleCompletion]):
    """No completions, and none of other matchers: IPython asks for the others unless there seem to be some."""

    def __len__(self) -> int:
        return 1


def sql_matcher(magics: dict[str, Callable[..., Any]], session: Session) -> Matcher:
    """Return the matcher of the cells; `magics` are given without `%`."""

    @cache
    def catalogues() -> KnownCatalogues:
        from svc_jupyter.magics.completion.known_catalogues import KnownCatalogues

        return KnownCatalogues(session)

    def svc_sql_matcher(context: CompletionContext) -> SimpleMatcherResult:
        cell = sql_cell(context.full_text, context.cursor_line, context.cursor_position)
        if cell is None:
            return {"completions": [], "suppress": False}
        from svc_jupyter.magics.completion.sql_completions import completions
        from svc_jupyter.sql_tokens import Dialect

        dialect = Dialect(_ON_HIVE[cell.magic]) if cell.magic in _ON_HIVE else None
        catalogue = catalogues().of_hive() if dialect else catalogues().of_tap(_tap(magics["svc_db"], cell.line))
        found = completions(cell.text, cell.cursor, catalogue, dialect)
        return _result(found.choices, cell.text[found.start : cell.cursor])

    matcher_of_ours: Matcher = matcher("svc_jupyter.sql_matcher", priority=100)(svc_sql_matcher)
    return matcher_of_ours


def sql_cell(text: str, row: int, column: int) -> SqlCell | None:
    """Return the SQL at a cursor in a cell; None in other cells and in the lines of magics."""
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    above = next((number for number in range(row, -1, -1) if _MAGIC_LINE.match(lines[number])), None)
    if above is None or above == row or not _MAGIC_LINE.match(first):
        return None
    magic = _MAGIC_LINE.match(lines[above])
    if magic is None or magic[1] not in (*_ON_HIVE, "svc_db"):
        return None
    end = next((number for number in range(row, len(lines)) if _MAGIC_LINE.match(lines[number])), len(lines))
    cursor = sum(len(line) + 1 for line in lines[above + 1 : row]) + column
    return SqlCell(magic[1], magic[2], "\n".join(lines[above + 1 : end]), cursor)


def _tap(magic: Callable[..., Any], line: str) -> str | None:
    try:
        name: str | None = parse(magic, line).tap
    except SvcUsageError:
        return None  # an option that is being written
    return name


def _result(found: Iterable[Choice], fragment: str) -> SimpleMatcherResult:
    completed = [SimpleCompletion(text=text, type=kind) for text, kind in found] or NothingElse()
    return {"completions": completed, "matched_fragment": fragment, "suppress": True, "ordered": True}
