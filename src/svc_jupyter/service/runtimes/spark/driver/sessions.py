"""The sessions of a server. Each runs one statement at a time; kept ones end when they are idle."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from .driver import Driver
from .files import claim, write_json, write_text
from .processes import Ended, SessionProcess
from .progress import percent
from .reserve import Reserve
from .statement import ERROR_FILE, JOBS_FILE, PROGRESS_FILE, STARTED_FILE, Statement

_LOOK_SECONDS: Final = 0.4
_SOFT_SECONDS: Final = 1.0
_PYTHON_SECONDS: Final = 0.5
"""How long Python code may take to end before its thread in the driver is interrupted, too: an interrupt that meets a
thread without work would end the work of the next statement.
"""
_HARD_SECONDS: Final = 3.0
_ANSWER_SECONDS: Final = 0.5
_END_SECONDS: Final = 5.0
_REMEMBERED: Final = 2000
"""Limit of ended statements that the server remembers."""


class Run:
    """A statement in a session: waiting, running or ended."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.state = "waiting"
        self.version = 0
        self.percent = 0
        self.rows: int | None = None
        self.is_cancelled = False
        self.changed = asyncio.Event()

    def record(self) -> dict[str, Any]:
        """Return its state for a caller."""
        return {"state": self.state, "version": self.version, "percent": self.percent, "rows": self.rows}

    def change(self, **what: Any) -> None:
        """Update the state and wake the waiting callers."""
        for name, value in what.items():
            setattr(self, name, value)
        self.version += 1
        self.changed.set()
        self.changed = asyncio.Event()


class Session:
    """A session and the statements that wait for it."""

    def __init__(self, name: str | None, number: int) -> None:
        self.name = name
        self.number = number
        self.process: SessionProcess | None = None
        self.jvm_session: str | None = None
        self.waiting: deque[Run] = deque()
        self.running: Run | None = None
        self.used_at = time.monotonic()
        self.task: asyncio.Task[None] | None = None


