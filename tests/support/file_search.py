"""Looking for files, and for a text in them, in folders of programs that run meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path


def files_below(folder: Path, *patterns: str) -> Iterator[Path]:
    """Yield the files below a folder, those whose name matches a pattern if there are any.

    Unlike `Path.rglob`, it passes over a folder that goes while it looks.
    """
    for parent, _, names in os.walk(folder):
        for name in names:
            if not patterns or any(fnmatch(name, pattern) for pattern in patterns):
                yield Path(parent, name)


def files_with(text: str, files: Iterable[Path]) -> list[Path]:
    """Return those of the files that hold a text; one that is gone by now holds none."""
    found = []
    for file in files:
        with suppress(FileNotFoundError):
            if file.is_file() and text.encode() in file.read_bytes():
                found.append(file)
    return found
