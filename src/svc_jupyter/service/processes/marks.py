"""Finds the processes of a command, also those that left its process group.

A program names the command's folder in its environment. Two kinds of process have had their environment before they got
a command: a Java that waits for a script names a folder of its own, whose link then leads to the command's; a forked
worker has a name of its own and works in the command's folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psutil

from svc_jupyter.service.processes.worker_parent import MARK, WORKER_NAME, WORKING_FOLDER

COMMAND_LINK: Final = "command"
"""In the folder of a process that waited for a command: leads to the command's. It is a link, which is read without
being opened, since any program can name any folder as its mark."""


def marked_processes(folder: Path | None = None) -> Iterator[psutil.Process]:
    """Yield the living processes of the command in `folder`, or of any command when it is None."""
    wanted = None if folder is None else str(folder)
    for process in psutil.process_iter():
        mark = mark_of(process)
        if mark is not None and (wanted is None or mark == wanted):
            yield process


def mark_of(process: psutil.Process) -> str | None:
    """Return the folder of the command that a living process belongs to; None of any other process.

    A program that still waits for a command has a folder that is no command's.
    """
    folder = _worker_folder(process) or environment_mark(process, MARK)
    try:
        return None if folder is None else os.readlink(f"{folder}/{COMMAND_LINK}")
    except OSError:
        return folder


def environment_mark(process: psutil.Process, name: str) -> str | None:
    """Return the value of a living process's mark, a variable of its environment; None without one."""
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else process.environ().get(name)
    except (psutil.Error, OSError):
        return None


def _worker_folder(process: psutil.Process) -> str | None:
    """Return the folder of a worker's command; None of any other process."""
    try:
        if process.name() != WORKER_NAME:
            return None
        folder = Path(process.cwd())
    except (psutil.Error, OSError):
        return None
    return str(folder.parent if folder.name == WORKING_FOLDER else folder)


def is_living(process: psutil.Process) -> bool:
    """Return whether a process lives; False for a zombie."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
