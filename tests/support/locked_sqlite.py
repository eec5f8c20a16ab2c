"""A database of SQLite that another process writes to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PROGRAM = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
    "c.execute('BEGIN EXCLUSIVE'); print('locked', flush=True); sys.stdin.read()"
)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Keep every query on a database waiting. Within one process the locks of SQLite would not hold."""
    argv = [sys.executable, "-c", _PROGRAM, str(file)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"locked\n"
            yield
        finally:
            writer.communicate()
