"""Bubblewrap, the program that makes sandboxes: where it is, whether it works here, and its arguments.

A sandbox has its own mount, process, IPC and UTS namespaces, and shares the network. Its user has the service's user id
without any capability, and no program gains rights by set-uid bits.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from svc_jupyter.service.processes.output import last_lines

_NAMESPACES: Final = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL")
_DEFAULT_SIGNALS: Final = "--default-signal=HUP,INT,TERM"
"""Bubblewrap itself must outlive these signals, so that a program can use its grace; it passes on that they are
ignored, and only a program of its own can undo that for the command."""
_IGNORING: Final = ("/bin/sh", "-c", 'trap "" HUP INT TERM; exec "$@"', "sh")
_SECONDS: Final = 20.0
WORDS: Final = "bwrap: "
"""The beginning of its messages on stderr."""
INSTALL: Final = "install it: sudo apt install bubblewrap (or: sudo dnf install bubblewrap)"
_ALLOW: Final = (
    "allow user namespaces to the service's user: sysctl user.max_user_namespaces must not be 0, a container must "
    "permit them, and on Ubuntu AppArmor needs a profile for bwrap"
)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why no sandbox can be made, and what to do about it."""

    reason: str
    advice: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.advice}"


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """The program and its helper, by their paths."""

    path: str
    env: str

    def argv(self, mounts: Sequence[str], program: Sequence[str]) -> list[str]:
        """Return the command line that runs a program in a sandbox with these mounts.

        Start it with SIGHUP, SIGINT and SIGTERM ignored; the program has their default actions.
        """
        return [self.path, *_NAMESPACES, *mounts, self.env, _DEFAULT_SIGNALS, *program]

    def child_argv(self, mounts: Sequence[str], program: Sequence[str]) -> list[str]:
        """Return a command line as `argv` does, for a child that must not outlive the thread that starts it.

        All that runs in the sandbox is killed when that thread or the program ends. Start it with any signals.
        """
        return [*_IGNORING, *self.argv(["--die-with-parent", *mounts], program)]


def last_words(log: Path) -> str | None:
    """Return the last line of a log if it is bubblewrap's: then the sandbox could not be made."""
    lines = last_lines(log)
    return lines[-1] if lines and lines[-1].startswith(WORDS) else None


def found() -> Bubblewrap | Fault:
    """Return bubblewrap where it is installed and makes a sandbox."""
    if not sys.platform.startswith("linux"):
        return Fault(f"{sys.platform} has no bubblewrap", "run the service on Linux")
    path, env = shutil.which("bwrap"), shutil.which("env")
    if path is None or env is None:
        return Fault("bubblewrap is not installed", INSTALL)
    return _tried(path, env)


@cache
def _tried(path: str, env: str) -> Bubblewrap | Fault:
    """Return bubblewrap where it makes a sandbox; the answer is kept for the life of this process."""
    bubblewrap = Bubblewrap(path, env)
    mounts = ("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/")
    try:
        ended = subprocess.run(
            bubblewrap.argv(mounts, ["true"]), capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Fault(f"bubblewrap does not run: {error}", _ALLOW)
    if ended.returncode != 0:
        lines = (ended.stderr or ended.stdout).strip().splitlines()
        return Fault(f"bubblewrap cannot make a sandbox: {lines[-1] if lines else ended.returncode}", _ALLOW)
    return bubblewrap
