"""Handles of commands: what `submit` and `get` return."""
# Made from asynchronous/handles.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from io import StringIO
from typing import Literal, overload

import httpx

from svc_jupyter.api.commands import CancelAnswer, CommandRecord
from svc_jupyter.api.events import LogPart
from svc_jupyter.api.sessions import CellMessages, Completions, Inspection, SessionEnd
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.blocking.results import Result
from svc_jupyter.client.commands.composites import sub_command, sub_commands
from svc_jupyter.client.commands.following import (
    BEYOND_THE_END,
    FLOOD_SECONDS,
    LiveTail,
    LogReading,
    Tail,
    events_unavailable,
    start_of_tail,
)
from svc_jupyter.client.commands.outputs import NOTEBOOK, PAGE, check_table, executed_notebook, number_of_dump
from svc_jupyter.client.commands.tracking import Tracked, refresh
from svc_jupyter.client.commands.waiting import OnUpdate, Outage, failure, learn_the_end, until_ended
from svc_jupyter.client.conversations.commands import CommandFlows
from svc_jupyter.client.errors import ConnectionFailed, StatusError
from svc_jupyter.client.transport.calls import connection_failed


class Command(Tracked):
    """A submitted command. `id`, `record` and `ended` are the last known values; the methods ask the service."""

    def __init__(self, performer: Performer, record: CommandRecord) -> None:
        super().__init__(performer.link, record)
        self._performer = performer

    def refresh(self) -> Command:
        """Fetch the current record."""
        self._performer.run(refresh(self))
        return self

    def status(self) -> CommandStatus:
        """Return the current status; a final status is not fetched again."""
        if not self.ended:
            self.refresh()
        return self.record.status

    def wait(
        self,
        timeout: float | None = None,
        on_update: OnUpdate | None = None,
    ) -> Command:
        """Wait until the command is done, without a limit by default, and return this handle.

        `on_update` is called with an `Update` about every second. The wait survives restarts of the service. Raises
        CommandFailed, CommandCancelled, or WaitTimeout after `timeout` seconds (the command continues).
        """
        self._performer.run(until_ended(self, timeout, on_update))
        if self.record.status is CommandStatus.DONE:
            return self
        self._performer.run(learn_the_end(self))
        error = failure(self, None if self.reason else self._last_log_line())
        error.command = self
        raise error

    def result(self, timeout: float | None = None) -> Result:
        """Wait for the end and return the result; raises what `wait` raises."""
        self.wait(timeout)
        return Result(self._performer, self)

    def sub_commands(self) -> list[CommandRecord]:
        """Return the records of a composite's sub-commands that have started, in order.

        The list is empty when the service lacks the extension.
        """
        return self._performer.run(sub_commands(self))

    def sub_result(self, number: int | None = None) -> Result:
        """Wait for a composite's end and return the result of a sub-command, counted from 1.

        Without `number`, of the last one that has rows. Raises what `wait` raises, and ResultUnavailable.
        """
        self.wait()
        child, sequence_number = self._performer.run(sub_command(self, number))
        return Result(self._performer, child, sequence_number=sequence_number)

    def dump(self, wanted: str | int) -> Result:
        """Wait for a Pig command's end and return the rows of a DUMP.

        `wanted` is an alias, for its last DUMP, or a number, from 1. Raises what `wait` raises, and ResultUnavailable
        with the list of existing dumps.
        """
        self.wait()
        return Result(self._performer, self, dump=number_of_dump(self, wanted))

    def table(self, number: int) -> Result:
        """Wait for a note's run to end and return the rows of a TABLE, counted from 1.

        Raises what `wait` raises, and ResultUnavailable when there is no such table.
        """
        self.wait()
        check_table(self, number)
        return Result(self._performer, self, table=number)

    def executed_notebook(self) -> str:
        """Return the notebook that the command runs, with its outputs so far, as the JSON text of a notebook file.

        Also available after a failure. Raises ResultUnavailable for other commands and when the service keeps none.
        """
        return self._performer.run(executed_notebook(self, NOTEBOOK))

    def executed_page(self) -> str:
        """Return the executed notebook as an HTML page."""
        return self._performer.run(executed_notebook(self, PAGE))

    @overload
    def logs(self, *, follow: Literal[False] = False) -> str: ...
    @overload
    def logs(self, *, follow: Literal[True]) -> Iterator[str]: ...
    def logs(self, *, follow: bool = False) -> str | Iterator[str]:
        """Return the log so far; with `follow`, iterate over its text until the command ends.

        The iterator uses constant memory for a log of any length.
        """
        return self._follow() if follow else log_text(self._performer, LogReading(self.id))

    def log_part(self, offset: int = 0) -> LogPart:
        """Return the log from byte `offset` on; `end` is the next offset."""
        return log_part(self._performer, self.id, offset)

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the log, at most 64 KiB of them."""
        tail, reading = Tail(lines), self._reading_of_tail()
        for text in poll_log(self._performer, reading):
            tail.take(text)
        tail.take(reading.finish())
        return tail.text()

    def messages(self, offset: int = 0) -> CellMessages:
        """Return what a cell (`cell=…` of a Spark command) has printed and shown, from byte `offset` on."""
        return self._performer.run(CommandFlows(self._link).messages(self.id, offset))

    def complete(self, code: str, cursor: int, language: str = "python") -> Completions:
        """Return completions at the cursor from the kept session of the command; none while the session is busy."""
        return self._performer.run(CommandFlows(self._link).completions(self.id, code, cursor, language))

    def inspect(self, code: str, cursor: int, language: str = "python") -> Inspection:
        """Return the description of the name at the cursor, from the kept session of the command."""
        return self._performer.run(CommandFlows(self._link).inspection(self.id, code, cursor, language))

    def end_session(self) -> SessionEnd:
        """End the kept session of the command, and what runs in it."""
        return self._performer.run(CommandFlows(self._link).end_session(self.id))

    def log_tails(self, lines: int = 5) -> Iterator[list[str]]:
        """Iterate over the last lines of the log, as they change, until the command ends.

        Uses constant memory and reads at most about 1 MB a second: of a faster log it skips parts. It ends early when
        the service cannot send a long log in parts. A broken connection raises.
        """
        tail, reading = LiveTail(lines), self._reading_of_tail()
        while not reading.ended:
            by_events = self._link.extended and not reading.events_are_missing
            parts = self._events(reading) if by_events else poll_log(self._performer, reading)
            try:
                with closing(parts):  # type: ignore[type-var]
                    for text in parts:
                        tail.take(text)
                        yield tail.lines()
                        if tail.is_flooded:
                            break
            except StatusError as error:
                if not (by_events and events_unavailable(error)):
                    raise
                reading.events_are_missing = True
                continue
            if tail.is_flooded:
                if not self._link.extended:
                    return
                time.sleep(FLOOD_SECONDS)
                tail.skip()
                reading = self._reading_of_tail()
            elif not reading.ended:
                yield tail.lines()
                time.sleep(reading.pause_between_polls())

    def _reading_of_tail(self) -> LogReading:
        at_end = LogReading(self.id, BEYOND_THE_END)
        if self._link.extended:
            log_text(self._performer, at_end)
        return LogReading(self.id, start_of_tail(at_end.length))

    def cancel(self) -> CancelAnswer:
        """Request cancellation; the answer says whether it took effect."""
        return self._performer.run(CommandFlows(self._link).cancel(self.id))

    def _last_log_line(self) -> str | None:
        try:
            return self.log_tail(1)
        except (ConnectionFailed, StatusError):
            return None  # only adds detail to a known end

    def _events(self, reading: LogReading) -> Iterator[str]:
        from httpx_sse import EventSource

        response = self._performer.open(reading.events_call())
        try:
            if not reading.has_events(response.headers):
                return
            for event in EventSource(response).iter_sse():
                if text := reading.take_event(event):
                    yield text
                if reading.ended:
                    return
        except httpx.RequestError as error:
            raise connection_failed(self._link, error) from error
        finally:
            response.close()

    def _follow(self) -> Iterator[str]:
        reading = LogReading(self.id)
        outage = Outage(self._link.retries)
        while not reading.ended:
            by_events = self._link.extended and not reading.events_are_missing
            try:
                if by_events:
                    parts = self._events(reading)
                else:
                    reading.ended = (self.status()).is_final  # checked before the log is read
                    parts = poll_log(self._performer, reading)
                with closing(parts):  # type: ignore[type-var]
                    yield from parts
            except (ConnectionFailed, StatusError) as error:
                reading.ended = False
                if reading.answered:  # before the connection broke: this is a new outage
                    outage.over()
                    reading.answered = False
                if by_events and events_unavailable(error):
                    reading.events_are_missing = True
                else:
                    time.sleep(outage.pause(error))
            else:
                if not reading.ended:  # polling, or the service closed the stream because it is stopping
                    time.sleep(reading.pause_between_polls())
        if rest := reading.finish():
            yield rest


def poll_log(performer: Performer, reading: LogReading) -> Iterator[str]:
    """Yield the text that was added to a log. Raises ConnectionFailed when the connection breaks."""
    response = performer.open(reading.poll_call())
    try:
        reading.begin_poll(response.headers)
        for data in response.iter_bytes():
            if text := reading.take_bytes(data):
                yield text
        reading.end_poll()
    except httpx.RequestError as error:
        raise connection_failed(performer.link, error) from error
    finally:
        response.close()


def log_text(performer: Performer, reading: LogReading) -> str:
    """Return the text that was added to a log, including an incomplete last character."""
    whole = StringIO()
    for text in poll_log(performer, reading):
        whole.write(text)
    whole.write(reading.finish())
    return whole.getvalue()


def log_part(performer: Performer, command_id: int, offset: int) -> LogPart:
    """Return a command's log from byte `offset` on."""
    reading = LogReading(command_id, offset)
    text = log_text(performer, reading)
    return LogPart(offset=offset, end=reading.offset, text=text)
