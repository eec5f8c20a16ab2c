"""A node of the provider `local`: a folder, a loopback address, and daemons as processes of this machine."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath, PurePosixPath
from typing import Final

import psutil

from svc_jupyter.files import write_whole
from svc_jupyter.service.clusters.providers.daemon_process import DaemonProcess
from svc_jupyter.service.clusters.providers.marked_processes import end_marked, marked
from svc_jupyter.service.clusters.providers.provider import (
    INSTANCE_MARK,
    NODE_MARK,
    Daemon,
    DaemonState,
    ProviderFailure,
)

_INHERITED: Final = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TZ", "USER")
"""The only variables that programs on a node get from the service's environment, so that none of its secrets leak."""
_LOOK_EVERY = 0.01
_BEGIN_SECONDS = 5.0
_DYING_SECONDS = 5.0


class LocalMachine:
    """One node on this machine; see `Machine`."""

    def __init__(
        self, instance_folder: Path, folder: Path, java: Callable[[], Awaitable[Path]], use: ProcessorUse
    ) -> None:
        self.folder = PurePosixPath(folder)
        self._path = folder
        self._instance_folder = instance_folder
        self._java = java
        self._use = use

    async def write(self, files: Mapping[str, bytes]) -> None:
        """Write files below the folder, each atomically."""
        with self._failures_of_the_disk():
            await asyncio.to_thread(self._write, files)

    async def engine(self, name: str, files: Sequence[Path]) -> Sequence[PurePosixPath]:  # noqa: ARG002  nothing to bring
        """Return the files unchanged: they are on this machine already."""
        return [PurePosixPath(file) for file in files]

    async def java(self) -> PurePosixPath:
        """Return the service's own Java."""
        return PurePosixPath(await self._java())

    async def start(self, daemon: Daemon) -> None:
        """Start a daemon unless it runs; return once its process has begun. Raises `ProviderFailure`."""
        process = self._daemon(daemon.name)
        if process.state().is_running:
            return
        with self._failures_of_the_disk():
            (self._path / "tmp").mkdir(mode=0o700, parents=True, exist_ok=True)
            process.spawn(daemon.argv, self._path, self._environment(daemon.environment))
        await self._begun(process)

    async def daemons(self) -> Sequence[DaemonState]:
        """Return the state of every started and not stopped daemon; limits the size of their outputs."""
        states = []
        for process in self._daemons():
            states.append(process.state())
            process.bound_outputs()
        return states

    async def stop(self, name: str, grace_seconds: float) -> None:
        """End a daemon and forget it; sessions that it started continue, such as a NodeManager's containers."""
        process = self._daemon(name)
        process.signal(signal.SIGTERM)
        if not await self._ended(process, grace_seconds):
            process.signal(signal.SIGKILL)
            await self._ended(process, _DYING_SECONDS)
        process.forget()

    async def run(self, argv: Sequence[str], *, environment: Mapping[str, str], log: Path) -> int:
        """Run a program to its end, its output appended to `log`; processes that it left running are not ended."""
        with self._failures_of_the_disk(), log.open("ab") as output:
            try:
                process = await asyncio.create_subprocess_exec(
                    *argv,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env=self._environment(environment),
                    cwd=self._path,
                    start_new_session=True,
                )
            except FileNotFoundError as error:
                raise ProviderFailure(f"{argv[0]} is not there on {self._path.name}") from error
        try:
            return await process.wait()
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise

    async def tail(self, name: str, max_bytes: int = 4096) -> str:
        """Return the end of a daemon's error output."""
        return self._daemon(name).tail(max_bytes)

    async def load(self) -> Mapping[str, float]:
        """Return the node's share of this machine's processors since the last call, and how full its disk is."""
        usage = shutil.disk_usage(self._path)
        cpu = await asyncio.to_thread(self._use.percent, NODE_MARK, self._path)
        return {"cpu_percent": cpu, "disk_percent": 100 * usage.used / usage.total}

    async def end_everything(self) -> None:
        """Kill all processes of the node, and delete its folder. Raises `ProviderFailure` when that fails."""
        if not await end_marked(NODE_MARK, self._path):
            raise ProviderFailure(f"processes of {self._path.name} cannot be ended: see `ps -ef`")
        for process in self._daemons():
            process.state()
        await asyncio.to_thread(shutil.rmtree, self._path, ignore_errors=True)

    def _daemon(self, name: str) -> DaemonProcess:
        return DaemonProcess(self._path / "daemons" / name, self._path / "logs")

    def _daemons(self) -> Iterator[DaemonProcess]:
        folder = self._path / "daemons"
        for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
            yield self._daemon(name)

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        marks = {INSTANCE_MARK: str(self._instance_folder), NODE_MARK: str(self._path)}
        return {**inherited, "TMPDIR": str(self._path / "tmp"), **more, **marks}

    async def _begun(self, process: DaemonProcess) -> None:
        deadline = time.monotonic() + _BEGIN_SECONDS
        while not process.has_begun:
            if time.monotonic() > deadline:
                raise ProviderFailure(
                    f"{process.folder.name} could not be started on {self._path.name}: nothing could be written to "
                    f"{process.folder} (is the disk full?)"
                )
            await asyncio.sleep(_LOOK_EVERY)

    async def _ended(self, process: DaemonProcess, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while process.state().is_running:
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(_LOOK_EVERY)
        return True

    def _write(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            file = self._path / name
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(file, content, mode=0o600)

    @contextmanager
    def _failures_of_the_disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise ProviderFailure(
                    f"the disk of {self._path} is full: make room there, or move the data folder (SVC_DATA_DIR)"
                ) from error
            reason = error.strerror or str(error)
            raise ProviderFailure(f"{self._path.name}: {reason} ({error.filename or self._path})") from error


def percent_used(before: Mapping[int, float], now: Mapping[int, float], seconds: float, processors: int) -> float:
    """Return the share of all processors, 0..100, that processes used between two readings of their processor seconds.

    A process that started meanwhile counts from its start; one that ended does not count.
    """
    used = sum(value - before.get(pid, 0.0) for pid, value in now.items())
    return min(100.0, max(0.0, 100 * used / (max(seconds, 0.001) * processors)))


class ProcessorUse:
    """Keeps the last reading of each mark. The first call for a mark measures since the start of its processes."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[float, dict[int, float]]] = {}
        self._lock = threading.Lock()

    def percent(self, mark: str, value: PurePath) -> float:
        """Return the share since the last call, 0..100 of all processors; a call within a tenth of a second does not
        replace the last reading.
        """
        readings: dict[int, float] = {}
        oldest = 0.0
        for process in marked(mark, value):
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                readings[process.pid] = times.user + times.system
                oldest = max(oldest, time.time() - process.create_time())
        now = time.monotonic()
        with self._lock:
            moment, before = self._last.get(str(value), (now - oldest, {}))
            if now - moment >= 0.1 or str(value) not in self._last:
                self._last[str(value)] = (now, readings)
        return percent_used(before, readings, now - moment, psutil.cpu_count() or 1)

    def forget(self, value: PurePath) -> None:
        """Drop the readings of a node that is gone."""
        with self._lock:
            self._last.pop(str(value), None)
