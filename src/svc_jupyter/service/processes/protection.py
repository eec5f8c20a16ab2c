"""Protects the secrets of the service's process from commands of the same user."""

from __future__ import annotations

import ctypes
import sys

import structlog

_PR_SET_DUMPABLE = 4
log = structlog.get_logger(__name__)


def hide_from_commands() -> None:
    """Make this process's environment, memory and open files unreadable to other processes of its user.

    Programs that it starts are not affected. It no longer writes core dumps. Logs a message where the system has no
    such protection.
    """
    if not sys.platform.startswith("linux"):
        log.warning("not_hidden_from_commands", reason=f"{sys.platform} has no such protection")
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        log.warning("not_hidden_from_commands", errno=ctypes.get_errno())
