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

from svc_jupyter.service.clusters.providers.marked_processes import DAEMON_MARK
from svc_jupyter.service.clusters.providers.provider import DaemonState

BEGIN = 'set -C; { echo $$ >"$1/pid"; } 2>/dev/null || exit 125; set +C; cd "$2" || exit 126; shift 2; exec "$@"'
"""Run by `sh` with the daemon's folder, a working folder and the program; on other machines, too (`hosts`)."""
_AS_USUAL = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ]
"""Signals that whoever started the service may ignore; its daemons do not."""
_CLOCK_SLACK_SECONDS = 2.0
_KEPT_BYTES = 2**20
_MOST_BYTES = 8 * 2**20
"""What a daemon may write to an output before all but the end of it is dropped; its log files turn by themselves."""


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
        pid = _number_in(self.folder / "pid")
        if pid is None:
            return DaemonState(self.folder.name)
        if not (self.folder / "rc").exists():
            with contextlib.suppress(psutil.Error, OSError):
                process = psutil.Process(pid)
                if self._is_own(process):
                    return DaemonState(self.folder.name, pid=pid, started_at=process.create_time())
            self._collect(pid)
        return DaemonState(self.folder.name, exit_code=_number_in(self.folder / "rc"))

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
        return _number_in(self.folder / "pid") is not None

    def _is_own(self, process: psutil.Process) -> bool:
        """Whether a process is the daemon itself: the numbers of processes come again."""
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        environment = process.environ()
        if environment:
            return environment.get(DAEMON_MARK) == str(self.folder)
        # For an instant, while it becomes the program, a process has no environment to be read.
        written_at = (self.folder / "pid").stat().st_mtime
        return bool(process.create_time() <= written_at + _CLOCK_SLACK_SECONDS)

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


def _number_in(file: Path) -> int | None:
    """Return the number in a file that a newline ends; None when the file is missing or not whole."""
    try:
        text = file.read_text("ascii")
    except FileNotFoundError:
        return None
    return int(text) if text.endswith("\n") and text.strip().isdecimal() else None
