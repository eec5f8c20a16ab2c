"""Finds the processes of a command by a mark in their environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil

from svc_jupyter.service.processes import worker_parent as parent

MARK = parent.MARK
"""Environment variable that marks the processes of a command."""


def marked_processes(folder: Path | None = None) -> Iterator[psutil.Process]:
    """Yield the living processes with the mark of the command in `folder`, or with any mark when it is None."""
    wanted = None if folder is None else str(folder)
    for process in psutil.process_iter():
        mark = mark_of(process)
        if mark is not None and (wanted is None or mark == wanted):
            yield process


def mark_of(process: psutil.Process) -> str | None:
    """Return the command's folder from a living process's mark, or None without a mark."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        environment: dict[str, str] = process.environ()
    except (psutil.Error, OSError):
        return None
    mark = environment.get(MARK, "")
    return mark if mark.startswith("/") else None  # a parent of workers only reserves the space for a mark


def is_living(process: psutil.Process) -> bool:
    """Return whether a process lives; False for a zombie."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
