"""Read the log of a command: the text so far, its end, and the events of one that grows."""
# Made from asynchronous/logs.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import httpx

from svc_jupyter.api.events import LogPart
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.commands.following import BEYOND_THE_END, LogReading, start_of_tail
from svc_jupyter.client.transport.calls import connection_failed


def log_events(sender: Sender, reading: LogReading) -> Iterator[str]:
    """Yield the text that is added to a log; ends early where the service has no events."""
    from httpx_sse import EventSource

    response = sender.send(reading.events_call())
    try:
        if not reading.has_events(response.headers):
            return
        for event in EventSource(response).iter_sse():
            if text := reading.take_event(event):
                yield text
            if reading.ended:
                return
    except httpx.RequestError as error:
        raise connection_failed(sender.link, error) from error
    finally:
        response.close()


def poll_log(sender: Sender, reading: LogReading) -> Iterator[str]:
    """Yield the text that was added to a log. Raises ConnectionFailed when the connection breaks."""
    response = sender.send(reading.poll_call())
    try:
        reading.begin_poll(response.headers)
        for data in response.iter_bytes():
            if text := reading.take_bytes(data):
                yield text
        reading.end_poll()
    except httpx.RequestError as error:
        raise connection_failed(sender.link, error) from error
    finally:
        response.close()


def log_text(sender: Sender, reading: LogReading) -> str:
    """Return the text that was added to a log, including an incomplete last character."""
    whole = StringIO()
    for text in poll_log(sender, reading):
        whole.write(text)
    whole.write(reading.finish())
    return whole.getvalue()


def log_part(sender: Sender, command_id: int, offset: int) -> LogPart:
    """Return a command's log from byte `offset` on."""
    reading = LogReading(command_id, offset)
    text = log_text(sender, reading)
    return LogPart(offset=offset, end=reading.offset, text=text)


def reading_of_tail(sender: Sender, command_id: int) -> LogReading:
    """Return the position of the log's last 64 KiB; of another service that of its beginning."""
    at_end = LogReading(command_id, BEYOND_THE_END)
    if sender.link.extended:
        log_text(sender, at_end)
    return LogReading(command_id, start_of_tail(at_end.length))
