"""Run one command from a cell: submit it, show progress, read its result, or cancel it on an interrupt.

All calls to the service run in a thread of their own; the cell's thread only waits and writes the progress line. So an
interrupt never breaks a request, and can still cancel a command whose submission is under way.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from svc_jupyter.durations import duration
from svc_jupyter.magics.display.errors import SvcInterrupted, translated_errors
from svc_jupyter.magics.display.failures import Origin, SvcCommandCancelled, SvcCommandFailed, failure_of
from svc_jupyter.magics.display.progress import (
    INTERRUPT_HINT,
    SILENT_SECONDS,
    Line,
    failed_line,
    going_line,
    has_extensions,
    interrupted,
    lost_line,
    outage_line,
    reading_line,
)
from svc_jupyter.magics.display.status import LOG_LINES, STATUS, UNREAD, Use, status_data
from svc_jupyter.magics.session.session import Background, import_tables_meanwhile, tables_imported

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.commands import CommandRecord
    from svc_jupyter.client import Command, Result
    from svc_jupyter.client.commands.waiting import Update

T = TypeVar("T")
REDRAW_SECONDS = 0.25
SUBMIT_GRACE_SECONDS = 5.0
"""How long an interrupt waits for a pending submission, in order to cancel its command."""
CANCEL_GRACE_SECONDS = 15.0
"""How long an interrupt waits for the command to end after its cancellation."""

_LOG_RETRY_SECONDS = 2.0
_FOLDED_LINES = 20
"""The lines of the log that stay below the line of an ended command, folded away."""
_LOG_GRACE_SECONDS = 1.0
"""How long the cell of an ended command waits for the end of the log."""

Value: TypeAlias = "pd.DataFrame | Result"
"""The value of a cell: the rows, or the result of a command that is too large to be loaded."""


@dataclass(frozen=True)
class Reading:
    """The value of a cell, and the stored result whose rows it has; None where it was made of them."""

    value: Value
    result: Result | None = None


Reader = Callable[["Command", int], Reading]
"""Reads the result of a finished command; a result of more than so many bytes is not loaded (0: any is)."""


@dataclass
class Outcome:
    """A cell's result: its value, the stored result that it is, the total time in seconds, and the end of the log."""

    command: Command
    value: Value
    result: Result | None
    seconds: float
    log: Sequence[str]


