"""A daemon as a process of its own session: started once, found again after the service was killed.

Its folder holds `pid`, written by the process itself before it becomes the program, and only where none is yet: that
makes it start once. `rc` is its exit code, written by whoever collects it; a daemon that ended while no service was
there has none.
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

from svc_jupyter.service.clusters.providers.marked_processes import DAEMON_MARK, mark_of, marked
from svc_jupyter.service.clusters.providers.provider import DaemonState
from svc_jupyter.service.process_identity import (
    SHELL_LINE,
    DamagedPidFile,
    Identity,
    leader,
    number_in,
    read_pid_file,
)

BEGIN = f"""{SHELL_LINE}
set -C; {{ echo "$who" >"$1/pid"; }} 2>/dev/null || exit 125
set +C; unset who boot ticks; cd "$2" || exit 126; shift 2; exec "$@\""""
"""Run by `sh` with the daemon's folder, a working folder and the program; on other machines, too (`hosts`)."""
_AS_USUAL = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ]
"""Signals that whoever started the service may ignore; its daemons do not."""
_KEPT_BYTES = 2**20
_MOST_BYTES = 8 * 2**20
"""What a daemon may write to an output before all but the end of it is dropped; its log files turn by themselves."""
log = structlog.get_logger(__name__)


class DaemonProcess:
    """One daemon of a node, by the folder that remembers it."""

    def __init__(self, folder: Path, logs: Path) -> None:
        self.folder = folder
        self._logs = logs

    def spawn(self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> None:
        """Start the program, forgetting an earlier run that has ended. Raises `OSError` when the system cannot."""
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
        """Return the file of its output: `out` or `err`."""
        return self._logs / f"{self.folder.name}.{kind}"

    def state(self) -> DaemonState:
        """Look at it once; collects its exit code when it is a child of this process that has ended."""
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
        """Remove its folder: it was stopped on purpose."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def bound_outputs(self) -> None:
        """Drop all but the end of an output that has grown too long; the program writes on, at the end."""
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
        """Return the process that wrote its number, found by its mark where that was damaged."""
        try:
            return read_pid_file(self.folder / "pid")
        except DamagedPidFile as damage:
            log.warning("pid_file_damaged", reason=str(damage))
            return leader(process.pid for process in marked(DAEMON_MARK, self.folder))

    def _is_own(self, identity: Identity) -> bool:
        """Whether the daemon itself lives: the numbers of processes come again."""
        if identity.is_told:
            return identity.is_alive
        # As an earlier version wrote it, or where the system tells no more.
        with contextlib.suppress(psutil.Error):
            return mark_of(psutil.Process(identity.pid), DAEMON_MARK) == str(self.folder)
        return False

    def _collect(self, pid: int) -> None:
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return
        if ended:
            code = os.waitstatus_to_exitcode(status)
            draft = self.folder / "rc.draft"
            # On a full disk the code is lost; that it ended shows all the same.
            with contextlib.suppress(OSError):
                draft.write_text(f"{code if code >= 0 else 128 - code}\n")
                draft.replace(self.folder / "rc")


def _keep_end(file: Path) -> None:
    kept = _end_of(file, _KEPT_BYTES)
    os.truncate(file, 0)
    with file.open("ab") as output:
        output.write(kept)


def _end_of(file: Path, max_bytes: int) -> bytes:
    with file.open("rb") as output:
        output.seek(max(0, file.stat().st_size - max_bytes))
        return output.read(max_bytes)
