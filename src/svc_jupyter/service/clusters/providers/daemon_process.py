"""A daemon as a process in its own session: started once, found again after the service was killed.

The process writes `pid` into its folder before it executes the program, and only if that file does not exist, so that
it starts once. The service that collects its exit code writes `rc`; a daemon that ended without a service has none.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import structlog

from svc_jupyter.files import write_whole
from svc_jupyter.service.clusters.providers.marked_processes import DAEMON_MARK, marked
from svc_jupyter.service.clusters.providers.provider import DaemonState
from svc_jupyter.service.processes.identity import (
    SHELL_LINE,
    DamagedPidFile,
    Identity,
    leader,
    number_in,
    read_pid_file,
)
from svc_jupyter.service.processes.marks import environment_mark

BEGIN = f"""{SHELL_LINE}
set -C; {{ echo "$who" >"$1/pid"; }} 2>/dev/null || exit 125
set +C; unset who boot ticks; cd "$2" || exit 126; shift 2; exec "$@\""""
"""Run by `sh` with the daemon's folder, a working folder and the program; also on other machines (`hosts`)."""
_AS_USUAL = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ]
"""Signals that the service's parent may ignore, but its daemons must not."""
_KEPT_BYTES = 2**20
_MOST_BYTES = 8 * 2**20
"""A longer output is cut to its end; the daemons rotate their log files themselves."""
log = structlog.get_logger(__name__)


class DaemonProcess:
    """One daemon of a node, identified by its folder."""

    def __init__(self, folder: Path, logs: Path) -> None:
        self.folder = folder
        self._logs = logs

    def spawn(self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> None:
        """Start the program; discards an earlier run that has ended. Raises `OSError` when the system refuses."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, mode=0o700)
        self._logs.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", BEGIN, "sh", str(self.folder), str(cwd), *argv],
            {**environment, DAEMON_MARK: str(self.folder)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(self.output("out")), flags, 0o600),
                (os.POSIX_SPAWN_OPEN, 2, str(self.output("err")), flags, 0o600),
            ],
            setsid=True,
            setsigdef=_AS_USUAL,
        )

    def output(self, kind: str) -> Path:
        """Return the output file `out` or `err`."""
        return self._logs / f"{self.folder.name}.{kind}"

    def state(self) -> DaemonState:
        """Return the current state; collects the exit code of a child of this process that has ended."""
        identity = self._identity()
        if identity is None:
            return DaemonState(self.folder.name)
        if not (self.folder / "rc").exists():
            if self._is_own(identity):
                return DaemonState(self.folder.name, pid=identity.pid)
            self._collect(identity.pid)
        return DaemonState(self.folder.name, exit_code=number_in(self.folder / "rc"))

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the daemon's process group, if it runs."""
        pid = self.state().pid
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, number)

    def forget(self) -> None:
        """Delete its folder after it was stopped."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def bound_outputs(self) -> None:
        """Cut outputs that are too long to their ends; the program keeps appending."""
        for kind in ("out", "err"):
            file = self.output(kind)
            with contextlib.suppress(FileNotFoundError):
                if file.stat().st_size > _MOST_BYTES:
                    _keep_end(file)

    def tail(self, max_bytes: int) -> str:
        """Return the end of its error output."""
        try:
            return _end_of(self.output("err"), max_bytes).decode(errors="replace")
        except FileNotFoundError:
            return ""

    @property
    def has_begun(self) -> bool:
        """Whether its process has written its number."""
        return self._identity() is not None

    def _identity(self) -> Identity | None:
        """Return the process that wrote `pid`; found by its mark where the file is damaged."""
        try:
            return read_pid_file(self.folder / "pid")
        except DamagedPidFile as damage:
            log.warning("pid_file_damaged", reason=str(damage))
            return leader(process.pid for process in marked(DAEMON_MARK, self.folder))

    def _is_own(self, identity: Identity) -> bool:
        """Whether the process is the daemon itself: process numbers are reused."""
        if identity.is_complete:
            return identity.is_alive
        # Where the system gives only the process number.
        with contextlib.suppress(psutil.Error):
            return environment_mark(psutil.Process(identity.pid), DAEMON_MARK) == str(self.folder)
        return False

    def _collect(self, pid: int) -> None:
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return
        if ended:
            code = os.waitstatus_to_exitcode(status)
            # On a full disk the code is lost, but the daemon still counts as ended.
            with contextlib.suppress(OSError):
                write_whole(self.folder / "rc", f"{code if code >= 0 else 128 - code}\n")


def _keep_end(file: Path) -> None:
    kept = _end_of(file, _KEPT_BYTES)
    os.truncate(file, 0)
    with file.open("ab") as output:
        output.write(kept)


def _end_of(file: Path, max_bytes: int) -> bytes:
    with file.open("rb") as output:
        output.seek(max(0, file.stat().st_size - max_bytes))
        return output.read(max_bytes)
