"""A wall clock that a test sets while a service runs, in that process and in the Python processes it starts.

Real: every answer of `time.time()` and `time.time_ns()` in those processes, from a second after the step on at the
latest.
Not real: the clock of programs that are not Python, `datetime.now()`, and times that the kernel itself writes or tells.
Those of files stay as they are, and so does the moment of boot, from which the begin of a process is reckoned as a
wall-clock time. A step forward makes that later than what was written down before: `step` moves what is given to it by
the same difference, the other way.
Monotonic clocks go on, as they do when a clock is set. The machine's clock is never touched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

_FOLDER = Path(__file__).with_name("stepped")


class SteppedClock:
    """How far the clock of some processes is off, in whole seconds; 0 at first."""

    def __init__(self, file: Path) -> None:
        self.offset = 0
        self._file = file
        self._write()

    @property
    def environment(self) -> Mapping[str, str]:
        """What a process must be started with to go by this clock."""
        path = os.pathsep.join(filter(None, (str(_FOLDER), os.environ.get("PYTHONPATH"))))
        return {"PYTHONPATH": path, "STEPPED_CLOCK_FILE": str(self._file)}

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
