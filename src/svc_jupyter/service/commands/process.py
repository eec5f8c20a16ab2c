"""Durable processes: children that outlive the service and are found again with output and exit code.

A process runs in a session of its own. Its folder holds `pid` (written by the wrapper before anything else, and only
if it is not there yet: that is what makes a command run once), `out` (stdout) and `rc` (the exit code, ended by a
newline once it is whole). The wrapper is a few lines of POSIX shell: it survives SIGTERM to its group, so that it can
still write `rc`, and starts in about 0.3 ms.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from svc_jupyter.service.workers import parent

MARK = parent.MARK
"""Environment variable by which the processes of a command are recognised, wherever they went."""

_WRAPPER = """set -C
{ echo $$ >"$1/pid"; } 2>/dev/null || exit 125
set +C
folder=$1
cd "$2" || exit 125
shift 2
trap : TERM INT HUP
"$@"
code=$?
echo $code >"$folder/rc"
exit $code"""
_NOT_STARTED = 125
"""Exit code of a wrapper that could not begin: its folder is taken, or it could not write to it."""
_KILLED = -1
"""As the exit code of a wrapper: it ended by a signal, or was no child of ours, so that only `rc` can tell."""
_PID_SECONDS = 2.0
"""How long the wrapper that took a folder may need to write its number."""
_AS_USUAL = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ]
"""Signals that Python, or whoever started the service, may ignore; its programs do not."""
_CLOCK_SLACK_SECONDS = 2.0
_POLL_SECONDS = 0.05
_LEFTOVER_GRACE_SECONDS = 2.0
_DYING_SECONDS = 1.0
"""How long a killed process may take to be gone."""


class DurableProcess:
    """A started or found process. `wait` may be awaited by one task at a time."""

    def __init__(self, folder: Path, pid: int, *, is_child: bool) -> None:
        self.folder = folder
        self.pid = pid
        self._is_child = is_child
        self._wait_status: int | None = None
        self._end = folder / parent.END
        self.ended_leftovers = False
        """Whether the program had left processes behind, which `wait` then ended."""

    @classmethod
    def start(
        cls, *, folder: Path, argv: Sequence[str], cwd: Path, environment: Mapping[str, str], log: Path
    ) -> DurableProcess:
        """Start `argv` in `cwd`: stdout to `folder/out`, stderr appended to `log`, stdin empty.

        Raises `OSError` when the system cannot start it (no memory, full disk, too many processes).
        """
        pid = os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", _WRAPPER, "sh", str(folder), str(cwd), *argv],
            {**environment, MARK: str(folder)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(folder / "out"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                (os.POSIX_SPAWN_OPEN, 2, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            ],
            setsid=True,
            setsigdef=_AS_USUAL,
        )
        return cls(folder, pid, is_child=True)

    @classmethod
    def adopt(cls, folder: Path, *, is_child: bool = False) -> DurableProcess | None:
        """Return the process that was started in `folder`, running or ended, or None when none ever was."""
        pid = _read_pid(folder)
        return None if pid is None else cls(folder, pid, is_child=is_child)

    @property
    def is_running(self) -> bool:
        """Whether the process is still there: the same one, not a later one with its number."""
        if self._wait_status is not None:
            return False
        try:
            process = psutil.Process(self.pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            started_by = (self.folder / "pid").stat().st_mtime + _CLOCK_SLACK_SECONDS
            return self._is_child or process.create_time() <= started_by
        except FileNotFoundError:
            return self._is_child
        except psutil.NoSuchProcess:
            return False

    async def wait(self) -> int | None:
        """Wait for the end; return the exit code (128 + N for signal N), or None when it is lost for good.

        What the program left running in its process group is ended too: a command that is over uses nothing. A process
        of our own that tells its end (`workers/parent.py`) may be about to be gone.
        Raises `OSError` when the program could not be started since its folder could not be written to.
        """
        if await self._ended_or_told() and (code := _read_number(self.folder / "rc")) is not None:
            return code  # it gives its memory back
        if self._has_group():
            self.ended_leftovers = True
            await self.stop(_LEFTOVER_GRACE_SECONDS)
        waited = _KILLED if self._wait_status is None else os.waitstatus_to_exitcode(self._wait_status)
        if waited >= 0 and waited != _NOT_STARTED:
            return waited  # the program's, which the wrapper has written to `rc`, too, unless the disk is full
        code = _read_number(self.folder / "rc")
        if waited == _NOT_STARTED and code is None:
            other = await self._first_starter()
            if other != self.pid:
                self.pid, self._is_child, self._wait_status = other, False, None
                return await self.wait()
            return waited
        return code

    async def _first_starter(self) -> int:
        """Return the number of the process that took the folder: this one where only its `cwd` failed.

        Raises `OSError` when no number can be read, as on a full disk: then nothing was run at all.
        """
        deadline = time.monotonic() + _PID_SECONDS
        while (pid := _read_pid(self.folder)) is None:
            if time.monotonic() > deadline:
                raise OSError(errno.ENOSPC, "nothing could be written to its folder (is the disk full?)")
            await asyncio.sleep(_POLL_SECONDS)
        return pid

    async def stop(self, grace_seconds: float) -> None:
        """End the process and everything it started: SIGTERM, then SIGKILL for what is left after the grace."""
        self.signal(signal.SIGTERM)
        if not await self._empty_within(grace_seconds):
            self.signal(signal.SIGKILL)
            await self._empty_within(_DYING_SECONDS)

    async def _empty_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.has_members():
            if time.monotonic() >= deadline:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process group and to every process that carries the command's mark."""
        if self.is_running or self._has_group():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
        for process in marked_processes(self.folder):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def has_members(self) -> bool:
        """Return whether anything that the command started is still alive."""
        self._reap()
        return self.is_running or self._has_group() or next(marked_processes(self.folder), None) is not None

    def _has_group(self) -> bool:
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return os.getpgid(0) != self.pid and self._has_living_member()

    def _has_living_member(self) -> bool:
        """Look at the processes themselves: a group lasts as long as its zombies, which nobody may ever collect.

        Of one that was found again the number may have been taken: only members that carry the mark are its own.
        """
        processes = psutil.process_iter() if self._is_child else marked_processes(self.folder)
        return any(_group_of(process.pid) == self.pid and _is_living(process) for process in processes)

    async def _ended_or_told(self) -> bool:
        """Return once the process has ended, or told that it is about to; say whether it is one that tells."""
        if not self._is_child and not self.is_running:
            return False
        if not hasattr(os, "pidfd_open"):
            while self.is_running and not self._reap():  # noqa: ASYNC110  no pidfd on this system
                await asyncio.sleep(_POLL_SECONDS)
            return False
        try:
            descriptors = [os.pidfd_open(self.pid)]
        except ProcessLookupError:
            self._reap()
            return False
        with contextlib.suppress(OSError):
            descriptors.append(os.open(self._end, os.O_RDONLY | os.O_NONBLOCK))
        await _first_readable(descriptors)
        self._reap()
        if tells := len(descriptors) > 1:
            self._end.unlink(missing_ok=True)
        return tells

    def _reap(self) -> bool:
        """Collect a child of ours that has ended, so that it does not stay as a zombie."""
        if self._is_child and self._wait_status is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self._wait_status = status
        return self._wait_status is not None


