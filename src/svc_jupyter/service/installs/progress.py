"""Progress of an installation as lines of text, a few per second at most."""

from __future__ import annotations

import time
from collections.abc import Callable

Say = Callable[[str], None]
"""Receives a line for the waiting user: in a command's log, a cell, the terminal."""

LINES_EVERY = 0.4
"""Seconds between two lines of one download: often enough to show progress, rare enough for a log."""

_MEGABYTE = 1e6


class DownloadProgress:
    """Counts bytes and reports `installing pig (15.9 of 65.8 MB)`; always reports the first and the last line."""

    def __init__(self, what: str, total: int, say: Say, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._total = total
        self._say = say
        self._clock = clock
        self._done = 0
        self._said: float | None = None

    def add(self, count: int) -> None:
        """Count bytes that have arrived or, if negative, must be fetched again."""
        self._done += count
        now = self._clock()
        if self._said is None or self._done == self._total or now - self._said >= LINES_EVERY:
            self._said = now
            self._say(f"installing {self._what} ({self._done / _MEGABYTE:.1f} of {self._total / _MEGABYTE:.1f} MB)")
