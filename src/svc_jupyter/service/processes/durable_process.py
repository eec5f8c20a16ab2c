"""Durable processes: children that outlive the service and are found again with output and exit code.

A process runs in a session of its own. Its folder holds `pid` (written by the wrapper first, and only if the file does
not exist, so that a command runs once), `out` (stdout) and `rc` (the exit code, complete once it ends with a newline).
The wrapper is a few lines of POSIX shell: it survives SIGTERM to its group, so that it can still write `rc`, and starts
in about 0.3 ms.

Process numbers are reused. A process is the command's own if the identity beside the number in `pid`, or the mark in
its environment, says so. A wrapper writes only its number, since finding out more takes half as long again, and has the
mark from its start; workers, which have none, write the whole identity.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import structlog

from svc_jupyter.files import users_umask
from svc_jupyter.service.processes.identity import (
    DamagedPidFile,
    Identity,
    is_exiting,
    leader,
    number_in,
    read_pid_file,
)
from svc_jupyter.service.processes.marks import is_living, mark_of, marked_processes
from svc_jupyter.service.processes.worker_parent import MARK

_WRAPPER = """set -C
{ echo $$ >"$1/pid"; } 2>/dev/null || exit 125
set +C
folder=$1
cd "$2" || exit 125
[ "$3" = -1 ] || umask "$3"
trap "$4" TERM INT HUP
shift 4
"$@"
code=$?
umask 077
echo $code >"$folder/rc"
exit $code"""
_NOT_STARTED = 125
"""Exit code of a wrapper that could not start: its folder is taken, or not writable."""
_KILLED = -1
"""In place of the wrapper's exit code: it ended by a signal, or was not our child, so that only `rc` is known."""
_PID_SECONDS = 2.0
"""How long the wrapper that took a folder may take to write its number."""
_AS_USUAL = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ]
"""Signals that Python or the service's parent may ignore; programs must not inherit that."""
_NOBODY = Identity(0)
"""Stands for a process whose number cannot be determined."""
_POLL_SECONDS = 0.05
_LEFTOVER_GRACE_SECONDS = 2.0
_ENDING_SECONDS = 0.1
"""How long a process of the group may take to end by itself after the program."""
_ENDING_POLL_SECONDS = 0.001
_DYING_SECONDS = 1.0
"""How long a killed process may take to end."""
log = structlog.get_logger(__name__)


