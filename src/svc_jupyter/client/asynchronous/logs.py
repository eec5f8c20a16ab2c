"""Read the log of a command: the text so far, its end, and the events of one that grows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from io import StringIO

import httpx

from svc_jupyter.api.events import LogPart
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.commands.following import BEYOND_THE_END, LogReading, start_of_tail
from svc_jupyter.client.transport.calls import connection_failed


async def log_events(sender: AsyncSender, reading: LogReading) -> AsyncIterator[str]:
    """Yield the text that is added to a log; ends early where the service has no events."""
    from httpx_sse import EventSource

    response = await sender.send(reading.events_call())
    try:
        if not reading.has_events(response.headers):
            return
        async for event in EventSource(response).aiter_sse():
            if text := reading.take_event(event):
                yield text
            if reading.ended:
                return
    except httpx.RequestError as error:
        raise connection_failed(sender.link, error) from error
    finally:
        await response.aclose()


async def poll_log(sender: AsyncSender, reading: LogReading) -> AsyncIterator[str]:
    """Yield the text that was added to a log. Raises ConnectionFailed when the connection breaks."""
    response = await sender.send(reading.poll_call())
    try:
        reading.begin_poll(response.headers)
        async for data in response.aiter_bytes():
            if text := reading.take_bytes(data):
                yield text
        reading.end_poll()
    except httpx.RequestError as error:
        raise connection_failed(sender.link, error) from error
    finally:
        await response.aclose()


async def log_text(sender: AsyncSender, reading: LogReading) -> str:
    """Return the text that was added to a log, including an incomplete last character."""
    whole = StringIO()
    async for text in poll_log(sender, reading):
        whole.write(text)
    whole.write(reading.finish())
    return whole.getvalue()


async def log_part(sender: AsyncSender, command_id: int, offset: int) -> LogPart:
    """Return a command's log from byte `offset` on."""
    reading = LogReading(command_id, offset)
    text = await log_text(sender, reading)
    return LogPart(offset=offset, end=reading.offset, text=text)


async def reading_of_tail(sender: AsyncSender, command_id: int) -> LogReading:
    """Return the position of the log's last 64 KiB; of another service that of its beginning."""
    at_end = LogReading(command_id, BEYOND_THE_END)
    if sender.link.extended:
        await log_text(sender, at_end)
    return LogReading(command_id, start_of_tail(at_end.length))
