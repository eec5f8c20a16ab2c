"""Sends the events of a command as server-sent events.

Each event's id is the byte offset of the log up to which it has been sent, so that `Last-Event-ID` resumes it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

from fastapi import Response
from pydantic_core import to_json
from sse_starlette import EventSourceResponse, ServerSentEvent

from svc_jupyter.api.events import EventKind, LogPart, Progress
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands import logs
from svc_jupyter.service.commands.commands import Commands, Record
from svc_jupyter.service.commands.record import Row
from svc_jupyter.service.ground.errors import Unauthorized

EVENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "One event of the stream; `data` is JSON, `id` the byte of the log up to which it has been sent",
    "properties": {
        "event": {"type": "string", "enum": [kind.value for kind in EventKind]},
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "id", "data"],
}
"""An event, for the OpenAPI document."""
_LOOK_SECONDS = 0.25
_PING_SECONDS = 15
_FAREWELL_SECONDS = 3.0
"""How long a stream may take to end by itself when the service stops, so that clients get complete answers."""
_SHOWN_CHANGES = ("status", "throttled", "message", "pid", "attempts")


def event_stream(commands: Commands, row: Row, caller: Caller, last_event_id: str | None) -> Response:
    """Return the stream of events of a row's command until its end."""
    offset = int(last_event_id or 0) if re.fullmatch(r"[0-9]{1,18}", last_event_id or "") else 0
    return EventSourceResponse(
        _events(commands, row, caller, offset),
        ping=_PING_SECONDS,
        sep="\n",
        shutdown_grace_period=_FAREWELL_SECONDS,
    )


async def _events(commands: Commands, row: Row, caller: Caller, offset: int) -> AsyncIterator[ServerSentEvent]:
    command_id: int = row["id"]
    log_file = commands.root(row) / "log"
    shown: dict[str, Any] = {}
    progress: Progress | None = None
    while True:
        try:
            record = await commands.get(command_id, caller)
        except Unauthorized:
            return  # the token has been revoked; the client learns it when it reconnects
        ended = CommandStatus(record["status"]).is_final
        changes = {key: record[key] for key in _SHOWN_CHANGES}
        if changes != shown:
            shown = changes
            yield _event(EventKind.STATUS, record, offset)
        if (now := _progress(record)) != progress:
            progress = now
            yield _event(EventKind.PROGRESS, now, offset)
        while True:
            text, end = await asyncio.to_thread(logs.read_text_part, log_file, offset, ended=ended)
            if not text:
                break
            part = LogPart(offset=offset, end=end, text=text)
            offset = end
            yield _event(EventKind.LOG, part, offset)
        if ended:
            yield _event(EventKind.END, record, offset)
            return
        if commands.is_stopping:
            return  # the client reconnects with Last-Event-ID
        await commands.wait_for_end(command_id, _LOOK_SECONDS)


def _progress(record: Record) -> Progress:
    return Progress(progress=record["progress"], rows=record["result_rows"])


def _event(kind: EventKind, data: Any, offset: int) -> ServerSentEvent:
    return ServerSentEvent(to_json(data).decode(), event=kind.value, id=str(offset))
