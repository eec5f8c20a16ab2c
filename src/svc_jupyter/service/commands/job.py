"""A running command on the replica that owns it: its attempts, its process, and how it ends."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import structlog

from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.fields import DEFAULT_TIMEOUT_SECONDS
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.commands import logs
from svc_jupyter.service.commands.children import Children, Share, in_a_line
from svc_jupyter.service.commands.ends import StopReason
from svc_jupyter.service.commands.kind import Kind, Outcome, RemoteKind, Task
from svc_jupyter.service.commands.record import Live
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.database.errors import translated
from svc_jupyter.service.ground import background
from svc_jupyter.service.ground.clock import exact_time
from svc_jupyter.service.ground.errors import DatabaseAway
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.macros.macros import MacroError, substitute
from svc_jupyter.service.processes.durable_process import DurableProcess

Values = Mapping[str, Any]
Result = TypeVar("Result")
_DEFAULT_RETRY_DELAY_MINUTES = 1
log = structlog.get_logger(__name__)


class Job:
    """One command from its claim to its final status; also the `Desk` of its kind."""

    def __init__(
        self,
        row: CommandRow,
        kind: Kind,
        settings: Settings,
        *,
        root: Path,
        note: Callable[[Values], Awaitable[None]],
        on_progress: Callable[[], None],
        children: Children | None = None,
    ) -> None:
        """`children` manages the children of composites; without it only kinds with a process can run."""
        assert row.start_time is not None
        self.id: int = row.id
        self._start_time = row.start_time
        self.row = row
        self.root = root
        self._kind = kind
        self._settings = settings
        self._note = note
        self._on_progress = on_progress
        self._children = children
        self._child: Share | None = None
        self._attempts: list[dict[str, Any]] = list(row.attempts or [])
        self._next_attempt_at: float | None = row.next_attempt_at
        self._attempt_start = row.next_attempt_at or self._start_time
        self._process: DurableProcess | None = None
        self._is_new = False
        self._work: asyncio.Task[Outcome | None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._stop_reason: StopReason | None = None
        self._stop_detail = ""
        self._last_progress = (row.progress, row.result_rows)
        self._message: str | None = None

    @property
    def live(self) -> Live:
        """The command's current state that is not in the database."""
        progress, rows = self._last_progress
        return Live(pid=self._pid, progress=progress, rows=rows, message=self._message)

    @property
    def _pid(self) -> int | None:
        """The process number, None where there is no process or its number is unknown."""
        return (self._process.pid or None) if self._process is not None else None

    def kill_in_seconds(self, now: float) -> float:
        """Return the seconds until the check at which the command's timeout has passed.

        Checks are at whole multiples of the interval after the start.
        """
        timeout = self.row.timeout or DEFAULT_TIMEOUT_SECONDS
        interval = self._settings.timeout_check_seconds
        check = math.ceil(timeout / interval) * interval
        return max(0.0, self._start_time + check - now)

    async def run(self) -> Values:
        """Run attempts until one is final; return the final values of the command's row."""
        while True:
            outcome = await self._interruptible(self._one_attempt)
            if self._stop_reason is not None:
                return self._final_when_stopped(outcome)
            assert outcome is not None
            if outcome.succeeded or not outcome.may_retry or len(self._attempts) >= self.row.retry:
                return self._final(outcome)
            await self._plan_retry(outcome)

    def stop(self, reason: StopReason, detail: str = "") -> None:
        """End the command for a reason, with an optional detail; the first reason is kept."""
        if self._stop_reason is not None:
            return
        self._stop_reason, self._stop_detail = reason, detail
        self.say(f"stopping: {self._stop_text()}")
        if self._process is not None:
            self._stopping = asyncio.create_task(self._end_process(self._process))
        elif self._child is not None:
            self._child.end()
        elif self._work is not None:
            self._work.cancel()

    # The kind's view (kind.Desk).

    def say(self, line: str) -> None:
        """Append a line of the service to the command's log."""
        self._message = line
        try:
            logs.append_line(self.root / "log", line)
        except OSError as error:
            log.warning("log_not_written", command_id=self.id, reason=error.strerror)

    def progress(self, percent: int, rows: int | None = None) -> None:
        """Report the progress; 100 is reserved for the end."""
        self._last_progress = (min(99, max(0, percent)), rows)
        self._on_progress()

    async def process(self, start: Callable[[], Awaitable[DurableProcess]]) -> DurableProcess:
        """Return the attempt's process, found again or newly started."""
        if self._process is None:
            found = None if self._is_new else DurableProcess.adopt(self.root / str(len(self._attempts) + 1))
            self._process = found or await start()
        return self._process

    async def child(self, number: int, *, of: int) -> CommandRow:
        """Run a sub-command to its end; return its row."""
        if self._stop_reason is not None:
            raise asyncio.CancelledError  # stopped between two sub-commands
        assert self._children is not None
        self._child = share = Share(number, of, self._children)
        try:
            begun = await self._children.begin(self.row, number, share, self.say)
            place = f"sub-command {number} of {of} ({begun.row.command_type})"
            if begun.is_new:
                self.say(f"{place} runs as command {begun.row.id}")
            share.has_begun(begun.row.id)
            row = await self._children.end_of(begun.row.id)
            if begun.is_new or begun.row.end_time is None:
                self.say(f"{place}, command {row.id}: {in_a_line(row)}")
        finally:
            self._child = None
        if row.status == CommandStatus.DONE:
            self.progress(100 * number // of)
        return row

    def child_progressed(self, percent: int) -> None:
        """Include the progress of the running sub-command."""
        if self._child is not None:
            self.progress(self._child.percent(percent))

    async def _one_attempt(self) -> Outcome:
        if self._next_attempt_at is not None:
            await asyncio.sleep(max(0.0, self._next_attempt_at - time.time()))
            self._next_attempt_at = None
        self._message = None
        try:
            task = self._task()
            self._is_new = _made_folders(task)
            outcome = await self._with_database(partial(self._kind.run, task, self))
        except OSError as error:
            return Outcome(False, f"could not be run: {error.strerror or error}")
        except MacroError as error:
            return Outcome(False, f"could not be run: {error}", may_retry=False)
        except Exception:
            log.exception("kind_failed", command_id=self.id, command_type=self.row.command_type)
            return Outcome(False, "could not be run: an error of the service itself; its log has the details")
        if self._process is not None and self._process.ended_leftovers:
            self.say("processes that the command left running were ended with it")
        return outcome

    async def _with_database(self, step: Callable[[], Awaitable[Result]]) -> Result:
        """Return the result of a step of the kind; while the database is away it is repeated, as after a restart."""
        is_said = False
        while True:
            try:
                return await step()
            except Exception as error:
                if not isinstance(translated(error), DatabaseAway):
                    raise
                self._is_new = False
                if not is_said:
                    self.say("the service's database is away: waiting for it")
                    is_said = True
                await asyncio.sleep(background.RETRY_SECONDS)

    def _task(self) -> Task:
        return Task(
            id=self.id,
            account_id=self.row.account_id,
            user_id=self.row.user_id,
            edited_by=self.row.edited_by,
            attempt=len(self._attempts) + 1,
            command=substitute(self.row.command, self.row.resolved_macros or []),
            root=self.root,
            environment={"SVC_COMMAND_ID": str(self.id)},
            label=self.row.label,
            pool=self.row.pool,
            cluster_id=self.row.cluster_id,
            macros=self.row.resolved_macros or (),
        )

    async def _interruptible(self, step: Callable[[], Awaitable[Outcome]]) -> Outcome | None:
        """Run a step that `stop` can cancel; None when it was cancelled."""
        if self._stop_reason is not None and self._process is None:
            await self._end_what_was_begun()
            return None
        self._work = asyncio.ensure_future(step())
        try:
            return await self._work
        except asyncio.CancelledError:
            if self._stop_reason is None:
                raise  # the service stops: the process continues and is found again
            if self._process is None:
                await self._end_what_was_begun()  # stopped before the process was found again
            return None
        finally:
            if self._stopping is not None:
                await self._stopping
            self._work = None

    async def _end_what_was_begun(self) -> None:
        """End remote work, and what an earlier service left running if the stop came before it was found again."""
        await self._end_remote()
        adopted = DurableProcess.adopt(self.root / str(len(self._attempts) + 1))
        if adopted is not None:
            await adopted.stop(self._settings.kill_grace_seconds)
        if self._children is not None and self.row.command_type == CommandType.COMPOSITE:
            await self._children.end_all(self.id)

    async def _end_process(self, process: DurableProcess) -> None:
        await process.stop(self._settings.kill_grace_seconds)
        await self._end_remote()

    async def _end_remote(self) -> None:
        """End the attempt's remote work; a failure must not keep the command from ending."""
        if not isinstance(self._kind, RemoteKind):
            return
        try:
            await self._with_database(partial(self._kind.end_remote, self._task()))
        except Exception as error:
            log.exception("remote_not_ended", command_id=self.id)
            self.say(f"what it began on the cluster could not be ended: {error}")

    async def _plan_retry(self, outcome: Outcome) -> None:
        delay = self.row.retry_delay
        minutes = _DEFAULT_RETRY_DELAY_MINUTES if delay is None else delay
        now = time.time()
        self._attempts.append(self._attempt_record(outcome, now))
        self._process = None
        self._next_attempt_at = self._attempt_start = now + 60 * minutes
        self.say(
            f"attempt {len(self._attempts)} failed: {outcome.message}; "
            f"retry {len(self._attempts)} of {self.row.retry} in {minutes} min"
        )
        await self._note({"attempts": list(self._attempts), "next_attempt_at": self._next_attempt_at})

    def _attempt_record(self, outcome: Outcome, now: float) -> dict[str, Any]:
        return {
            "number": len(self._attempts) + 1,
            "start_time": int(self._attempt_start),
            "end_time": int(now),
            "started_at": exact_time(self._attempt_start),
            "ended_at": exact_time(now),
            "exit_code": outcome.exit_code,
            "message": _storable(outcome.message),
        }

    def _final(self, outcome: Outcome) -> Values:
        result = outcome.result
        for line in () if result is None else result.notes:
            self.say(line)
        return {
            "status": CommandStatus.DONE if outcome.succeeded else CommandStatus.ERROR,
            "progress": 100 if outcome.succeeded else self._last_progress[0],
            "message": _storable(outcome.message),
            "result": None if result is None else result.as_json(),
            "result_rows": None if result is None else result.rows,
            "outputs": None if outcome.outputs is None else dict(outcome.outputs),
            **self._ending(outcome),
        }

    def _final_when_stopped(self, outcome: Outcome | None) -> Values:
        cancelled = self._stop_reason not in (StopReason.TIMEOUT, StopReason.CLUSTER)
        if outcome is not None and outcome.succeeded:
            return self._final(outcome)  # it succeeded before the stop took effect
        ended = outcome or Outcome(False)
        return {
            "status": CommandStatus.CANCELLED if cancelled else CommandStatus.ERROR,
            "progress": self._last_progress[0],
            "message": self._stop_text(),
            **self._ending(Outcome(False, self._stop_text(), ended.exit_code)),
        }

    def _ending(self, outcome: Outcome) -> dict[str, Any]:
        now = time.time()
        begun = self._next_attempt_at is None or self._next_attempt_at <= now
        return {
            "end_time": now,
            "next_attempt_at": None,
            "attempts": [*self._attempts, self._attempt_record(outcome, now)] if begun else self._attempts,
            "pid": self._pid,
        }

    def _stop_text(self) -> str:
        if self._stop_reason is StopReason.TIMEOUT:
            timeout = self.row.timeout or DEFAULT_TIMEOUT_SECONDS
            every = self._settings.timeout_check_seconds
            return f"timed out: ran longer than its {timeout} s (checked every {every:g} s)"
        if self._stop_reason is StopReason.COMPOSITE:
            return f"ended with its composite command {self.row.parent_id}"
        return self._stop_detail or "cancelled"


def _made_folders(task: Task) -> bool:
    """Make the folders of an attempt; return whether the attempt had none and so cannot have started."""
    _made(task.root)
    is_new = _made(task.folder)
    _made(task.working_folder)
    return is_new


def _made(folder: Path) -> bool:
    """Make a folder with its parents; return False when it existed."""
    try:
        os.mkdir(folder, mode=0o700)
    except FileExistsError:
        return False
    except FileNotFoundError:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    return True


def _storable(text: str | None) -> str | None:
    """Return a message that every database can store, without NUL characters and invalid Unicode."""
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
