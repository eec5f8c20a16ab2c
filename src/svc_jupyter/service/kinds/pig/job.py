"""The job that the service passes to a Pig Java process: one line of JSON on its stdin, so that no argument has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

RESULT_FILE: Final = "result.arrow"
"""The rows of the last DUMP, an Arrow IPC stream; exists once the script has succeeded."""
SUMMARY_FILE: Final = "result.json"
"""The summary of a successful script: `dumps`, `stores`, `seconds`."""
ERROR_FILE: Final = "error.json"
"""Why it failed: `message`, `code`, `line`, `column`, `may_retry`."""
STORES_FILE: Final = "stores.json"
"""The new locations that the run has begun to write, as URIs."""
JOBS_FILE: Final = "jobs.json"
"""The ids of the MapReduce jobs started so far."""
PROGRESS_FILE: Final = "progress"
OUTPUT_FILE: Final = "out"
"""Its printed output (DESCRIBE, fs, sh)."""
SCRATCH_FILE: Final = "scratch"
"""Names the folder of its temporary files, which is removed with it."""


@dataclass(frozen=True, slots=True)
class PigJob:
    """One script. `folder` receives the results, `log` Pig's messages."""

    folder: Path
    log: Path
    script: str = field(repr=False)
    storage: str
    """The base of relative locations, as a URI; empty for Pig's own default."""
    is_local: bool = True
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values that the properties refer to by name: the keys of the account's storage."""
    fetched: Mapping[str, str] = field(default_factory=dict)
    """Files fetched for REGISTER: location in the script to path on this machine."""
    runs: int = 1
    """The number of statements that run something: the parts of its progress."""
    min_free_bytes: int = 0
    """A DUMP fails rather than leave less free space than this on the disk of its rows."""
