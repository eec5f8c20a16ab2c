"""What the service hands the process of a note's run, and the files by which that process answers.

Imported by the workers' parent too, so it needs nothing but the standard library.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

NOTE_FILE = "note.json"
"""The note's document as it was when the attempt began."""
PARAGRAPHS_FILE = "paragraphs.json"
"""The paragraphs that were run, in order, as `RunParagraph.to_json` gives them; rewritten after each."""
TABLES_FILE = "tables.tsv"
"""The TABLE results as text, a blank line between; only there once the run has ended."""
SUMMARY_FILE = "result.json"
"""What the results are: `size` of the text in bytes or null, and `tables`."""
ERROR_FILE = "error.json"
"""Why a run failed: `message` and `may_retry`."""
PROGRESS_FILE = "progress"
WORKING_FOLDER = "work"
"""Where shell paragraphs run, under the attempt's folder."""


def table_file(number: int) -> str:
    """Return the name of the typed rows of a TABLE result, counted from 1."""
    return f"table-{number}.arrow"


@dataclass(frozen=True, slots=True)
class NoteJob:
    """One run of a note. `folder` holds its document and takes the results, `log` the paragraphs' text."""

    folder: Path
    log: Path
    session: Mapping[str, Any]
    """How the cluster's session server is reached."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The forms' values by name, passwords among them: they come by the job's line and are never on a disk."""
    only: str | None = None
    """The paragraph, by id, that alone is to be run."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables of shell paragraphs."""
    min_free_bytes: int = 0


def to_line(job: NoteJob) -> bytes:
    """Return the job as one line of JSON, ended by a newline."""
    value = asdict(job)
    value["folder"], value["log"] = str(job.folder), str(job.log)
    return json.dumps(value).encode("ascii") + b"\n"


def from_line(line: bytes) -> NoteJob:
    """Return the job that `to_line` took."""
    value = json.loads(line)
    return NoteJob(folder=Path(value.pop("folder")), log=Path(value.pop("log")), **value)
