"""The log of a run: the cells' text as it comes, and lines of the run's own. It is the process's stderr."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from svc_jupyter.service.notebook_runs.failures import RunFailure

_LOOK_BYTES = 4 * 2**20


class RunLog:
    """Writes the log, unless that would fill the disk."""

    def __init__(self, folder: Path, min_free_bytes: int) -> None:
        self._folder = folder
        self._min_free_bytes = min_free_bytes
        self._since_look = 0
        self._ends_line = True

    def write(self, text: str) -> None:
        """Append what a cell put out. Raises `RunFailure` when the disk is (nearly) full."""
        if not text:
            return
        data = text.encode("utf-8", "replace")
        self._since_look += len(data)
        if self._since_look >= _LOOK_BYTES:
            self._look()
        try:
            sys.stderr.buffer.write(data)
            sys.stderr.buffer.flush()
        except OSError as error:
            raise RunFailure(f"the log could not be written: {error.strerror}") from None
        self._ends_line = text.endswith("\n")

    def line(self, text: str) -> None:
        """Append a line of the run's own."""
        self.write(f"{'' if self._ends_line else chr(10)}{text}\n")

    def _look(self) -> None:
        self._since_look = 0
        if shutil.disk_usage(self._folder).free < self._min_free_bytes:
            raise RunFailure("the service's disk is nearly full: the run was ended by the size of its log")
