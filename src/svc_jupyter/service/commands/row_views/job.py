"""The job of a process that shows the rows of one result, and what is asked of it.

The process imports it too, so it needs nothing but the standard library.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

MOST_ROWS = 1000
"""Rows of a page."""


class Operator(StrEnum):
    """Compares a column with a value. A row without a value meets only `is_null`."""

    EQUAL = "="
    DIFFERENT = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    CONTAINS = "contains"
    IS_NULL = "is_null"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a filter: `value` is as in JSON."""

    column: str
    operator: Operator
    value: Any = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The rows that a reader wants: those with the text that meet all conditions."""

    search: str = ""
    where: tuple[Condition, ...] = ()

    @property
    def key(self) -> str:
        """A text that is equal for equal wishes."""
        return json.dumps(asdict(self), sort_keys=True)


class Ask(StrEnum):
    """What the process is asked for."""

    PAGE = "page"
    VALUE = "value"
    SUMMARY = "summary"
    POINTS = "points"


class Chart(StrEnum):
    """A chart of two columns."""

    LINE = "line"
    BAR = "bar"
    SCATTER = "scatter"


@dataclass(frozen=True, slots=True)
class Question:
    """One request to the process.

    `sort` has names of columns, with a `-` before it where the largest value comes first; `columns` is None for all.
    A value is that of `column` in the row at `offset`. The `column` of points is their x; without a `chart`, numbers
    and times are a line, other values bars.
    """

    ask: Ask
    wanted: Wanted = field(default_factory=Wanted)
    sort: Sequence[str] = ()
    columns: Sequence[str] | None = None
    offset: int = 0
    limit: int = 100
    column: str = ""
    y: str = ""
    chart: Chart | None = None

    def line(self) -> bytes:
        """Return the question as one line of JSON."""
        return json.dumps(asdict(self)).encode("ascii") + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> Question:
        """Return the question from what `line` returned."""
        value = json.loads(line)
        wanted = value.pop("wanted")
        where = tuple(Condition(item["column"], Operator(item["operator"]), item["value"]) for item in wanted["where"])
        ask, chart = Ask(value.pop("ask")), value.pop("chart")
        return cls(ask, Wanted(wanted["search"], where), chart=chart and Chart(chart), **value)


@dataclass(frozen=True, slots=True)
class RowsJob:
    """Shows the rows of a file until the service closes the socket in `folder`."""

    folder: Path
    log: Path
    rows_file: str
    is_text: bool
    """Whether the file has lines of text rather than an Arrow stream."""


SOCKET = "socket"
"""The name of the socket in the job's folder; the service listens."""
_MARK = b'"rows_file"'


def is_rows_job(line: bytes) -> bool:
    """Return whether a worker's line is such a job."""
    return _MARK in line and "rows_file" in json.loads(line)


class Refused(Exception):
    """The question cannot be answered: the message names the field that is wrong."""