class Sessions:
    """The sessions of a server."""

    def __init__(
        self, driver: Driver, reserve: Reserve, idle_seconds: float, has_driver: Callable[[], bool] = lambda: True
    ) -> None:
        """`reserve` makes their processes. When there is no driver any more, the server is about to end, too."""
        self._has_driver = has_driver
        self._driver = driver
        self._reserve = reserve
        self._idle_seconds = idle_seconds
        self._named: dict[str, Session] = {}
        self._runs: dict[str, Run] = {}
        self._ended: deque[str] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(self, statement: Statement, session: str | None) -> Run:
        """Run a statement in a named session, or in its own; a repeated id returns the first run."""
        known = self._runs.get(statement.id)
        if known is not None:
            return known
        run = self._runs[statement.id] = Run(statement)
        place = self._named.get(session) if session is not None else None
        if place is None:
            place = Session(session, 0)
            if session is not None:
                self._named[session] = place
        place.waiting.append(run)
        if place.task is None or place.task.done():
            place.task = asyncio.create_task(self._serve(place))
            self._tasks.add(place.task)
            place.task.add_done_callback(self._tasks.discard)
        return run

    def run(self, statement_id: str) -> Run | None:
        """Return a statement that runs, waits, or has recently ended."""
        return self._runs.get(statement_id)

    async def cancel(self, statement_id: str) -> bool:
        """End a statement; return whether there was one to end."""
        run = self._runs.get(statement_id)
        if run is None or run.state == "ended":
            return False
        run.is_cancelled = True
        run.change()
        await self._driver.cancel(statement_id)
        return True

    async def end(self, name: str) -> bool:
        """End a named session and what runs in it."""
        session = self._named.pop(name, None)
        if session is None:
            return False
        for run in (*session.waiting, *([session.running] if session.running else [])):
            await self.cancel(run.statement.id)
        session.name = None  # the task that serves the session ends it
        if session.task is None or session.task.done():
            await self._close(session)
        return True

    async def ask(self, name: str, question: dict[str, Any]) -> dict[str, Any] | None:
        """Return a session's answer to a question; None while it runs statements, or when the answer takes long."""
        session = self._named.get(name)
        if session is None or session.running or session.waiting:
            return None
        process = session.process
        if process is None or process.has_ended:
            return None
        session.used_at = time.monotonic()
        with contextlib.suppress(TimeoutError, Ended, OSError):
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await process.ask(question)
        return None

    async def end_idle(self) -> None:
        """End named sessions that have long been idle."""
        now = time.monotonic()
        for name, session in list(self._named.items()):
            if session.running is None and not session.waiting and now - session.used_at > self._idle_seconds:
                await self.end(name)

    def described(self) -> list[dict[str, Any]]:
        """Return the named sessions."""
        now = time.monotonic()
        return [
            {
                "name": name,
                "state": "busy" if session.running else "idle",
                "waiting": len(session.waiting),
                "idle_seconds": 0 if session.running else round(now - session.used_at),
            }
            for name, session in self._named.items()
        ]

    @property
    def running(self) -> int:
        """Return the number of running and waiting statements."""
        return sum(run.state != "ended" for run in self._runs.values())

    async def _serve(self, session: Session) -> None:
        while session.waiting:
            run = session.running = session.waiting.popleft()
            try:
                await self._run(session, run)
            finally:
                session.running = None
                session.used_at = time.monotonic()
                self._remember(run)
        self._reserve.prepare()
        if session.name is None:
            await self._close(session)

    async def _run(self, session: Session, run: Run) -> None:
        try:
            if run.is_cancelled:
                return
            process = await self._ready_process(session)
            if not claim(Path(run.statement.folder) / STARTED_FILE):
                _fail(run.statement, "an earlier session server had begun the program when it ended")
                return
            run.change(state="running")
            watch = asyncio.create_task(self._watch(process, run))
            ended_itself = False
            try:
                await process.run(run.statement, lambda rows: self._rows(run, rows))
                ended_itself = True
            finally:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)
                if process.is_interrupted and not (ended_itself and process.is_intact):
                    await self._replace(session, process)
                process.is_interrupted = False
            await self._note_jobs(run)
        except Ended as ended:
            session.process = None
            if run.state == "running":
                _fail(run.statement, f"the session ended while the program ran: {ended}")
            else:
                _fail(run.statement, f"no session could be made: {ended}; the session server's log says why")
        finally:
            run.change(state="ended")

    async def _replace(self, session: Session, process: SessionProcess) -> None:
        """Discard a process that was interrupted: it lost its link to the driver, where its Scala may still run."""
        session.process = None
        process.signal(signal.SIGKILL)
        await process.end(_END_SECONDS)
        await self._driver.interrupt(process.thread, hard=True)

    def _remember(self, run: Run) -> None:
        self._ended.append(run.statement.id)
        if len(self._ended) > _REMEMBERED:
            self._runs.pop(self._ended.popleft(), None)

    async def _ready_process(self, session: Session) -> SessionProcess:
        """Return the session's process while there is a driver; else wait forever: the next server starts it."""
        try:
            process = await self._process_of(session)
        except Ended:
            await asyncio.sleep(_LOOK_SECONDS)  # it may be the first sign of the driver's end
            if self._has_driver():
                raise
        else:
            if self._has_driver():
                return process
        never: asyncio.Future[SessionProcess] = asyncio.get_running_loop().create_future()
        return await never

    async def _process_of(self, session: Session) -> SessionProcess:
        if session.process is not None and session.process.has_ended:
            dead, session.process = session.process, None
            await dead.end(_END_SECONDS)
        if session.process is None:
            if session.jvm_session is None:
                session.process = await self._reserve.take()
                session.jvm_session = session.process.jvm_session
            else:  # its process died: its views still exist
                session.process = await self._reserve.renewed(session.jvm_session)
        return session.process

    async def _close(self, session: Session) -> None:
        process, session.process = session.process, None
        if process is not None:
            await process.end(_END_SECONDS)
        if session.jvm_session is not None:
            await self._driver.forget(session.jvm_session)

    async def _watch(self, process: SessionProcess, run: Run) -> None:
        """Report the progress of the statement; make sure that it ends when it must."""
        while not run.is_cancelled:
            changed = run.changed
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await changed.wait()
                    continue
            await self._note_jobs(run)
        await asyncio.sleep(_SOFT_SECONDS)  # its jobs are ended: most programs end with them
        process.is_interrupted = True
        process.signal(signal.SIGINT)
        await asyncio.sleep(_PYTHON_SECONDS)
        interrupting = asyncio.create_task(self._driver.interrupt(process.thread, hard=False))
        await asyncio.wait([interrupting], timeout=_HARD_SECONDS)
        if not interrupting.done() or interrupting.exception():
            _log(f"thread {process.thread} could not be interrupted")
        await asyncio.sleep(_HARD_SECONDS)
        process.signal(signal.SIGKILL)
        await self._driver.interrupt(process.thread, hard=True)

    def _rows(self, run: Run, rows: int) -> None:
        run.change(rows=rows)
        _write_progress(run)

    async def _note_jobs(self, run: Run) -> None:
        jobs = await self._driver.jobs(run.statement.id)
        if not jobs:
            return
        with contextlib.suppress(OSError):
            write_json(Path(run.statement.folder) / JOBS_FILE, jobs)
            if (now := percent(jobs)) > run.percent:
                run.change(percent=now)
                _write_progress(run)


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201  the daemon's own log


def _write_progress(run: Run) -> None:
    rows = "" if run.rows is None else f" {run.rows}"
    with contextlib.suppress(OSError):
        write_text(Path(run.statement.folder) / PROGRESS_FILE, f"{run.percent}{rows}\n")


def _fail(statement: Statement, message: str) -> None:
    path = Path(statement.folder) / ERROR_FILE
    if not os.path.exists(path):
        with contextlib.suppress(OSError):
            write_json(path, {"message": message, "line": None, "may_retry": True})
