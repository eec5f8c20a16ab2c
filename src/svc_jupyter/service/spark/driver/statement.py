"""What a session is asked to run, and the files by which it tells of it. Only the standard library is needed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

OUT_FILE = "out"
"""What the code printed."""
RESULT_FILE = "result.arrow"
"""The rows, an Arrow IPC stream; while they are written its name ends with `PART_SUFFIX`."""
PART_SUFFIX = ".part"
SUMMARY_FILE = "result.json"
"""What a statement that succeeded has to tell: `rows`, `size` (bytes), `columns`, or `message`; `note`."""
ERROR_FILE = "error.json"
"""Why one failed: `message`, `line` (of the code, from 1), `may_retry`, `note`."""
PROGRESS_FILE = "progress"
"""`<percent> <rows so far>`."""
JOBS_FILE = "jobs.json"
"""Spark's jobs of the statement so far."""
STARTED_FILE = "started"
"""There before anything of it runs, and made once: where it is missing, the statement has not begun anywhere."""
MESSAGES_FILE = "messages.jsonl"
"""A paragraph's output in order, an object `{"type", "data"}` in each line."""


class Language(StrEnum):
    """What code may be written in."""

    PYTHON = "python"
    SCALA = "scala"
    SQL = "sql"


@dataclass(frozen=True, slots=True)
class SqlPart:
    """One statement of a script in SQL, and the line at which it begins."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """Code to run. `folder` takes the files above; errors the code prints, and what Spark says, go to `log`."""

    id: str
    """Names it to the server and, as its job group, to Spark."""
    language: Language
    code: str
    folder: str
    log: str
    work: str
    """The working folder."""
    arguments: list[str] = field(default_factory=list)
    """What the program gets as its command line."""
    parts: list[SqlPart] = field(default_factory=list)
    """The statements of SQL code."""
    pool: str | None = None
    """The pool of Spark's own scheduler that its jobs run in."""
    min_free_bytes: int = 0
    """It fails rather than leave less free space than this on the disk of its folder."""
    note: dict[str, Any] | None = None
    """Of a notebook's paragraph: what its `z` knows. Its output is then kept as typed messages."""


def to_json(statement: Statement) -> str:
    """Return it as one line of JSON."""
    return json.dumps(asdict(statement))


def from_json(text: str | bytes) -> Statement:
    """Return what `to_json` took."""
    told = json.loads(text)
    parts = [SqlPart(**part) for part in told.pop("parts")]
    return Statement(language=Language(told.pop("language")), parts=parts, **told)
