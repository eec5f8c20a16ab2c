"""The job that the service passes to a run's process, and the files in which that process answers.

The workers' parent imports it too, so it needs nothing but the standard library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SOURCE_FILE = "source.ipynb"
"""The notebook at the start of the attempt."""
EXECUTED_FILE = "executed.ipynb"
"""The notebook with the outputs so far; rewritten atomically during the run."""
TEXT_FILE = "result.txt"
"""The text outputs of the last cell that has any; written only when the run has succeeded."""
SUMMARY_FILE = "result.json"
"""The summary of a successful run: `size`, the bytes of its text result or null."""
ERROR_FILE = "error.json"
"""Why a run failed: `message` and `may_retry`."""
PROGRESS_FILE = "progress"
"""The percentage of finished cells."""
KERNEL_FOLDER = "kernel"
"""The kernel's connection file and sockets, in the attempt's folder, during the run."""

Argument = str | int | float | bool


@dataclass(frozen=True, slots=True)
class RunJob:
    """One run of a notebook. `folder` holds its source and receives the result, `log` the cells' text."""

    folder: Path
    log: Path
    notebook: str
    """The notebook's path in the service, for messages."""
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of the command, for the kernel; with a sandbox, all that the kernel has."""
    python: str | None = None
    """The interpreter whose kernel runs a Python notebook; None for the kernel that the notebook names."""
    sandbox: Sequence[str] = field(default_factory=list)
    """The beginning of the command line of an isolated kernel; empty for one that is not isolated."""
    min_free_bytes: int = 0
    """The run fails rather than leave less free space than this on its disk."""