def marked_processes(folder: Path | None = None) -> Iterator[psutil.Process]:
    """Yield the living processes that carry the mark of the command in `folder`, or any mark when it is None."""
    wanted = None if folder is None else str(folder)
    for process in psutil.process_iter():
        mark = mark_of(process)
        if mark is not None and (wanted is None or mark == wanted):
            yield process


def mark_of(process: psutil.Process) -> str | None:
    """Return the folder of the command that a living process belongs to, or None when it belongs to none."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        environment: dict[str, str] = process.environ()
    except (psutil.Error, OSError):
        return None
    mark = environment.get(MARK, "")
    return mark if mark.startswith("/") else None  # a parent of workers only keeps the room for one


async def _first_readable(descriptors: Sequence[int]) -> None:
    """Return once one of the descriptors can be read, or has come to its end; they are closed then."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    for descriptor in descriptors:
        loop.add_reader(descriptor, _settle, ended)
    try:
        await ended
    finally:
        for descriptor in descriptors:
            loop.remove_reader(descriptor)
            os.close(descriptor)


def _settle(ended: asyncio.Future[None]) -> None:
    """Let the waiter go on; its descriptor may be told as readable once more before it does."""
    if not ended.done():
        ended.set_result(None)


def _is_living(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _read_pid(folder: Path) -> int | None:
    """Return the process number in a folder; never 0 or 1, to which a signal would reach far too many."""
    pid = _read_number(folder / "pid")
    return None if pid is None or pid <= 1 else pid


def _read_number(file: Path) -> int | None:
    """Return the number in a file that a newline ends; None when the file is missing or not whole."""
    try:
        text = file.read_text("ascii")
    except FileNotFoundError:
        return None
    return int(text) if text.endswith("\n") else None
