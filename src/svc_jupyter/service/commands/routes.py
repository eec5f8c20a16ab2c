"""Commands over HTTP."""

from __future__ import annotations

import asyncio
import re
import urllib.parse
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Header, Query, Request, Response
from pydantic import AfterValidator
from pydantic_core import to_json
from sse_starlette import EventSourceResponse, ServerSentEvent

from svc_jupyter.api.commands import CancelAnswer, CommandDetails, CommandList, CommandWithRows, Jobs, StatusChange
from svc_jupyter.api.events import EventKind, LogPart, Progress
from svc_jupyter.api.fields import NAME_LIMIT, Id
from svc_jupyter.api.paths import IDEMPOTENCY_HEADER, NOTEBOOK_HEADER
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.api.text import UNREADABLE
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.dependencies import CallerDep, PageDep
from svc_jupyter.service.access.permissions import Action, Resource, require, require_to_submit, require_to_submit_some
from svc_jupyter.service.access.route_rights import needs, needs_to
from svc_jupyter.service.commands import logs
from svc_jupyter.service.commands.commands import Commands, Record
from svc_jupyter.service.commands.history import HistoryFilter, split_list
from svc_jupyter.service.commands.intake import Intake, submission_body
from svc_jupyter.service.commands.route_parameters import NEEDS_TO_READ, CommandsDep, Flag, ReaderDep, Seconds, is_true
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.commands.submission_schema import SUBMISSION_BODY
from svc_jupyter.service.ground.clock import parse_day, parse_end
from svc_jupyter.service.ground.errors import Invalid, Unauthorized
from svc_jupyter.service.http.bodies import beside
from svc_jupyter.service.http.idempotency import identify
from svc_jupyter.service.http.responses import json_response
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router

IntakeDep = Annotated[Intake, part(Intake)]
router = resource_router(prefix="/commands", tags=["commands"])
_EVENT: dict[str, Any] = {
    "type": "object",
    "description": "One event of the stream; `data` is JSON, `id` the byte of the log up to which it has been sent",
    "properties": {
        "event": {"type": "string", "enum": [kind.value for kind in EventKind]},
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "id", "data"],
}
_LOOK_SECONDS = 0.25
_PING_SECONDS = 15
_FAREWELL_SECONDS = 3.0
"""How long a stream may take to end by itself when the service stops, so that clients get complete answers."""
_SHOWN_CHANGES = ("status", "throttled", "message", "pid", "attempts")


def _notebook_name(value: str) -> str:
    """Return the name in a header that names a notebook."""
    try:
        name = urllib.parse.unquote(value.encode("ascii"), errors="strict")
    except UnicodeError:
        raise ValueError("must be percent-encoded UTF-8, as in R%C3%A9sum%C3%A9.ipynb") from None
    if len(name) > NAME_LIMIT or re.search(f"[{UNREADABLE}]", name):
        raise ValueError(f"must have at most {NAME_LIMIT} characters, none of them a control character")
    return name


NotebookName = Annotated[
    Annotated[str, AfterValidator(_notebook_name)] | None,
    Header(
        alias=NOTEBOOK_HEADER,
        description="the notebook whose cell submits it, percent-encoded; empty where its name is not known",
    ),
]


@router.post(
    "",
    dependencies=[needs_to(require_to_submit_some)],
    responses={200: {"model": CommandWithRows}},
    openapi_extra=SUBMISSION_BODY,
)
async def submit_command(
    request: Request,
    intake: IntakeDep,
    commands: CommandsDep,
    caller: CallerDep,
    idempotency_key: Annotated[str | None, Header(alias=IDEMPOTENCY_HEADER)] = None,
    notebook: NotebookName = None,
    wait: Seconds = 0,
    arrow: Flag = "false",
) -> Response:
    """Submit a command.

    With `wait`, the answer is delayed until the command has ended or the time is over. With `arrow`, it then also
    contains the typed rows if they are few.
    """
    raw = await request.body()
    call = None
    if idempotency_key is not None:
        call = identify(caller.user_id, idempotency_key, "POST", "commands", raw)
    body = await beside(raw, submission_body, raw, request.headers.get("content-type", ""))
    require_to_submit(caller, body.get("command_type"))
    record = await intake.submit(body, caller, call, notebook)
    if wait:
        record = await commands.record_at_end(record["id"], caller, wait, with_rows=is_true(arrow))
    return json_response(record)


