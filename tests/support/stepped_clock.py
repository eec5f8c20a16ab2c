"""A wall clock that a test sets while a service runs: libfaketime in that process and its children, nowhere else.

Real: every answer of `time()`, `clock_gettime(CLOCK_REALTIME)` and their like in those processes, from a second after
the step on at the latest.
Not real: times that the kernel itself writes or tells. Those of files stay as they are, and so does the moment of boot,
from which the begin of a process is reckoned as a wall-clock time. A step forward makes that later than what was
written down before: `step` moves what is given to it by the same difference, the other way.
Monotonic clocks go on, as they do when a clock is set. The machine's clock is never touched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

_PLACES = ("/usr/lib/*/faketime", "/usr/lib/faketime", "/usr/lib64/faketime", "/usr/local/lib/faketime")
_LIBRARY = "libfaketime.so.1"


def library() -> Path:
    """Return the library's file; an AssertionError says what to install where there is none."""
    root = Path("/")
    found = [file for place in _PLACES for file in root.glob(f"{place.removeprefix('/')}/{_LIBRARY}")]
    assert found, (
        f"setting a service's clock needs {_LIBRARY}, which is in none of {', '.join(_PLACES)}; "
        "Debian: sudo apt install libfaketime     Fedora: sudo dnf install libfaketime"
    )
    return found[0]


class SteppedClock:
    """How far the clock of some processes is off, in whole seconds; 0 at first."""

    def __init__(self, file: Path) -> None:
        self.offset = 0
        self._file = file
        self._library = library()
        self._write()

    @property
    def environment(self) -> Mapping[str, str]:
        """What a process must be started with to go by this clock."""
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",  # seconds until a step is seen; to look each time makes a service slow
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DISABLE_SHM": "1",  # a killed process would leave its shared memory behind
            "NO_FAKE_STAT": "1",
        }

    def step(self, seconds: int, written_before: Iterable[Path] = ()) -> None:
        """Set the clock forward, or back; files are made to look as far away as they then are from a process's begin.

        That stands for the kernel's moment of boot, which a step moves and which cannot be moved here.
        """
        for file in written_before:
            status = file.stat()
            os.utime(file, (status.st_atime, status.st_mtime - seconds))
        self.offset += seconds
        self._write()

    def _write(self) -> None:
        draft = self._file.with_suffix(".draft")
        draft.write_text(f"{self.offset:+d}\n")
        draft.replace(self._file)
