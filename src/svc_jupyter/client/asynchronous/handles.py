"""Handles of commands: what `submit` and `get` return."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing, suppress
from typing import Any, Literal, overload

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CancelAnswer, CommandList, CommandRecord, StatusWithResults
from svc_jupyter.api.events import LogPart
from svc_jupyter.api.sessions import CellMessages, Completions, Inspection, SessionEnd
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.client.asynchronous.logs import log_events, log_part, log_text, poll_log, reading_of_tail
from svc_jupyter.client.asynchronous.results import AsyncResult
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.commands.composites import check_number, sub_command, sub_commands_call, sub_commands_in
from svc_jupyter.client.commands.following import FLOOD_SECONDS, LiveTail, LogReading, Tail, events_unavailable
from svc_jupyter.client.commands.outputs import NOTEBOOK, PAGE, check_table, executed_call, number_of_dump
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.commands.waiting import OnUpdate, Outage, Wait, failure
from svc_jupyter.client.errors import ConnectionFailed, ResultUnavailable, StatusError
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.retries import NO_RETRIES, Retries


class AsyncCommand(Tracked):
    """A submitted command. `id`, `record` and `ended` are the last known values; the methods ask the service."""

    def __init__(self, sender: AsyncSender, record: CommandRecord) -> None:
        super().__init__(sender.link, record)
        self._sender = sender

    async def refresh(self) -> AsyncCommand:
        """Fetch the current record."""
        await self._look()
        return self

    async def status(self) -> CommandStatus:
        """Return the current status; a final status is not fetched again."""
        if not self.ended:
            await self.refresh()
        return self.record.status

    async def wait(
        self,
        timeout: float | None = None,  # noqa: ASYNC109
        on_update: OnUpdate | None = None,
    ) -> AsyncCommand:
        """Wait until the command is done, without a limit by default, and return this handle.

        `on_update` is called with an `Update` about every second. The wait survives restarts of the service. Raises
        CommandFailed, CommandCancelled, or WaitTimeout after `timeout` seconds (the command continues).
        """
        await self._until_ended(timeout, on_update)
        if self.record.status is CommandStatus.DONE:
            return self
        with suppress(ConnectionFailed, StatusError):  # only adds detail to a known end
            await self._look()
        error = failure(self, None if self.reason else await self._last_log_line())
        error.command = self
        raise error

    async def result(self, timeout: float | None = None) -> AsyncResult:  # noqa: ASYNC109
        """Wait for the end and return the result; raises what `wait` raises."""
        await self.wait(timeout)
        return AsyncResult(self._sender, self)

    async def sub_commands(self) -> list[CommandRecord]:
        """Return the records of a composite's sub-commands that have started, in order.

        The list is empty when the service lacks the extension.
        """
        if not self._link.extended:
            return []
        return sub_commands_in(await self._sender.fetch(sub_commands_call(self), CommandList), self)

    async def sub_result(self, number: int | None = None) -> AsyncResult:
        """Wait for a composite's end and return the result of a sub-command, counted from 1.

        Without `number`, of the last one that has rows. Raises what `wait` raises, and ResultUnavailable.
        """
        await self.wait()
        check_number(self, number)
        child, sequence_number = sub_command(self, await self.sub_commands(), number)
        return AsyncResult(self._sender, child, sequence_number=sequence_number)

    async def dump(self, wanted: str | int) -> AsyncResult:
        """Wait for a Pig command's end and return the rows of a DUMP.

        `wanted` is an alias, for its last DUMP, or a number, from 1. Raises what `wait` raises, and ResultUnavailable
        with the list of existing dumps.
        """
        await self.wait()
        return AsyncResult(self._sender, self, dump=number_of_dump(self, wanted))

    async def table(self, number: int) -> AsyncResult:
        """Wait for a note's run to end and return the rows of a TABLE, counted from 1.

        Raises what `wait` raises, and ResultUnavailable when there is no such table.
        """
        await self.wait()
        check_table(self, number)
        return AsyncResult(self._sender, self, table=number)

    async def executed_notebook(self) -> str:
        """Return the notebook that the command runs, with its outputs so far, as the JSON text of a notebook file.

        Also available after a failure. Raises ResultUnavailable for other commands and when the service keeps none.
        """
        return await self._executed(NOTEBOOK)

    async def executed_page(self) -> str:
        """Return the executed notebook as an HTML page."""
        return await self._executed(PAGE)

    @overload
    def logs(self, *, follow: Literal[False] = False) -> Coroutine[Any, Any, str]: ...
    @overload
    def logs(self, *, follow: Literal[True]) -> AsyncIterator[str]: ...
    def logs(self, *, follow: bool = False) -> Coroutine[Any, Any, str] | AsyncIterator[str]:
        """Return the log so far; with `follow`, iterate over its text until the command ends.

        The iterator uses constant memory for a log of any length.
        """
        return self._follow() if follow else log_text(self._sender, LogReading(self.id))

    async def log_part(self, offset: int = 0) -> LogPart:
        """Return the log from byte `offset` on; `end` is the next offset."""
        return await log_part(self._sender, self.id, offset)

    async def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the log, at most 64 KiB of them."""
        tail, reading = Tail(lines), await reading_of_tail(self._sender, self.id)
        async for text in poll_log(self._sender, reading):
            tail.take(text)
        tail.take(reading.finish())
        return tail.text()

    async def messages(self, offset: int = 0) -> CellMessages:
        """Return what a cell (`cell=…` of a Spark command) has printed and shown, from byte `offset` on."""
        call = Call("GET", paths.command(self.id, "messages"), {"offset": offset})
        return await self._sender.fetch(call, CellMessages)

    async def complete(self, code: str, cursor: int, language: str = "python") -> Completions:
        """Return completions at the cursor from the kept session of the command; none while the session is busy."""
        body = {"code": code, "cursor": cursor, "language": language}
        call = Call("POST", paths.command(self.id, "session/completions"), body=body)
        return await self._sender.fetch(call, Completions)

    async def inspect(self, code: str, cursor: int, language: str = "python") -> Inspection:
        """Return the description of the name at the cursor, from the kept session of the command."""
        body = {"code": code, "cursor": cursor, "language": language}
        call = Call("POST", paths.command(self.id, "session/inspections"), body=body)
        return await self._sender.fetch(call, Inspection)

    async def end_session(self) -> SessionEnd:
        """End the kept session of the command, and what runs in it."""
        return await self._sender.fetch(Call("DELETE", paths.command(self.id, "session")), SessionEnd)

    async def log_tails(self, lines: int = 5) -> AsyncIterator[list[str]]:
        """Iterate over the last lines of the log, as they change, until the command ends.

        Uses constant memory and reads at most about 1 MB a second: of a faster log it skips parts. It ends early when
        the service cannot send a long log in parts. A broken connection raises.
        """
        tail, reading = LiveTail(lines), await reading_of_tail(self._sender, self.id)
        while not reading.ended:
            by_events = self._link.extended and not reading.events_are_missing
            parts = log_events(self._sender, reading) if by_events else poll_log(self._sender, reading)
            try:
                async with aclosing(parts):  # type: ignore[type-var]
                    async for text in parts:
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
                await asyncio.sleep(FLOOD_SECONDS)
                tail.skip()
                reading = await reading_of_tail(self._sender, self.id)
            elif not reading.ended:
                yield tail.lines()
                await asyncio.sleep(reading.pause_between_polls())

    async def cancel(self) -> CancelAnswer:
        """Request cancellation; the answer says whether it took effect."""
        return await self._sender.fetch(Call("PUT", paths.command(self.id), body={"status": "kill"}), CancelAnswer)

    async def _until_ended(self, timeout: float | None, on_update: OnUpdate | None) -> None:  # noqa: ASYNC109
        """Wait until the status is final. Raises WaitTimeout after `timeout` seconds."""
        wait = Wait(self, timeout, on_update)
        while not self.ended:
            hold, asked = wait.hold(), time.monotonic()
            try:
                if hold and not wait.answers and not self.may_have_typed_results:
                    await self._look_with_results(hold)
                else:
                    await self._look(hold, NO_RETRIES)
            except (ConnectionFailed, StatusError) as error:
                await asyncio.sleep(wait.pause_in_outage(error))
                continue
            wait.note_answer()
            if not self.ended:
                wait.check_timeout()
                held = hold > 0 and time.monotonic() - asked >= hold / 2
                if not held:
                    await asyncio.sleep(wait.pause_between_polls())

    async def _look(self, hold: int = 0, retries: Retries | None = None) -> None:
        """Fetch the record. With `hold` (seconds) the service may delay the answer until the command ends."""
        call = Call("GET", paths.command(self.id), {"wait": hold or None}, hold=hold)
        self._see(await self._sender.fetch(call, CommandRecord, retries))

    async def _look_with_results(self, hold: int) -> None:
        """Fetch the status and, if the command has ended, its text results in one call; not retried."""
        call = Call("GET", paths.command(self.id, "status_with_results"), {"wait": hold}, hold=hold)
        self._see_status(await self._sender.fetch(call, StatusWithResults, NO_RETRIES))

    async def _executed(self, media_type: str) -> str:
        response = await self._sender.send(executed_call(self, media_type))
        if not response.headers.get("Content-Type", "").startswith(media_type):
            raise ResultUnavailable(f"the service does not send the executed notebook of command {self.id}")
        return response.text

    async def _last_log_line(self) -> str | None:
        try:
            return await self.log_tail(1)
        except (ConnectionFailed, StatusError):
            return None  # only adds detail to a known end

    async def _follow(self) -> AsyncIterator[str]:
        reading = LogReading(self.id)
        outage = Outage(self._link.retries)
        while not reading.ended:
            by_events = self._link.extended and not reading.events_are_missing
            try:
                if by_events:
                    parts = log_events(self._sender, reading)
                else:
                    reading.ended = (await self.status()).is_final  # checked before the log is read
                    parts = poll_log(self._sender, reading)
                async with aclosing(parts):  # type: ignore[type-var]
                    async for text in parts:
                        yield text
            except (ConnectionFailed, StatusError) as error:
                reading.ended = False
                if reading.answered:  # before the connection broke: this is a new outage
                    outage.over()
                    reading.answered = False
                if by_events and events_unavailable(error):
                    reading.events_are_missing = True
                else:
                    await asyncio.sleep(outage.pause(error))
            else:
                if not reading.ended:  # polling, or the service closed the stream because it is stopping
                    await asyncio.sleep(reading.pause_between_polls())
        if rest := reading.finish():
            yield rest
