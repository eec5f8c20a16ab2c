"""What Scala's shell reports of code that does not compile. Needs only the standard library."""

from __future__ import annotations

import re
from itertools import pairwise

_FOUND = re.compile(r"^(?:On line (\d+):| {6}) (error|warning): (.*)")
_MARGIN = " " * 7


def compile_errors(report: str) -> list[tuple[int, str]]:
    """Return the lines and texts of a report's errors.

    The source stands above an error, with a caret below it; of code of one line there is only the caret.
    """
    found: list[tuple[str, int, list[str]]] = []
    has_sources = "On line " in report
    for row, below in pairwise([*report.splitlines(), ""]):
        if place := _FOUND.match(row):
            found.append((place[2], int(place[1] or 1), [place[3]]))
        elif found and row.strip(" ^") and not (has_sources and _is_caret(below)):
            found[-1][2].append(row.removeprefix(_MARGIN))
    return [(line, "\n".join(text)) for kind, line, text in found if kind == "error"]


def _is_caret(row: str) -> bool:
    return row.strip() == "^"
