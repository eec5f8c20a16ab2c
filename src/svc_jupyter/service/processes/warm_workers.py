"""The service's side of worker processes: keeps a parent loaded after the first job, and gives it the jobs."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Mapping
from typing import Generic, TypeVar

import structlog

from svc_jupyter.files import with_users_umask
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.worker_parent import TAKEN, WorkerJob, to_line

IDLE_SECONDS = 120.0
"""How long an idle parent stays loaded."""
_ANSWER_SECONDS = 60.0
_STOP_SECONDS = 5.0
log = structlog.get_logger(__name__)
AnyJob = TypeVar("AnyJob", bound=WorkerJob, contravariant=True)


class WarmWorkers(Generic[AnyJob]):
    """Starts worker processes. Their parent is started at first use and ended when idle.

    `module` runs as the parent and calls `parent.serve`.
    """

    def __init__(
        self,
        module: str,
        environment: Mapping[str, str],
        *,
        idle_seconds: float = IDLE_SECONDS,
        python: str = sys.executable,
    ) -> None:
        self._module = module
        self._environment = environment
        self._idle_seconds = idle_seconds
        self._python = python
        self._lock = asyncio.Lock()
        self._parent: asyncio.subprocess.Process | None = None
        self._retirement: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def parent_pid(self) -> int | None:
        """The process that forks the workers; None without one."""
        return None if self._parent is None else self._parent.pid

    def warm(self) -> None:
        """Start the parent if it does not run, because a job is about to come."""
        if self._parent is None and not self._is_closed:
            self._keep(asyncio.create_task(self._warm()))

    async def start(self, job: AnyJob) -> DurableProcess:
        """Start a worker for a job, in the job's folder.

        A cancellation meanwhile leaves no worker behind. Raises `OSError` when no worker can be started.
        """
        handing = asyncio.ensure_future(self._hand(job))
        try:
            return await asyncio.shield(handing)
        except asyncio.CancelledError:
            with contextlib.suppress(OSError):
                await _undo(await handing)
            raise

    async def stop(self) -> None:
        """End the parent; the workers continue."""
        self._is_closed = True
        await asyncio.gather(*self._tasks, return_exceptions=True)
        async with self._lock:
            await self._retire()

    async def _warm(self) -> None:
        async with self._lock:
            try:
                await self._ready_parent()
            except OSError as error:
                log.warning("worker_parent_not_started", reason=str(error))
            self._plan_retirement()

    async def _hand(self, job: AnyJob) -> DurableProcess:
        async with self._lock:
            try:
                return await self._try_to_hand(job, attempts=2)
            finally:
                self._plan_retirement()

    async def _try_to_hand(self, job: AnyJob, *, attempts: int) -> DurableProcess:
        parent = await self._ready_parent()
        assert parent.stdin is not None
        assert parent.stdout is not None
        try:
            parent.stdin.write(to_line(job))
            await parent.stdin.drain()
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = (await parent.stdout.readline()).decode("utf-8", "replace").strip()
        except (ConnectionError, TimeoutError):
            answer = ""
        process = DurableProcess.adopt(job.folder)
        if process is not None and answer in (TAKEN.decode(), ""):
            return process
        if answer:
            raise OSError(f"no worker process could be started: {answer}")
        reason = await self._drop(parent)
        if attempts > 1:
            return await self._try_to_hand(job, attempts=attempts - 1)
        raise OSError(f"no worker process could be started: {reason}")

    async def _ready_parent(self) -> asyncio.subprocess.Process:
        if self._retirement is not None:
            self._retirement.cancel()
            self._retirement = None
        if self._parent is not None:
            if self._parent.returncode is None:
                return self._parent
            await self._drop(self._parent)
        if self._is_closed:
            raise OSError("the service is stopping")
        self._parent = await asyncio.create_subprocess_exec(
            *with_users_umask([self._python, "-m", self._module]),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
            start_new_session=True,
        )
        return self._parent

    def _plan_retirement(self) -> None:
        if self._retirement is not None:
            self._retirement.cancel()
        loop = asyncio.get_running_loop()
        self._retirement = loop.call_later(self._idle_seconds, lambda: self._keep(loop.create_task(self._when_idle())))

    async def _when_idle(self) -> None:
        async with self._lock:
            if self._retirement is not None and self._retirement.when() <= asyncio.get_running_loop().time():
                await self._retire()

    async def _retire(self) -> None:
        if self._retirement is not None:
            self._retirement.cancel()
            self._retirement = None
        parent, self._parent = self._parent, None
        if parent is None:
            return
        assert parent.stdin is not None
        parent.stdin.close()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await parent.communicate()
        except TimeoutError:
            await self._drop(parent)

    async def _drop(self, parent: asyncio.subprocess.Process) -> str:
        """End a parent that does not answer; return the last line of its output."""
        if parent is self._parent:
            self._parent = None
        with contextlib.suppress(ProcessLookupError):
            parent.kill()
        _, errors = await parent.communicate()
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"it ended with {parent.returncode}"

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _undo(process: DurableProcess) -> None:
    """End a worker whose start was cancelled, and delete its `pid` unless it has finished its job."""
    process.signal(signal.SIGKILL)  # it would answer SIGTERM with an exit code of its own
    await process.wait()
    if not (process.folder / "rc").exists():
        (process.folder / "pid").unlink(missing_ok=True)
