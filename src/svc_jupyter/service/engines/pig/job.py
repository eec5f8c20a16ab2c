"""What the service hands a Java of Pig: one line of JSON on its stdin, so that nothing of it is in an argument."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

RESULT_FILE: Final = "result.arrow"
"""The rows of the last DUMP, an Arrow IPC stream; there once the script has succeeded."""
PART_SUFFIX: Final = ".part"
"""What the name of that file ends with while the rows of a DUMP are written."""
SUMMARY_FILE: Final = "result.json"
"""What a script that succeeded has to tell: `dumps`, `stores`, `seconds`."""
ERROR_FILE: Final = "error.json"
"""Why it failed: `message`, `code`, `line`, `column`, `may_retry`."""
STORES_FILE: Final = "stores.json"
"""The locations that the run has begun to write and that were not there before, as URIs."""
JOBS_FILE: Final = "jobs.json"
"""The ids of the MapReduce jobs it has started so far."""
PROGRESS_FILE: Final = "progress"
OUTPUT_FILE: Final = "out"
"""What it printed (DESCRIBE, fs, sh)."""
SCRATCH_FILE: Final = "scratch"
"""Names the folder of its temporary files, which goes with it."""


@dataclass(frozen=True, slots=True)
class PigJob:
    """One script. `folder` takes the results, `log` what Pig has to say."""

    folder: Path
    log: Path
    script: str = field(repr=False)
    storage: str
    """Where relative locations lie, as a URI; empty where Pig's own default is meant."""
    is_local: bool = True
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the properties ask for by name: the keys of the account's storage."""
    fetched: Mapping[str, str] = field(default_factory=dict)
    """Files that were fetched for REGISTER: location in the script to path here."""
    runs: int = 1
    """How many statements run something: the parts of its progress."""
    min_free_bytes: int = 0
    """A DUMP fails rather than leave less free space than this on the disk of its rows."""


def to_line(job: PigJob) -> bytes:
    """Return the job as one line of JSON, ended by a newline."""
    value = {
        "folder": str(job.folder),
        "log": str(job.log),
        "script": job.script,
        "storage": job.storage,
        "is_local": job.is_local,
        "parameters": dict(job.parameters),
        "properties": dict(job.properties),
        "secrets": dict(job.secrets),
        "fetched": dict(job.fetched),
        "runs": job.runs,
        "min_free_bytes": job.min_free_bytes,
    }
    return json.dumps(value).encode("ascii") + b"\n"