@router.get("", dependencies=[NEEDS_TO_READ], responses={200: {"model": CommandList}})
async def list_commands(
    commands: CommandsDep,
    caller: CallerDep,
    page: PageDep,
    all_users: Annotated[bool, Query()] = False,
    status: Annotated[str | None, Query(max_length=40)] = None,
    command_type: Annotated[str | None, Query(max_length=1000)] = None,
    command_source: Annotated[str | None, Query(max_length=100)] = None,
    name: Annotated[str | None, Query(max_length=255)] = None,
    search: Annotated[
        str | None, Query(max_length=255, description="part of the name, the text or a tag, or the id; in any case")
    ] = None,
    tags: Annotated[str | None, Query(max_length=255)] = None,
    label: Annotated[str | None, Query(max_length=255)] = None,
    parent_id: Annotated[Id | None, Query(description="the sub-commands of this composite command")] = None,
    start_date: Annotated[str | None, Query(max_length=40)] = None,
    end_date: Annotated[str | None, Query(max_length=40, description="a bare date includes that day")] = None,
) -> Response:
    """List the account's commands, newest first; without dates, those of the last 30 days."""
    if all_users:
        require(caller, Action.READ, Resource.COMMAND)
    wanted = HistoryFilter(
        now=datetime.now(UTC),
        all_users=all_users,
        status=status,
        command_types=split_list(command_type),
        sources=split_list(command_source),
        name=_clean(name),
        search=_clean(search),
        tags=split_list(_clean(tags)),
        label=_clean(label),
        parent_id=parent_id,
        start=None if start_date is None else parse_day(start_date, "start_date"),
        end=None if end_date is None else parse_end(end_date, "end_date"),
    )
    records, info = await commands.history(caller, wanted, page)
    return json_response({"commands": records, "paging_info": info})


@router.get("/{command_id}", dependencies=[NEEDS_TO_READ], responses={200: {"model": CommandDetails}})
async def get_command(
    command_id: Id,
    commands: CommandsDep,
    caller: ReaderDep,
    include_query_properties: Flag = "false",
    wait: Seconds = 0,
) -> Response:
    """Return a command's record; with `wait`, when the command has ended or the time is over."""
    properties = is_true(include_query_properties)
    if wait:
        return json_response(await commands.record_at_end(command_id, caller, wait, with_properties=properties))
    return json_response(await commands.get(command_id, caller, with_properties=properties))


@router.put(
    "/{command_id}", dependencies=[needs(Action.UPDATE, Resource.COMMAND)], responses={200: {"model": CancelAnswer}}
)
async def change_command(command_id: Id, body: StatusChange, commands: CommandsDep, caller: CallerDep) -> CancelAnswer:
    """Cancel a command with `{"status": "kill"}`, the only possible change."""
    if body.status != "kill":
        raise Invalid('status: must be "kill"')
    cancellation = await commands.cancel(command_id, caller)
    return CancelAnswer(kill_succeeded=cancellation.succeeded, result=cancellation.text)


@router.get("/{command_id}/jobs", dependencies=[NEEDS_TO_READ], responses={200: {"model": Jobs}})
async def get_jobs(command_id: Id, commands: CommandsDep, caller: ReaderDep) -> Response:
    """Return the jobs that the command started on an engine. Shell and DB query commands start none."""
    row = await commands.row(command_id, caller)
    return json_response({"jobs": await commands.jobs(row)})


@router.get(
    "/{command_id}/events",
    dependencies=[NEEDS_TO_READ],
    responses={200: {"content": {"text/event-stream": {"schema": _EVENT}}}},
)
async def follow_command(
    command_id: Id,
    commands: CommandsDep,
    caller: ReaderDep,
    last_event_id: Annotated[str | None, Header(max_length=64)] = None,
) -> Response:
    """Follow a command by events `status`, `progress`, `log`, `end`.

    `Last-Event-ID` resumes the log after an interruption.
    """
    row = await commands.row(command_id, caller)
    offset = int(last_event_id or 0) if re.fullmatch(r"[0-9]{1,18}", last_event_id or "") else 0
    return EventSourceResponse(
        _events(commands, row, caller, offset),
        ping=_PING_SECONDS,
        sep="\n",
        shutdown_grace_period=_FAREWELL_SECONDS,
    )


def _clean(text: str | None) -> str | None:
    """PostgreSQL has no NUL in texts."""
    if text is not None and "\x00" in text:
        raise Invalid("a filter must not hold a NUL character")
    return text


async def _events(commands: Commands, row: CommandRow, caller: Caller, offset: int) -> AsyncIterator[ServerSentEvent]:
    """Yield the events until the command's end; each id is the byte of the log up to which it has been sent."""
    command_id: int = row.id
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
