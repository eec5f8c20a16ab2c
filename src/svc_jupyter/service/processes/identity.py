"""Identifies a process: by its number, the boot id and its start ticks, since numbers are reused.

No clock is used. The wall clock may be set at any time and changes the start times that the system reports; the ticks
from boot to the start of a process never change, and the boot id identifies the boot.
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
"""For a POSIX shell started as `sh`: sets `who` to the line of its own `pid` file."""
_STATE = 0
_FLAGS = 6
_EXITING = 0x4
"""Among the flags: the process runs no code of its program any more (PF_EXITING in the kernel's sched.h)."""
_START_TICKS = 19
"""Index among the fields of /proc/PID/stat that follow the program's name."""
_GONE = ("Z", "X", "x")
_FIRST_PROGRAM = 2
"""No signal may be sent to a number below this: it would reach too many processes."""
_NO_PROCESS = 2**31


class DamagedPidFile(OSError):
    """A file for a process number has other contents."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"{file} is damaged: it should hold the number of a process")


class Identity(NamedTuple):
    """A process, running or ended. Without a boot id, only its number is known."""

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
        """Return the current process."""
        return cls.of(os.getpid()) or cls(os.getpid())

    @property
    def is_complete(self) -> bool:
        """Whether more than its number is known, so that `is_alive` is reliable."""
        return bool(self.boot_id)

    @property
    def is_alive(self) -> bool:
        """Whether this same process lives; False when only its number is known."""
        return self.is_complete and self == Identity.of(self.pid)

    @property
    def line(self) -> str:
        """Its line in a `pid` file."""
        return f"{self.pid} {self.boot_id} {self.start_ticks}\n" if self.is_complete else f"{self.pid}\n"


def is_exiting(pid: int) -> bool:
    """Return whether a process has begun to end; False where the system has no /proc."""
    fields = _stat_fields(pid)
    return fields is not None and bool(int(fields[_FLAGS]) & _EXITING)


def read_pid_file(file: Path) -> Identity | None:
    """Return the identity in a `pid` file; None when it is missing or incomplete.

    A shell wrapper writes only the number. Raises `DamagedPidFile`.
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
    """Return the process that leads a session, the oldest of several; None when none does."""
    found = (Identity.of(pid) for pid in pids if _leads(pid))
    return min((one for one in found if one), key=lambda one: one.start_ticks, default=None)


def number_in(file: Path) -> int | None:
    """Return the number in a file that ends with a newline; None when it is missing, incomplete or damaged."""
    try:
        text = file.read_bytes().decode("ascii", "replace")
    except FileNotFoundError:
        return None
    return int(text) if text.endswith("\n") and _is_number(text.strip()) else None


@cache
def boot_id() -> str:
    """Return the id of the machine's current boot; empty where the system has none."""
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
