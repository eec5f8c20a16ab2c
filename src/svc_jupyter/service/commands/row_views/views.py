"""The service's side of the rows' processes: one for each result that is read, kept for some seconds."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from svc_jupyter.service.commands.row_views.job import SOCKET, Question, RowsJob
from svc_jupyter.service.commands.row_views.process import MEMORY_BYTES
from svc_jupyter.service.ground.errors import Invalid, NotFound, Unavailable
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.warm_workers import WarmWorkers

_IDLE_SECONDS = 30.0
_ANSWER_SECONDS = 25.0
"""Less than what a front end waits for an answer, so that it gets the reason."""
_MOST_OPEN = 8
_MOST_BUSY = 2
"""Processes that work at the same time; further requests wait."""
_START_SECONDS = 30.0
_HEAD_BYTES = 1000


class ClientGone(Exception):
    """The client went away, and with it the work for it."""


@dataclass(frozen=True, slots=True)
class RowsFile:
    """The rows of a result on disk, which may be replaced by others of the same name."""

    path: Path
    is_text: bool
    identity: tuple[int, int, int]

    @classmethod
    def at(cls, path: Path, *, is_text: bool) -> RowsFile:
        """Return the file as it is now. Raises `OSError`."""
        stat = path.stat()
        return cls(path, is_text, (stat.st_dev, stat.st_ino, stat.st_size))


class RowViews:
    """Answers questions about rows by processes, a bounded number of which are open and work."""

    def __init__(self, workers: WarmWorkers[RowsJob], *, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._workers = workers
        self._idle_seconds = idle_seconds
        self._views: dict[RowsFile, _View] = {}
        self._busy = asyncio.Semaphore(_MOST_BUSY)
        self._is_stopping = False

    async def answer(self, rows: RowsFile, question: Question, gone: Callable[[], Awaitable[None]]) -> bytes:
        """Return the answer as JSON.

        `gone` returns when the client has gone away, which ends the work and raises `ClientGone`. Raises `Invalid` for
        a question that cannot be answered, also for lack of time or memory, and `Unavailable` when no process starts.
        """
        answering = asyncio.ensure_future(self._answer(rows, question))
        watching = asyncio.ensure_future(gone())
        try:
            await asyncio.wait((answering, watching), timeout=_ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                return answering.result()
            if watching.done():
                raise ClientGone
            raise Invalid(
                f"this took longer than {_ANSWER_SECONDS:g} s; ask for fewer rows by a condition, or sort by "
                "another column"
            )
        finally:
            for task in (answering, watching):
                task.cancel()
            await asyncio.gather(answering, watching, return_exceptions=True)

    async def stop(self) -> None:
        """End the processes; what they still work at is refused."""
        self._is_stopping = True
        for view in list(self._views.values()):
            await view.close()
        self._views.clear()

    async def _answer(self, rows: RowsFile, question: Question) -> bytes:
        view = self._view(rows)
        async with view.in_use(), self._busy:
            if self._is_stopping:
                raise Unavailable("the service is stopping")
            try:
                if not view.is_open:
                    await view.open(self._workers)
                return await view.exchange(question)
            except _Ended:
                if self._is_stopping:
                    raise Unavailable("the service is stopping") from None
                raise Invalid(_too_much()) from None
            except asyncio.CancelledError:
                await asyncio.shield(view.close())
                raise

    def _view(self, rows: RowsFile) -> _View:
        view = self._views.pop(rows, None)
        if view is None:
            view = _View(rows, self._idle_seconds, self._forget)
        self._views[rows] = view  # the last one in the order of use
        idle = [other for other in self._views.values() if other.is_idle]
        for other in idle[: max(0, len(self._views) - _MOST_OPEN)]:
            if other is not view:
                self._forget(other)
        return view

    def _forget(self, view: _View) -> None:
        if self._views.get(view.rows) is view:
            del self._views[view.rows]
        view.end()


class _Ended(Exception):
    """The process ended in the middle of a question."""


class _View:
    """One result's process."""

    def __init__(self, rows: RowsFile, idle_seconds: float, forget: Callable[[_View], None]) -> None:
        self.rows = rows
        self._idle_seconds = idle_seconds
        self._forget = forget
        self._users = 0
        self._turn = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._process: DurableProcess | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def is_open(self) -> bool:
        """Whether the process takes questions."""
        return self._reader is not None and not self._reader.at_eof()

    @property
    def is_idle(self) -> bool:
        """Whether nobody uses it now."""
        return not self._users

    @contextlib.asynccontextmanager
    async def in_use(self) -> AsyncIterator[None]:
        """Wait for this process's turn; it stays open for some seconds afterwards."""
        self._users += 1
        if self._timer is not None:
            self._timer.cancel()
        try:
            async with self._turn:
                yield
        finally:
            self._users -= 1
            if not self._users:
                self._timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._forget, self)

    async def open(self, workers: WarmWorkers[RowsJob]) -> None:
        """Start the process and wait until it is connected. Raises `Unavailable`."""
        self.end()
        connected: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if connected.done():
                # Left to the garbage collector it would take the reader of whatever has its descriptor by then.
                writer.close()
                return
            self._reader, self._writer = reader, writer
            connected.set_result(None)

        with tempfile.TemporaryDirectory(prefix="svc-rows-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            job = RowsJob(folder, folder / "log", os.fspath(self.rows.path), self.rows.is_text)
            try:
                server = await asyncio.start_unix_server(connect, folder / SOCKET)
                async with server:
                    self._process = await workers.start(job)
                    async with asyncio.timeout(_START_SECONDS):
                        await connected
            except (OSError, TimeoutError) as error:
                raise Unavailable(f"the rows cannot be read now: {error or 'no process answered'}") from error
            finally:
                connected.cancel()

    async def exchange(self, question: Question) -> bytes:
        """Return the process's answer. Raises `_Ended`, `Invalid` and `NotFound`."""
        assert self._reader is not None
        assert self._writer is not None
        try:
            self._writer.write(question.line())
            await self._writer.drain()
            head = json.loads(await self._reader.readuntil(b"\n"))
            body = await self._reader.readexactly(head["size"])
        except (OSError, asyncio.IncompleteReadError):
            self.end()
            raise _Ended from None
        fault = head["fault"]
        if fault is None:
            return body
        if fault == "refused":
            raise Invalid(body.decode())
        self.end()
        if fault == "memory":
            raise Invalid(_too_much())
        if fault == "gone":
            raise NotFound("the result is no longer on the service's disk")
        raise Invalid(f"the rows cannot be read: {body.decode('utf-8', 'replace')}")

    def end(self) -> None:
        """End the process at once."""
        if self._timer is not None:
            self._timer.cancel()
        if self._writer is not None:
            self._writer.close()
        process, self._process, self._reader, self._writer = self._process, None, None, None
        if process is not None and process.is_running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """End the process."""
        self.end()


def _too_much() -> str:
    return (
        f"this needs more than {MEMORY_BYTES >> 20} MiB; ask for fewer rows by a condition, sort by another column, or "
        "read the whole result"
    )
