"""The Pig Java processes: one is kept warm after the first script, so that the next finds its classes loaded.

A Java serves one script and ends with it, so a script's functions, settings and memory never reach another one. It is
the script's durable process: once it has the script, it no longer needs the service. An idle one ends with the service,
at the end of its stdin.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import socket
import sys
import uuid
from collections import deque
from collections.abc import Mapping
from pathlib import Path

import psutil
import structlog

from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.failures import EngineFailure
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.kinds.pig import command_line
from svc_jupyter.service.kinds.pig.job import PigJob
from svc_jupyter.service.kinds.pig.jvm import Jvm
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.marks import environment_mark
from svc_jupyter.service.processes.worker_parent import MARK

IDLE_SECONDS = 300.0
"""How long an idle Java stays warm: it holds about 200 MB."""
_LATER_SECONDS = 10.0
"""Delay before the next Java warms up beside a running script; at once it would take half the script's processors."""
log = structlog.get_logger(__name__)


class Jvms:
    """Assigns scripts to warm Java processes."""

    def __init__(
        self,
        engines: Engines,
        folder: Path,
        environment: Mapping[str, str],
        *,
        idle_seconds: float = IDLE_SECONDS,
        python: str = sys.executable,
    ) -> None:
        """`folder` holds their files; `python` runs Python functions of scripts."""
        self._engines = engines
        self._folder = folder / "running"
        self.programs = folder / "bin"
        """The folder of the program that runs Python functions."""
        self._environment = environment
        self._idle_seconds = idle_seconds
        self._python = python
        self._spare: asyncio.Task[Jvm | None] | None = None
        self._next: asyncio.TimerHandle | None = None
        self._retirement: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._host = socket.gethostname()

    def warm(self) -> None:
        """Start warming up a Java if there is none and Pig is installed: a script is about to come, or has ended."""
        if self._spare is None and not self._is_closed and self._engines.installed(Engine.PIG) is not None:
            self._spare = asyncio.create_task(self._warmed())
        self._plan_retirement()

    async def start(self, job: PigJob, say: Say) -> DurableProcess:
        """Start a script in the job's folder; installs Pig when it is missing and reports that to `say`.

        A cancellation leaves no process behind. Raises `EngineFailure`, and `OSError` when no Java can be started.
        """
        handing = asyncio.ensure_future(self._hand(job, say))
        try:
            return await asyncio.shield(handing)
        except asyncio.CancelledError:
            handing.cancel()
            with contextlib.suppress(OSError, EngineFailure, asyncio.CancelledError):
                await _undo(await handing)
            raise

    async def stop(self) -> None:
        """End the idle Java; those that have a script continue."""
        self._is_closed = True
        for timer in (self._next, self._retirement):
            if timer is not None:
                timer.cancel()
        await self._retire()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def sweep(self) -> None:
        """Remove the folders of Java processes that are gone, as after a crash; those of other hosts stay."""
        used = {environment_mark(process, MARK) for process in psutil.process_iter()}
        for folder in self._folder.glob(f"{self._host}-*"):
            if str(folder) not in used:
                shutil.rmtree(folder, ignore_errors=True)

    async def _hand(self, job: PigJob, say: Say) -> DurableProcess:
        spare, self._spare = self._spare, None
        jvm = None if spare is None else await spare
        try:
            if jvm is None or not jvm.is_running:
                jvm = await self._launch(say)
            process = await jvm.hand(job)
        except BaseException:
            if jvm is not None and DurableProcess.adopt(job.folder) is None:
                await jvm.end()
            raise
        if self._next is not None:
            self._next.cancel()
        self._next = asyncio.get_running_loop().call_later(_LATER_SECONDS, self.warm)
        return process

    async def _launch(self, say: Say) -> Jvm:
        installed = await self._engines.ensure(Engine.PIG, say)
        java = await self._engines.java(say)
        if self._is_closed:
            raise OSError("the service is stopping")
        scratch = self._folder / f"{self._host}-{uuid.uuid4().hex[:12]}"
        command_line.make_scratch(scratch)
        command_line.make_programs(self.programs, self._python)
        return await Jvm.start(
            command_line.arguments(installed, java, scratch),
            command_line.environment(self._environment, self.programs, scratch),
            scratch,
        )

    async def _warmed(self) -> Jvm | None:
        """Return a Java, ready or warming up; None when none could be started."""
        try:
            return await self._launch(lambda _line: None)
        except (OSError, EngineFailure) as error:
            log.warning("pig_not_warmed", reason=str(error))
            return None

    def _plan_retirement(self) -> None:
        if self._retirement is not None:
            self._retirement.cancel()
        if self._is_closed:
            return
        loop = asyncio.get_running_loop()
        self._retirement = loop.call_later(self._idle_seconds, lambda: self._keep(loop.create_task(self._retire())))

    async def _retire(self) -> None:
        spare, self._spare = self._spare, None
        jvm = None if spare is None else await spare
        if jvm is not None:
            await jvm.end()

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _undo(process: DurableProcess) -> None:
    """End a script whose caller is gone."""
    process.signal(signal.SIGKILL)
    await process.wait()
    (process.folder / "pid").unlink(missing_ok=True)


class Slots:
    """Slots for scripts, so that their Java leaves memory for others; waiting ones get a slot in order of arrival."""

    def __init__(self, most: int) -> None:
        """`most` is the number of slots."""
        self._most = most
        self._holders: set[Path] = set()
        self._waiting: deque[Path] = deque()
        self._changed = asyncio.Event()

    async def take(self, holder: Path, say: Say) -> None:
        """Return once the holder has a slot; `say` reports it if the holder has to wait."""
        if self._waiting or self._is_full:
            say(f"waiting for a free Pig JVM ({len(self._holders)} of {self._most} in use)")
        self._waiting.append(holder)
        try:
            while self._waiting[0] != holder or self._is_full:
                self._changed.clear()
                await self._changed.wait()
            self._holders.add(holder)
        finally:
            self._waiting.remove(holder)
            self._changed.set()

    def keep(self, holder: Path) -> None:
        """Count a script that already runs, as after a restart of the service, even beyond the limit."""
        self._holders.add(holder)

    def leave(self, holder: Path) -> None:
        """Release a holder's slot; does nothing for a holder without one."""
        self._holders.discard(holder)
        self._changed.set()

    @property
    def _is_full(self) -> bool:
        return len(self._holders) >= self._most
