"""What the service hands the process of a run, and the files by which that process answers.

Imported by the workers' parent too, so it needs nothing but the standard library.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

SOURCE_FILE = "source.ipynb"
"""The notebook as it was when the attempt began."""
EXECUTED_FILE = "executed.ipynb"
"""The notebook with the outputs so far; written anew, atomically, while the run goes on."""
TEXT_FILE = "result.txt"
"""The text outputs of the last cell that has any; only there once the run has succeeded."""
SUMMARY_FILE = "result.json"
"""What a run that succeeded has to tell: `size`, the bytes of its text result or null."""
ERROR_FILE = "error.json"
"""Why a run failed: `message` and `may_retry`."""
PROGRESS_FILE = "progress"
"""The percentage of cells that are done."""
WORKING_FOLDER = "work"
"""Where the kernel runs, under the attempt's folder."""

Argument = str | int | float | bool


@dataclass(frozen=True, slots=True)
class RunJob:
    """One run of a notebook. `folder` holds its source and takes the result, `log` the cells' text."""

    folder: Path
    log: Path
    notebook: str
    """The notebook's path in the service, for messages."""
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of the command, for the kernel."""
    python: str | None = None
    """The interpreter whose kernel runs the cells of a notebook for Python; None for the kernel it asks for."""
    min_free_bytes: int = 0
    """The run fails rather than leave less free space than this on its disk."""


def to_line(job: RunJob) -> bytes:
    """Return the job as one line of JSON, ended by a newline."""
    value = asdict(job)
    value["folder"], value["log"] = str(job.folder), str(job.log)
    return json.dumps(value).encode("ascii") + b"\n"


def from_line(line: bytes) -> RunJob:
    """Return the job that `to_line` took."""
    value = json.loads(line)
    return RunJob(folder=Path(value.pop("folder")), log=Path(value.pop("log")), **value)
