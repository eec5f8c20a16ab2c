"""The job that the service passes to a note's process, and the files in which that process answers.

The workers' parent imports it too, so it needs nothing but the standard library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NOTE_FILE = "note.json"
"""The note's document at the start of the attempt."""
PARAGRAPHS_FILE = "paragraphs.json"
"""The paragraphs that ran, in order, as `RunParagraph.to_json` returns them; rewritten after each."""
TABLES_FILE = "tables.tsv"
"""The TABLE results as text, separated by blank lines; written only once the run has ended."""
SUMMARY_FILE = "result.json"
"""The summary of the results: `size` of the text in bytes or null, and `tables`."""
ERROR_FILE = "error.json"
"""Why a run failed: `message` and `may_retry`."""
PROGRESS_FILE = "progress"


def table_file(number: int) -> str:
    """Return the file name of a TABLE result's typed rows, counted from 1."""
    return f"table-{number}.arrow"


@dataclass(frozen=True, slots=True)
class NoteJob:
    """One run of a note. `folder` holds its document and receives the results, `log` the paragraphs' text."""

    folder: Path
    log: Path
    session: Mapping[str, Any]
    """How to reach the cluster's session server."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The forms' values by name, including passwords: the job's line carries them, and no disk ever holds them."""
    only: str | None = None
    """The id of the only paragraph to run."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables of shell paragraphs."""
    min_free_bytes: int = 0
