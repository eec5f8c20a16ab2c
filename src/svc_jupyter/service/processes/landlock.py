"""Landlock: takes from this thread, and the threads that it starts, the right to open files outside of some folders.

The rules name open folders, not paths: no later change of a path leads out of them. Linux has it since 5.13.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Numbers of the system calls, the same on all processors of today."""
_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_NO_NEW_PRIVILEGES: Final = 38
_FIRST: Final = (1 << 13) - 1
"""The rights of the first version (linux/landlock.h)."""
_REFER, _TRUNCATE = 1 << 13, 1 << 14
"""Further rights, of the versions 2 and 3."""
_READ_FILE: Final = 1 << 0 | 1 << 2
"""Run and read a file."""
_READ: Final = _READ_FILE | 1 << 3
"""Also list folders."""
_CHANGE: Final = _READ | 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8
"""Also write, remove and create files and folders."""


def version_here() -> int:
    """Return the version of Landlock that this system has; less than 1 where it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    return int(ctypes.CDLL(None, use_errno=True).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION))


def confine(*, changed: Iterable[int], read: Iterable[Path]) -> bool:
    """Let this thread open only what is below the open folders `changed` and, to read, `read` and what is below it.

    Returns False where the system has no Landlock: then nothing is restricted. Raises `OSError` where it refuses.
    """
    if (version := version_here()) < 1:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    known = _FIRST | (_REFER if version > 1 else 0) | (_TRUNCATE if version > 2 else 0)
    rules = _checked(libc.syscall(_CREATE_RULESET, struct.pack("Q", known), ctypes.c_size_t(8), 0))
    try:
        for descriptor in changed:
            _allow(libc, rules, descriptor, known & (_CHANGE | _TRUNCATE))
        for path in read:
            if path.exists():
                descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
                try:
                    _allow(libc, rules, descriptor, _READ if path.is_dir() else _READ_FILE)
                finally:
                    os.close(descriptor)
        _checked(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _checked(libc.syscall(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)
    return True


def _allow(libc: ctypes.CDLL, rules: int, descriptor: int, rights: int) -> None:
    _checked(libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