class DurableProcess:
    """A started or found process. Only one task at a time may await `wait`."""

    def __init__(self, folder: Path, identity: Identity, *, is_child: bool) -> None:
        self.folder = folder
        self._identity = identity
        self._is_child = is_child
        self._wait_status: int | None = None
        self.ended_leftovers = False
        """Whether the program had left processes behind, which `wait` then ended."""

    @classmethod
    def start(
        cls,
        *,
        folder: Path,
        argv: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        log: Path,
        ignores_signals: bool = False,
    ) -> DurableProcess:
        """Start `argv` in `cwd`: stdout to `folder/out`, stderr appended to `log`, stdin empty.

        With `ignores_signals` it has SIGHUP, SIGINT and SIGTERM ignored, as a sandbox needs that must outlive them.
        Raises `OSError` when the system cannot start it (no memory, full disk, too many processes).
        """
        at_signals = "" if ignores_signals else ":"
        pid = os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", _WRAPPER, "sh", str(folder), str(cwd), f"{users_umask():o}", at_signals, *argv],
            {**environment, MARK: str(folder)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(folder / "out"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                (os.POSIX_SPAWN_OPEN, 2, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            ],
            setsid=True,
            setsigdef=_AS_USUAL,
        )
        return cls(folder, Identity(pid), is_child=True)

    @classmethod
    def adopt(cls, folder: Path, *, is_child: bool = False) -> DurableProcess | None:
        """Return the process that was started in `folder`, running or ended; None when none was started.

        When its `pid` is damaged, it is found by its mark.
        """
        try:
            identity = read_pid_file(folder / "pid")
        except DamagedPidFile as damage:
            log.warning("pid_file_damaged", reason=str(damage))
            identity = leader(process.pid for process in marked_processes(folder)) or _NOBODY
        return None if identity is None else cls(folder, identity, is_child=is_child)

    @property
    def pid(self) -> int:
        """Its number; 0 where it cannot be determined."""
        return self._identity.pid

    @property
    def is_running(self) -> bool:
        """Whether the same process still runs, not a later one with its number."""
        if self._wait_status is not None or self._identity == _NOBODY:
            return False
        if self._identity.is_complete:
            return self._identity.is_alive
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.pid)
            return is_living(process) if self._is_child else mark_of(process) == str(self.folder)
        return False

    async def wait(self) -> int | None:
        """Wait for the end; return the exit code (128 + N for signal N), or None when it is lost.

        Ends what the program left running in its process group. Raises `OSError` when the program could not be started
        because its folder is not writable, and when its exit code cannot be determined because its `pid` was damaged.
        """
        await self._ended()
        if await self._has_leftovers():
            self.ended_leftovers = True
            await self.stop(_LEFTOVER_GRACE_SECONDS)
        waited = _KILLED if self._wait_status is None else os.waitstatus_to_exitcode(self._wait_status)
        if waited >= 0 and waited != _NOT_STARTED:
            return waited  # also in `rc`, unless the disk is full
        code = number_in(self.folder / "rc")
        if waited == _NOT_STARTED and code is None:
            other = await self._first_starter()
            if other.pid != self.pid:
                self._identity, self._is_child, self._wait_status = other, False, None
                return await self.wait()
            return waited
        if code is None and self._identity == _NOBODY:
            raise DamagedPidFile(self.folder / "pid")
        return code

    async def _has_leftovers(self) -> bool:
        """Return whether the program left processes in its group that are not just ending.

        The first process of a sandbox ends a moment after its program, or stays while the program left any other there.
        """
        deadline = time.monotonic() + _ENDING_SECONDS
        while self._has_group():
            if time.monotonic() >= deadline:
                return True
            await asyncio.sleep(_ENDING_POLL_SECONDS)
        return False

    async def _first_starter(self) -> Identity:
        """Return the process that took the folder: this one if only its `cwd` failed.

        Raises `OSError` when no number can be read, as on a full disk: then no program was run.
        """
        deadline = time.monotonic() + _PID_SECONDS
        while (identity := read_pid_file(self.folder / "pid")) is None:
            if time.monotonic() > deadline:
                raise OSError(errno.ENOSPC, "nothing could be written to its folder (is the disk full?)")
            await asyncio.sleep(_POLL_SECONDS)
        return identity

    async def stop(self, grace_seconds: float) -> None:
        """End the process and all its children: SIGTERM, then SIGKILL for what is left after the grace."""
        await self._signal_all(signal.SIGTERM)
        if not await self._empty_within(grace_seconds):
            await self._signal_all(signal.SIGKILL)
            await self._empty_within(_DYING_SECONDS)

    async def _signal_all(self, number: signal.Signals) -> None:
        """Like `signal`; the search through all processes runs in another thread."""
        self._signal_group(number)
        await asyncio.to_thread(self._signal_marked, number)

    async def _empty_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while (not self._reap() and self.is_running) or await asyncio.to_thread(self._has_others):
            if time.monotonic() >= deadline:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    def _signal_group(self, number: signal.Signals) -> None:
        if self.is_running or self._has_group():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def _signal_marked(self, number: signal.Signals) -> None:
        for process in marked_processes(self.folder):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process group and to every process with the command's mark."""
        self._signal_group(number)
        self._signal_marked(number)

    def has_members(self) -> bool:
        """Return whether any process of the command is still alive."""
        self._reap()
        return self.is_running or self._has_others()

    def _has_others(self) -> bool:
        return self._has_group() or next(marked_processes(self.folder), None) is not None

    def _has_group(self) -> bool:
        if self._identity == _NOBODY:
            return False
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return os.getpgid(0) != self.pid and self._has_living_member()

    def _has_living_member(self) -> bool:
        """Check the processes of the group, which also exists while it has only zombies, possibly forever.

        The number of a process that was found again may be reused: only members with the mark count.
        """
        pids = psutil.pids() if self._is_child else (process.pid for process in marked_processes(self.folder))
        return any(_group_of(pid) == self.pid and _is_living(pid) for pid in pids)

    async def _ended(self) -> None:
        """Return once the process has ended."""
        if self._wait_status is not None or (not self._is_child and not self.is_running):
            return
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(ProcessLookupError):
                await _readable(os.pidfd_open(self.pid))
            self._reap()
            return
        while self.is_running and not self._reap():  # noqa: ASYNC110  no pidfd on this system
            await asyncio.sleep(_POLL_SECONDS)

    def _reap(self) -> bool:
        """Collect an ended child, so that it does not remain as a zombie."""
        if self._is_child and self._wait_status is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self._wait_status = status
        return self._wait_status is not None


async def _readable(descriptor: int) -> None:
    """Return once a descriptor is readable; close it."""
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    loop.add_reader(descriptor, event.set)
    try:
        await event.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _is_living(pid: int) -> bool:
    """Return whether a process lives; False for one that is ending, as the first one of a sandbox is for some time."""
    try:
        return is_living(psutil.Process(pid)) and not is_exiting(pid)
    except psutil.NoSuchProcess:
        return False


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None
