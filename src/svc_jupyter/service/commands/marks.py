"""The processes of a command, known by a mark in their environment wherever they went."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil

from svc_jupyter.service.workers import parent

MARK = parent.MARK
"""Environment variable by which the processes of a command are recognised, wherever they went."""


def marked_processes(folder: Path | None = None) -> Iterator[psutil.Process]:
    """Yield the living processes that carry the mark of the command in `folder`, or any mark when it is None."""
    wanted = None if folder is None else str(folder)
    for process in psutil.process_iter():
        mark = mark_of(process)
        if mark is not None and (wanted is None or mark == wanted):
            yield process


def mark_of(process: psutil.Process) -> str | None:
    """Return the folder of the command that a living process belongs to, or None when it belongs to none."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        environment: dict[str, str] = process.environ()
    except (psutil.Error, OSError):
        return None
    mark = environment.get(MARK, "")
    return mark if mark.startswith("/") else None  # a parent of workers only keeps the room for one


def is_living(process: psutil.Process) -> bool:
    """Return whether a process is there and runs, else is gone or a zombie."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