@dataclass
class Run:
    """The run of a command in a cell.

    `start` submits it, or returns an existing one. An interrupt cancels it unless `cancels` is False.
    """

    start: Callable[[], Command]
    read: Reader
    origin: Origin
    line: Line
    limit: int = 0
    """The bytes up to which a result is loaded; 0 is no limit."""
    use: Use = field(default_factory=Use)
    cancels: bool = True
    before: str = "connecting"
    """The progress text before there is a command; `start` may change it."""
    command: Command | None = None
    _update: Update | None = None
    _glimpsed: CommandRecord | None = None
    _stopped: bool = False
    _reading: bool = False
    _started: float = field(default_factory=time.monotonic)
    _known: threading.Event = field(default_factory=threading.Event)
    _drawn: bool = False
    _log: Sequence[str] = ()
    _end_of_log: Sequence[str] | None = None
    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def stopped(self) -> bool:
        """Whether the cell was interrupted; a waiting `start` must then give up."""
        return self._stopped

    def to_value(self) -> Outcome:
        """Return the command's result as a DataFrame, or unloaded if it is larger than the limit.

        Raises SvcCommandFailed, SvcCommandCancelled, SvcServiceError, or SvcInterrupted.
        """
        import_tables_meanwhile()
        reading = self._attend(self._to_value)
        return Outcome(self._the_command(), reading.value, reading.result, self._seconds(), self.log)

    def to_end(self) -> None:
        """Wait until the command has ended; raises what `to_value` raises."""
        self._attend(self._to_end)

    def submitted(self) -> Command:
        """Return the command as soon as it is submitted."""
        self._attend(self._submit)
        return self._the_command()

    @property
    def seconds(self) -> float:
        """Return the elapsed time in seconds."""
        return self._seconds()

    @property
    def log(self) -> Sequence[str]:
        """Return the end of the log, if the cell has shown progress, and how to see the rest."""
        lines = self._log if self._end_of_log is None else self._end_of_log
        if len(lines) <= _FOLDED_LINES:
            return lines
        return [f"… all of it: %svc_command {self._the_command().id} logs", *lines[-_FOLDED_LINES:]]

    def _the_command(self) -> Command:
        assert self.command is not None
        return self.command

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    # Below: the worker thread.

    def _submit(self) -> None:
        with translated_errors():
            command = self.start()
        self.command = command
        self._known.set()
        if self._stopped and self.cancels:
            command.cancel()

    def _to_end(self) -> Command:
        from svc_jupyter.client.errors import CommandEnded

        self._submit()
        command = self._the_command()
        with translated_errors():
            try:
                command.wait(on_update=self._note if self.line.animates else None)
            except CommandEnded as ended:
                failure = failure_of(ended, command, self.origin, self._seconds())
                self._read_end_of_log()
                raise failure from ended
        self._read_end_of_log()
        return command

    def _to_value(self) -> Reading:
        command = self._to_end()
        self._reading = True
        tables_imported()
        with translated_errors():
            return self.read(command, self.limit)

    def _note(self, update: Update) -> None:
        self._update = update

    def _glance(self) -> None:
        """Fetch the record once soon after submission: the wait itself reports only after a second."""
        from svc_jupyter.client.errors import SvcError

        if self.command is None or self._update is not None:
            return
        seen = copy.copy(self.command)
        try:
            self._glimpsed = seen.refresh().record
        except SvcError:
            return  # the wait meets the same problem and reports it

    def _follow_log(self) -> None:
        """Keep the last lines of the log until the cell is over; the display takes the latest when it is drawn."""
        from svc_jupyter.client.errors import SvcError

        while not self._over.is_set() and not self._known.wait(REDRAW_SECONDS):
            pass
        while not self._over.is_set() and self.command is not None and not self.command.ended:
            try:
                for lines in copy.copy(self.command).log_tails(_FOLDED_LINES + 1):
                    self._log = lines
                    if self._over.is_set():
                        return
            except SvcError:
                time.sleep(_LOG_RETRY_SECONDS)  # the wait meets the same problem and reports it
            else:
                return

    def _read_end_of_log(self) -> None:
        """Read the end of the log, if the cell has shown progress; without it, the lines that were shown last count."""
        from svc_jupyter.client.commands.following import lines_of_tail
        from svc_jupyter.client.errors import SvcError

        command = copy.copy(self._the_command())
        if not self._drawn or not has_extensions(command.record):  # another service may send all of a long log
            return
        reading = Background(lambda: command.log_tail(_FOLDED_LINES + 1), "end of log").start()
        if reading.wait(_LOG_GRACE_SECONDS):
            with suppress(SvcError):
                self._end_of_log = lines_of_tail(reading.outcome(), _FOLDED_LINES + 1)

    # Below: the cell's thread.

    def _attend(self, call: Callable[[], T]) -> T:
        """Make a call in the worker thread while the progress line is updated; return its result."""
        work: Background[T] | None = None
        try:
            work = Background(call, "command")
            work.start()
            if not work.wait(SILENT_SECONDS):
                self._watch(work)
            return work.outcome()
        except KeyboardInterrupt:
            raise self._interrupted(work) from None
        except SvcCommandFailed as error:
            self._show_failure(error)
            raise
        except Exception:
            if self._drawn and self.command is not None:
                self.line.finish(lost_line(self.command.id, reading=self._reading), self._data(self.command.record))
            raise
        finally:
            self._over.set()

    def _show_failure(self, error: SvcCommandFailed) -> None:
        """Show that the command ended, with its links; the cell's error says why."""
        if not self.line.shows_failures or self.command is None:
            self.line.clear()
            return
        cancelled = isinstance(error, SvcCommandCancelled)
        data = self._data(self.command.record, self._seconds())
        self.line.finish(failed_line(self.command.id, error.failure.what, cancelled=cancelled), data, self.log)

    def _data(self, record: CommandRecord, seconds: float | None = None) -> dict[str, Any]:
        """Return the status for JupyterLab, which follows a command itself once the kernel is silent."""
        status = UNREAD if self._reading else str(record.status)
        return {STATUS: status_data(record, status, seconds, use=self.use)}

    def _watch(self, work: Background[Any]) -> None:
        if not self.line.animates:
            work.wait()
            return
        Background(self._follow_log, "log").start()
        Background(self._glance, "glance").start().wait(REDRAW_SECONDS)
        while not work.wait(0 if not self._drawn else REDRAW_SECONDS):
            self._draw()

    def _draw(self) -> None:
        self._drawn = True
        record = self._latest()
        data = None if record is None else self._data(record)
        self.line.replace(self._progress(), () if self._reading else self._log[-LOG_LINES:], data)

    def _progress(self) -> str:
        record = self._latest()
        if record is not None and self._reading:
            return reading_line(record, self._seconds())
        if record is not None and self._update is not None and self._update.problem:
            return outage_line(record, self._update.outage, self._update.problem)
        hint = INTERRUPT_HINT if self.cancels else "interrupt to stop waiting"
        return going_line(record, self._seconds(), hint, self.before)

    def _latest(self) -> CommandRecord | None:
        if self.command is None or self._update is not None or self._glimpsed is None:
            return self.command.record if self.command else None
        return self._glimpsed

    def _interrupted(self, work: Background[Any] | None) -> SvcInterrupted:
        """Handle an interrupt and return the error that describes the outcome."""
        seconds = duration(self._seconds())
        try:
            what = self._stop(work, seconds)
        except KeyboardInterrupt:
            what = f"interrupted twice after {seconds}, no longer waited for{self._hint('cancel')}"
        text = f"{f'command {self.command.id}' if self.command else 'no command'} · {what}"
        return interrupted(self.line, text, self._data(self.command.record) if self.command else None, self.log)

    def _stop(self, work: Background[Any] | None, seconds: str) -> str:
        self._stopped = True
        if work is None:
            return f"interrupted after {seconds}"
        if self._reading:
            return f"interrupted while its result was read{self._hint('result')}"
        if not self.cancels:
            return f"no longer waited for; it goes on{self._hint('status')}"
        if not self._known.wait(SUBMIT_GRACE_SECONDS) or self.command is None:
            return f"interrupted after {seconds} before a command was submitted; one that still is will be cancelled"
        problem = self._cancel(self.command)
        if problem:
            return f"could not be cancelled: {problem}{self._hint('cancel')}"
        work.wait(CANCEL_GRACE_SECONDS)
        return self._what_became_of(self.command, seconds)

    def _cancel(self, command: Command) -> str | None:
        """Request the command's cancellation; return the failure, or None."""
        from svc_jupyter.client.errors import SvcError

        cancellation = Background(command.cancel, "cancellation").start()
        if not cancellation.wait(CANCEL_GRACE_SECONDS):
            return "the service does not answer"
        try:
            cancellation.outcome()
        except SvcError as error:
            return error.message
        return None

    def _what_became_of(self, command: Command, seconds: str) -> str:
        status = str(command.record.status)
        if status == "cancelled":
            return f"cancelled by interrupt after {seconds}"
        if command.ended:
            return f"had ended ({status}) before the interrupt could cancel it{self._hint('result')}"
        return f"asked to cancel after {seconds}, has not ended yet{self._hint('status')}"

    def _hint(self, action: str) -> str:
        return f" · %svc_command {self.command.id} {action}" if self.command else ""
