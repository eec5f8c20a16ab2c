"""The text with which Spark answers EXPLAIN. Needs only the standard library."""

from __future__ import annotations

import re

_FAILED = re.compile(
    r"(?:== [\w ]+ ==\n)?org\.apache\.spark\.[\w.$]+: "
    r"(?P<words>.*?)(?:; line (?P<line>\d+) pos (?P<column>\d+);?)?(?=\n['+=: ]|\n\n|\Z)",
    re.DOTALL,
)


def failure_in(plan: str) -> tuple[str, tuple[int, int] | None] | None:
    """Return why there is no plan, which Spark's EXPLAIN writes instead of one.

    With it come the line of the statement, from 1, and the column, from 0, if it has a place.
    """
    found = _FAILED.match(plan)
    if found is None:
        return None
    return found["words"].strip(), (int(found["line"]), int(found["column"])) if found["line"] else None
