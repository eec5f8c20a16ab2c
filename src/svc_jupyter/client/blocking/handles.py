"""Handles of commands: what `submit` and `get` return."""
# Made from asynchronous/handles.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Literal, overload

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CancelAnswer, CommandList, CommandRecord, StatusWithResults
from svc_jupyter.api.events import LogPart
from svc_jupyter.api.sessions import CellMessages, Completions, Inspection, SessionEnd
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.client.blocking.logs import log_events, log_part, log_text, poll_log, reading_of_tail
from svc_jupyter.client.blocking.results import Result
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.commands.composites import check_number, sub_command, sub_commands_call, sub_commands_in
from svc_jupyter.client.commands.following import FLOOD_SECONDS, LiveTail, LogReading, Tail, events_unavailable
from svc_jupyter.client.commands.outputs import NOTEBOOK, PAGE, check_table, executed_call, number_of_dump
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.commands.waiting import OnUpdate, Outage, Wait, failure
from svc_jupyter.client.errors import ConnectionFailed, ResultUnavailable, StatusError
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.retries import NO_RETRIES, Retries


class Command(Tracked):
    """A submitted command. `id`, `record` and `ended` are the last known values; the methods ask the service."""

    def __init__(self, sender: Sender, record: CommandRecord) -> None:
        super().__init__(sender.link, record)
        self._sender = sender

    def refresh(self) -> Command:
        """Fetch the current record."""
        self._look()
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
        self._until_ended(timeout, on_update)
        if self.record.status is CommandStatus.DONE:
            return self
        with suppress(ConnectionFailed, StatusError):  # only adds detail to a known end
            self._look()
        error = failure(self, None if self.reason else self._last_log_line())
        error.command = self
        raise error

    def result(self, timeout: float | None = None) -> Result:
        """Wait for the end and return the result; raises what `wait` raises."""
        self.wait(timeout)
        return Result(self._sender, self)

    def sub_commands(self) -> list[CommandRecord]:
        """Return the records of a composite's sub-commands that have started, in order.

        The list is empty when the service lacks the extension.
        """
        if not self._link.extended:
            return []
        return sub_commands_in(self._sender.fetch(sub_commands_call(self), CommandList), self)

    def sub_result(self, number: int | None = None) -> Result:
        """Wait for a composite's end and return the result of a sub-command, counted from 1.

        Without `number`, of the last one that has rows. Raises what `wait` raises, and ResultUnavailable.
        """
        self.wait()
        check_number(self, number)
        child, sequence_number = sub_command(self, self.sub_commands(), number)
        return Result(self._sender, child, sequence_number=sequence_number)

    def dump(self, wanted: str | int) -> Result:
        """Wait for a Pig command's end and return the rows of a DUMP.

        `wanted` is an alias, for its last DUMP, or a number, from 1. Raises what `wait` raises, and ResultUnavailable
        with the list of existing dumps.
        """
        self.wait()
        return Result(self._sender, self, dump=number_of_dump(self, wanted))

    def table(self, number: int) -> Result:
        """Wait for a note's run to end and return the rows of a TABLE, counted from 1.

        Raises what `wait` raises, and ResultUnavailable when there is no such table.
        """
        self.wait()
        check_table(self, number)
        return Result(self._sender, self, table=number)

    def executed_notebook(self) -> str:
        """Return the notebook that the command runs, with its outputs so far, as the JSON text of a notebook file.

        Also available after a failure. Raises ResultUnavailable for other commands and when the service keeps none.
        """
        return self._executed(NOTEBOOK)

    def executed_page(self) -> str:
        """Return the executed notebook as an HTML page."""
        return self._executed(PAGE)

    @overload
    def logs(self, *, follow: Literal[False] = False) -> str: ...
    @overload
    def logs(self, *, follow: Literal[True]) -> Iterator[str]: ...
    def logs(self, *, follow: bool = False) -> str | Iterator[str]:
        """Return the log so far; with `follow`, iterate over its text until the command ends.

        The iterator uses constant memory for a log of any length.
        """
        return self._follow() if follow else log_text(self._sender, LogReading(self.id))

    def log_part(self, offset: int = 0) -> LogPart:
        """Return the log from byte `offset` on; `end` is the next offset."""
        return log_part(self._sender, self.id, offset)

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the log, at most 64 KiB of them."""
        tail, reading = Tail(lines), reading_of_tail(self._sender, self.id)
        for text in poll_log(self._sender, reading):
            tail.take(text)
        tail.take(reading.finish())
        return tail.text()

    def messages(self, offset: int = 0) -> CellMessages:
        """Return what a cell (`cell=…` of a Spark command) has printed and shown, from byte `offset` on."""
        call = Call("GET", paths.command(self.id, "messages"), {"offset": offset})
        return self._sender.fetch(call, CellMessages)

    def complete(self, code: str, cursor: int, language: str = "python") -> Completions:
        """Return completions at the cursor from the kept session of the command; none while the session is busy."""
        body = {"code": code, "cursor": cursor, "language": language}
        call = Call("POST", paths.command(self.id, "session/completions"), body=body)
        return self._sender.fetch(call, Completions)

    def inspect(self, code: str, cursor: int, language: str = "python") -> Inspection:
        """Return the description of the name at the cursor, from the kept session of the command."""
        body = {"code": code, "cursor": cursor, "language": language}
        call = Call("POST", paths.command(self.id, "session/inspections"), body=body)
        return self._sender.fetch(call, Inspection)

    def end_session(self) -> SessionEnd:
        """End the kept session of the command, and what runs in it."""
        return self._sender.fetch(Call("DELETE", paths.command(self.id, "session")), SessionEnd)

    def log_tails(self, lines: int = 5) -> Iterator[list[str]]:
        """Iterate over the last lines of the log, as they change, until the command ends.

        Uses constant memory and reads at most about 1 MB a second: of a faster log it skips parts. It ends early when
        the service cannot send a long log in parts. A broken connection raises.
        """
        tail, reading = LiveTail(lines), reading_of_tail(self._sender, self.id)
        while not reading.ended:
            by_events = self._link.extended and not reading.events_are_missing
            parts = log_events(self._sender, reading) if by_events else poll_log(self._sender, reading)
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
                reading = reading_of_tail(self._sender, self.id)
            elif not reading.ended:
                yield tail.lines()
                time.sleep(reading.pause_between_polls())

    def cancel(self) -> CancelAnswer:
        """Request cancellation; the answer says whether it took effect."""
        return self._sender.fetch(Call("PUT", paths.command(self.id), body={"status": "kill"}), CancelAnswer)

    def _until_ended(self, timeout: float | None, on_update: OnUpdate | None) -> None:
        """Wait until the status is final. Raises WaitTimeout after `timeout` seconds."""
        wait = Wait(self, timeout, on_update)
        while not self.ended:
            hold, asked = wait.hold(), time.monotonic()
            try:
                if hold and not wait.answers and not self.may_have_typed_results:
                    self._look_with_results(hold)
                else:
                    self._look(hold, NO_RETRIES)
            except (ConnectionFailed, StatusError) as error:
                time.sleep(wait.pause_in_outage(error))
                continue
            wait.note_answer()
            if not self.ended:
                wait.check_timeout()
                held = hold > 0 and time.monotonic() - asked >= hold / 2
                if not held:
                    time.sleep(wait.pause_between_polls())

    def _look(self, hold: int = 0, retries: Retries | None = None) -> None:
        """Fetch the record. With `hold` (seconds) the service may delay the answer until the command ends."""
        call = Call("GET", paths.command(self.id), {"wait": hold or None}, hold=hold)
        self._see(self._sender.fetch(call, CommandRecord, retries))

    def _look_with_results(self, hold: int) -> None:
        """Fetch the status and, if the command has ended, its text results in one call; not retried."""
        call = Call("GET", paths.command(self.id, "status_with_results"), {"wait": hold}, hold=hold)
        self._see_status(self._sender.fetch(call, StatusWithResults, NO_RETRIES))

    def _executed(self, media_type: str) -> str:
        response = self._sender.send(executed_call(self, media_type))
        if not response.headers.get("Content-Type", "").startswith(media_type):
            raise ResultUnavailable(f"the service does not send the executed notebook of command {self.id}")
        return response.text

    def _last_log_line(self) -> str | None:
        try:
            return self.log_tail(1)
        except (ConnectionFailed, StatusError):
            return None  # only adds detail to a known end

    def _follow(self) -> Iterator[str]:
        reading = LogReading(self.id)
        outage = Outage(self._link.retries)
        while not reading.ended:
            by_events = self._link.extended and not reading.events_are_missing
            try:
                if by_events:
                    parts = log_events(self._sender, reading)
                else:
                    reading.ended = (self.status()).is_final  # checked before the log is read
                    parts = poll_log(self._sender, reading)
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
