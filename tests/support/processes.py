"""What is known of another process of this machine."""

from __future__ import annotations

import os
from contextlib import suppress

import psutil


def is_over(pid: int) -> bool:
    """Return whether a process is gone, or waits as a zombie for somebody to collect it."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def open_files(pid: int) -> set[str]:
    """Return what the descriptors of a process are open on."""
    found = set()
    for entry in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):  # closed meanwhile
            found.add(os.readlink(f"/proc/{pid}/fd/{entry}"))
    return found
