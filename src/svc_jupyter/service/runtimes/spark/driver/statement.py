"""A session's statement and its result files. Needs only the standard library."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

OUT_FILE = "out"
"""What the code printed."""
RESULT_FILE = "result.arrow"
"""The rows, an Arrow IPC stream; its name ends with `PART_SUFFIX` while they are written."""
PART_SUFFIX = ".part"
SUMMARY_FILE = "result.json"
"""The summary of a successful statement: `rows`, `size` (bytes), `columns`, or `message`; `note`."""
ERROR_FILE = "error.json"
"""Why one failed: `message`, `line` (of the code, from 1), `may_retry`, `note`.

Of an SQL script also `part` (from 0), `position` (in that part's text, if known), and, where Spark knows no table of
that name, `tables`, those of its schema.
"""
PROGRESS_FILE = "progress"
"""`<percent> <rows so far>`."""
JOBS_FILE = "jobs.json"
"""Spark's jobs of the statement so far."""
STARTED_FILE = "started"
"""Created once, before any part of the statement runs: if it is missing, the statement has not started anywhere."""
MESSAGES_FILE = "messages.jsonl"
"""A paragraph's output in order, one object `{"type", "data"}` per line."""


class Language(StrEnum):
    """The languages of code."""

    PYTHON = "python"
    SCALA = "scala"
    SQL = "sql"


@dataclass(frozen=True, slots=True)
class SqlPart:
    """One statement of an SQL script, and the line of its first word; comments are in the lines above it."""

    line: int
    text: str
    lines_above: int = 0
    """Lines of the text before that one."""
    is_plan: bool = False
    """Whether it asks for a plan, whose text becomes lines."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Code to run. `folder` receives the files above; the code's stderr and Spark's messages go to `log`."""

    id: str
    """Its id on the server and, as its job group, in Spark."""
    language: Language
    code: str
    folder: str
    log: str
    work: str
    """The working folder."""
    arguments: list[str] = field(default_factory=list)
    """The program's command line arguments."""
    parts: list[SqlPart] = field(default_factory=list)
    """The statements of SQL code."""
    pool: str | None = None
    """The pool of Spark's own scheduler for its jobs."""
    limit: int | None = None
    """The most rows of a table of SQL code; None for all."""
    min_free_bytes: int = 0
    """It fails rather than leave less free space than this on its folder's disk."""
    note: dict[str, Any] | None = None
    """The values for `z` of a notebook's paragraph, whose output is kept as typed messages.

    With `is_cell`, its table is its result, and the messages can be read while it runs.
    """

    @property
    def is_cell(self) -> bool:
        """Whether it is a cell of an interactive notebook."""
        return bool(self.note and self.note.get("is_cell"))


def to_json(statement: Statement) -> str:
    """Return it as one line of JSON."""
    return json.dumps(asdict(statement))


def from_json(text: str | bytes) -> Statement:
    """Return the value that `to_json` encoded."""
    fields = json.loads(text)
    parts = [SqlPart(**part) for part in fields.pop("parts")]
    return Statement(language=Language(fields.pop("language")), parts=parts, **fields)
