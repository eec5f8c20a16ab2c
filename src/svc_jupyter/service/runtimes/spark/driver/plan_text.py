"""The text with which Spark answers EXPLAIN. Needs only the standard library."""

from __future__ import annotations

import re

_FAILED = re.compile(
    r"(?:== [\w ]+ ==\n)?org\.apache\.spark\.[\w.$]+: "
    r"(?P<words>.*?)(?:; line (?P<line>\d+) pos \d+;?)?(?=\n['+=: ]|\n\n|\Z)",
    re.DOTALL,
)


def failure_in(plan: str) -> tuple[str, int | None] | None:
    """Return why there is no plan, and the line of the statement from 1: Spark's EXPLAIN writes that instead of one."""
    found = _FAILED.match(plan)
    if found is None:
        return None
    return found["words"].strip(), int(found["line"]) if found["line"] else None
