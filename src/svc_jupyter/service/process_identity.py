"""Which process it is: its number, with what tells it from a later process that got the same number.

No clock is asked. The wall clock may be set at any moment, and what the system tells as the time of a process's start
moves with it; the ticks from the machine's start to the process's never do, and the boot id names that start.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple, Self

SHELL_LINE = (
    "{ read -r boot </proc/sys/kernel/random/boot_id;"
    " read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ ticks _ </proc/$$/stat; } 2>/dev/null;"
    ' who="$$${ticks:+ $boot $ticks}"'
)
"""For a POSIX shell started as `sh`: sets `who` to the line that a `pid` file holds of it."""
_STATE = 0
_START_TICKS = 19
"""Where these stand among the fields of /proc/PID/stat that follow the program's name."""
_GONE = ("Z", "X", "x")
_FIRST_PROGRAM = 2
"""No signal may ever go to a process number below: it would reach far too many."""
_NO_PROCESS = 2**31


class DamagedPidFile(OSError):
    """A file that should tell a process's number holds something else."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"{file} is damaged: it should hold the number of a process")


class Identity(NamedTuple):
    """A process that is or was. Without a boot id its number is all that is known of it."""

    pid: int
    boot_id: str = ""
    start_ticks: int = 0

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """Return the living process with this number; None without one, and where the system has no /proc."""
        fields = _stat_fields(pid)
        if fields is None or fields[_STATE] in _GONE:
            return None
        return cls(pid, boot_id(), int(fields[_START_TICKS]))

    @classmethod
    def of_this_process(cls) -> Self:
        """Return the process that asks."""
        return cls.of(os.getpid()) or cls(os.getpid())

    @property
    def is_told(self) -> bool:
        """Whether more than its number is known, so that `is_alive` can tell."""
        return bool(self.boot_id)

    @property
    def is_alive(self) -> bool:
        """Whether this very process lives; False of one of which only the number is known."""
        return self.is_told and self == Identity.of(self.pid)

    @property
    def line(self) -> str:
        """What a `pid` file holds of it."""
        return f"{self.pid} {self.boot_id} {self.start_ticks}\n" if self.is_told else f"{self.pid}\n"


def read_pid_file(file: Path) -> Identity | None:
    """Return what a `pid` file tells; None when it is missing or not written whole yet.

    One of an earlier version holds the number alone. Raises `DamagedPidFile`.
    """
    try:
        text = file.read_bytes().decode("ascii", "replace")
    except FileNotFoundError:
        return None
    if not text.endswith("\n"):
        return None
    match text.split():
        case [pid] if _is_number(pid):
            identity = Identity(int(pid))
        case [pid, boot, ticks] if _is_number(pid) and _is_number(ticks):
            identity = Identity(int(pid), boot, int(ticks))
        case _:
            raise DamagedPidFile(file)
    if not _FIRST_PROGRAM <= identity.pid < _NO_PROCESS:
        raise DamagedPidFile(file)
    return identity


def leader(pids: Iterable[int]) -> Identity | None:
    """Return which of some processes leads a session, the oldest of several; None when none does."""
    found = (Identity.of(pid) for pid in pids if _leads(pid))
    return min((one for one in found if one), key=lambda one: one.start_ticks, default=None)


def number_in(file: Path) -> int | None:
    """Return the number in a file that a newline ends; None when the file is missing, not whole, or damaged."""
    try:
        text = file.read_bytes().decode("ascii", "replace")
    except FileNotFoundError:
        return None
    return int(text) if text.endswith("\n") and _is_number(text.strip()) else None


@cache
def boot_id() -> str:
    """Return what names this machine's present run; empty where the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def _leads(pid: int) -> bool:
    try:
        return os.getsid(pid) == pid
    except ProcessLookupError:
        return False


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 20


def _stat_fields(pid: int) -> list[str] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as stat:
            return stat.read().rpartition(b")")[2].decode("ascii").split()
    except (FileNotFoundError, ProcessLookupError):
        return None
