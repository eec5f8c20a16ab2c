"""Handles of commands for asyncio: what `submit` and `get` return."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal, overload

import httpx

from svc_jupyter.api.commands import CancelAnswer, CommandRecord
from svc_jupyter.api.events import LogPart
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.client.async_results import AsyncResult
from svc_jupyter.client.calls import connection_failed
from svc_jupyter.client.errors import ConnectionFailed, StatusError
from svc_jupyter.client.follow import BEYOND_THE_END, LogReading, Tail, events_unavailable, start_of_tail
from svc_jupyter.client.tracking import Tracked, refresh
from svc_jupyter.client.waiting import OnUpdate, Outage, failure, learn_the_end, until_ended

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient


class AsyncCommand(Tracked):
    """A submitted command. `id`, `record` and `ended` are as last seen; the methods ask the service."""

    def __init__(self, client: AsyncClient, record: CommandRecord) -> None:
        super().__init__(client._link, record)
        self._client = client

    async def refresh(self) -> AsyncCommand:
        """Fetch the record as of now."""
        await self._client._run(refresh(self))
        return self

    async def status(self) -> CommandStatus:
        """Return the status as of now; a final one is not asked for again."""
        if not self.ended:
            await self.refresh()
        return self.record.status

    async def wait(
        self,
        timeout: float | None = None,  # noqa: ASYNC109
        on_update: OnUpdate | None = None,
    ) -> AsyncCommand:
        """Wait until the command is done, for any length of time, and return this handle.

        `on_update` is called with an `Update` about every second. The wait goes on over restarts of the service.
        Raises CommandFailed, CommandCancelled, or WaitTimeout after `timeout` seconds (the command then goes on).
        """
        await self._client._run(until_ended(self, timeout, on_update))
        if self.record.status is CommandStatus.DONE:
            return self
        await self._client._run(learn_the_end(self))
        error = failure(self, None if self.reason else await self._last_log_line())
        error.command = self
        raise error

    async def result(self, timeout: float | None = None) -> AsyncResult:  # noqa: ASYNC109
        """Return the result, after waiting for the end; raises what `wait` raises."""
        await self.wait(timeout)
        return AsyncResult(self._client, self)

    @overload
    def logs(self, *, follow: Literal[False] = False) -> Coroutine[Any, Any, str]: ...
    @overload
    def logs(self, *, follow: Literal[True]) -> AsyncIterator[str]: ...
    def logs(self, *, follow: bool = False) -> Coroutine[Any, Any, str] | AsyncIterator[str]:
        """Return, to be awaited, the log as far as it is written; with `follow` iterate over its text by `async for`.

        The iterator ends when the command has ended, and keeps memory flat, whatever the log's length.
        """
        return self._follow() if follow else log_text(self._client, LogReading(self.id))

    async def log_part(self, offset: int = 0) -> LogPart:
        """Return the log from byte `offset` on; `end` is the offset to go on from."""
        return await log_part(self._client, self.id, offset)

    async def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the log, at most 64 KiB of them."""
        tail = Tail(lines)
        start = start_of_tail((await self.log_part(BEYOND_THE_END)).end) if self._link.extended else 0
        reading = LogReading(self.id, start)
        async for text in poll_log(self._client, reading):
            tail.take(text)
        tail.take(reading.finish())
        return tail.text()

    async def cancel(self) -> CancelAnswer:
        """Ask for the command's end; the answer tells whether that took effect."""
        return await self._client.commands.cancel(self.id)

    async def _last_log_line(self) -> str | None:
        try:
            return await self.log_tail(1)
        except (ConnectionFailed, StatusError):
            return None  # it only adds detail to an end that is known already

    async def _events(self, reading: LogReading) -> AsyncIterator[str]:
        from httpx_sse import EventSource

        response = await self._client._open(reading.events_call())
        try:
            if not reading.has_events(response.headers):
                return
            async for event in EventSource(response).aiter_sse():
                if text := reading.take_event(event):
                    yield text
                if reading.ended:
                    return
        except httpx.RequestError as error:
            raise connection_failed(self._link, error) from error
        finally:
            await response.aclose()

    async def _follow(self) -> AsyncIterator[str]:
        reading = LogReading(self.id)
        outage = Outage(self._link.retries)
        while not reading.ended:
            by_events = self._link.extended and not reading.events_are_missing
            try:
                if by_events:
                    parts = self._events(reading)
                else:
                    reading.ended = (await self.status()).is_final  # asked before the log is read
                    parts = poll_log(self._client, reading)
                async with aclosing(parts):  # type: ignore[type-var]
                    async for text in parts:
                        yield text
            except (ConnectionFailed, StatusError) as error:
                reading.ended = False
                if reading.answered:  # before it broke off: this is a new outage
                    outage.over()
                    reading.answered = False
                if by_events and events_unavailable(error):
                    reading.events_are_missing = True
                else:
                    await asyncio.sleep(outage.pause(error))
            else:
                if not reading.ended:  # polling, or the service closed the events because it is stopping
                    await asyncio.sleep(reading.pause_between_polls())
        if rest := reading.finish():
            yield rest


async def poll_log(client: AsyncClient, reading: LogReading) -> AsyncIterator[str]:
    """Yield the text that a log has beyond what was read. Raises ConnectionFailed when it breaks off."""
    response = await client._open(reading.poll_call())
    try:
        reading.begin_poll(response.headers)
        async for data in response.aiter_bytes():
            if text := reading.take_bytes(data):
                yield text
        reading.end_poll()
    except httpx.RequestError as error:
        raise connection_failed(client._link, error) from error
    finally:
        await response.aclose()


async def log_text(client: AsyncClient, reading: LogReading) -> str:
    """Return the text that a log has beyond what was read, and the rest of a character that its end cuts off."""
    parts = [text async for text in poll_log(client, reading)]
    return "".join((*parts, reading.finish()))


async def log_part(client: AsyncClient, command_id: int, offset: int) -> LogPart:
    """Return a command's log from byte `offset` on."""
    reading = LogReading(command_id, offset)
    text = await log_text(client, reading)
    return LogPart(offset=offset, end=reading.offset, text=text)
