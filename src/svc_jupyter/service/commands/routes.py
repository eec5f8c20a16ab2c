"""Commands over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import FileResponse, StreamingResponse
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool

from svc_jupyter.api.commands import (
    CancelAnswer,
    CommandDetails,
    CommandList,
    CommandType,
    CommandWithRows,
    Jobs,
    Results,
    StatusChange,
    StatusWithResults,
)
from svc_jupyter.api.fields import Id
from svc_jupyter.api.paths import ARROW_STREAM, CSV, HTML, IDEMPOTENCY_HEADER, NOTEBOOK, PARQUET
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, require
from svc_jupyter.service.access.running import require_to_read_some, require_to_submit, require_to_submit_some
from svc_jupyter.service.bodies import JsonRoute, beside
from svc_jupyter.service.commands import logs, results
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.dumps import stored_dump, stored_table
from svc_jupyter.service.commands.events import EVENT_SCHEMA, event_stream
from svc_jupyter.service.commands.growing import growing_rows
from svc_jupyter.service.commands.history import HistoryFilter, parse_day, parse_end, split_list
from svc_jupyter.service.commands.inline import inline_answer
from svc_jupyter.service.commands.reading_rights import require_readable
from svc_jupyter.service.commands.record import Row, is_final
from svc_jupyter.service.commands.submission_body import submission_body
from svc_jupyter.service.commands.submission_schema import SUBMISSION_BODY
from svc_jupyter.service.dependencies import CallerDep, PageDep
from svc_jupyter.service.errors import Invalid
from svc_jupyter.service.idempotency import identify
from svc_jupyter.service.notebook_runs.pages import PAGE_HEADERS, NotebookPages, executed_notebook
from svc_jupyter.service.responses import json_response
from svc_jupyter.service.route_rights import needs, needs_to

router = APIRouter(prefix="/commands", tags=["commands"], route_class=JsonRoute)
_FORMS = {ARROW_STREAM: results.as_arrow, CSV: results.as_csv, PARQUET: results.as_parquet}
_NOTEBOOK_FORMS = (NOTEBOOK, HTML)
_TEXT = "text/plain; charset=utf-8"
_STATUS_FIELDS = ("id", "status", "progress", "message", "start_time", "end_time", "attempts")
_Flag = Annotated[str, Query(pattern="^(?i:true|false|0|1)$")]
_Seconds = Annotated[float, Query(ge=0, le=60, description="seconds to wait for the end")]
_Offset = Annotated[int, Query(ge=0, le=2**62)]


async def _commands(request: Request) -> Commands:  # async: a plain function would cost a thread hop
    commands: Commands = request.app.state.service.commands
    return commands


CommandsDep = Annotated[Commands, Depends(_commands)]


async def _reader(command_id: Id, commands: CommandsDep, caller: CallerDep) -> Caller:
    await require_readable(command_id, commands, caller)
    return caller


ReaderDep = Annotated[Caller, Depends(_reader)]
NEEDS_TO_READ = needs_to(require_to_read_some)


@router.post(
    "",
    dependencies=[needs_to(require_to_submit_some)],
    responses={200: {"model": CommandWithRows}},
    openapi_extra=SUBMISSION_BODY,
)
async def submit_command(
    request: Request,
    commands: CommandsDep,
    caller: CallerDep,
    idempotency_key: Annotated[str | None, Header(alias=IDEMPOTENCY_HEADER)] = None,
    wait: _Seconds = 0,
    arrow: _Flag = "false",
) -> Response:
    """Submit a command.

    With `wait` the answer is the record as soon as the command has ended, or when the time is over. With `arrow` it
    then has the typed rows, too, when they are few.
    """
    raw = await request.body()
    call = None
    if idempotency_key is not None:
        call = identify(caller.user_id, idempotency_key, "POST", "commands", raw)
    body = await beside(raw, submission_body, raw, request.headers.get("content-type", ""))
    require_to_submit(caller, body.get("command_type"))
    record = await commands.submit(body, caller, call)
    if wait:
        record = await commands.record_at_end(record["id"], caller, wait, with_rows=_is_true(arrow))
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
    tags: Annotated[str | None, Query(max_length=255)] = None,
    label: Annotated[str | None, Query(max_length=255)] = None,
    parent_id: Annotated[Id | None, Query(description="the sub-commands of this composite command")] = None,
    start_date: Annotated[str | None, Query(max_length=40)] = None,
    end_date: Annotated[str | None, Query(max_length=40, description="a bare date includes that day")] = None,
) -> Response:
    """List the account's commands, newest first; without dates those of the last 30 days."""
    if all_users:
        require(caller, Action.READ, Resource.COMMAND)
    wanted = HistoryFilter(
        now=datetime.now(UTC),
        all_users=all_users,
        status=status,
        command_types=split_list(command_type),
        sources=split_list(command_source),
        name=_clean(name),
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
    include_query_properties: _Flag = "false",
    wait: _Seconds = 0,
) -> Response:
    """Return a command's record; with `wait` as soon as it has ended, or when the time is over."""
    properties = _is_true(include_query_properties)
    if wait:
        return json_response(await commands.record_at_end(command_id, caller, wait, with_properties=properties))
    return json_response(await commands.get(command_id, caller, with_properties=properties))


@router.put(
    "/{command_id}", dependencies=[needs(Action.UPDATE, Resource.COMMAND)], responses={200: {"model": CancelAnswer}}
)
async def change_command(command_id: Id, body: StatusChange, commands: CommandsDep, caller: CallerDep) -> CancelAnswer:
    """Cancel a command: the only change there is, asked for as `{"status": "kill"}`."""
    if body.status != "kill":
        raise Invalid('status: must be "kill"')
    cancellation = await commands.cancel(command_id, caller)
    return CancelAnswer(kill_succeeded=cancellation.succeeded, result=cancellation.text)


@router.get(
    "/{command_id}/results",
    dependencies=[NEEDS_TO_READ],
    responses={
        200: {
            "model": Results,
            "content": {
                kind: {"schema": {"type": "string", "format": "binary"}} for kind in (*_FORMS, *_NOTEBOOK_FORMS)
            },
        }
    },
)
async def get_results(
    request: Request,
    command_id: Id,
    commands: CommandsDep,
    caller: ReaderDep,
    inline: _Flag = "true",
    include_headers: _Flag = "false",
    sequence_number: Annotated[int | None, Query(description="which sub-command's, from 1, of a composite")] = None,
    dump: Annotated[
        str | None, Query(max_length=255, description="which DUMP's of a Pig command: alias, or number from 1")
    ] = None,
    table: Annotated[
        str | None, Query(max_length=255, description="which TABLE of a note's run: number from 1, or its paragraph")
    ] = None,
    follow: _Flag = "false",
    wait: _Seconds = 0,
) -> Response:
    """Return the results: as text in JSON, or by `Accept` typed as Arrow, CSV or Parquet, streamed. 422 until done.

    With `follow` an Arrow stream begins with the first rows of a running query, for which `wait` waits. When the query
    then fails, or its rows are written anew, the stream ends without its end marker, in the middle of a message.

    A Jupyter notebook command that has ended in any way also gives its executed notebook, as it is or as HTML.
    """
    row = await commands.row(command_id, caller)
    if sequence_number is not None:
        row = await commands.child_row(row, sequence_number)
    accepted = request.headers.get("accept", "").split(",")[0].split(";")[0].strip()
    if accepted in _NOTEBOOK_FORMS and row["command_type"] == CommandType.JUPYTER_NOTEBOOK:
        return await _notebook(request, commands, row, accepted)
    form = _FORMS.get(accepted)
    if _is_true(follow) and form is results.as_arrow and dump is None:
        growing = await growing_rows(commands, row["id"], caller, wait)
        if growing is not None:
            return StreamingResponse(growing, media_type=ARROW_STREAM)
        row = await commands.row(row["id"], caller)
    commands.check_ended(row)
    root = commands.root(row)
    if dump is not None:
        row = {**row, "result": results.to_json(stored_dump(row, dump))}
    if table is not None:
        row = {**row, "result": results.to_json(stored_table(row, table))}
    if form is None:
        return await inline_answer(
            {}, root, row, commands.inline_limit, inline=_is_true(inline), headers=_is_true(include_headers)
        )
    return await _typed(root, row, accepted)


@router.get(
    "/{command_id}/status_with_results",
    dependencies=[NEEDS_TO_READ],
    responses={200: {"model": StatusWithResults}},
)
async def get_status_with_results(
    command_id: Id,
    commands: CommandsDep,
    caller: ReaderDep,
    include_headers: _Flag = "false",
    wait: _Seconds = 0,
) -> Response:
    """Return the status and, once the command has ended, its results or its error."""
    row = await (commands.wait(command_id, caller, wait) if wait else commands.row(command_id, caller))
    record = commands.record(row)
    answer: dict[str, Any] = {key: record[key] for key in _STATUS_FIELDS}
    if is_final(row):
        answer |= {"error": None, "path": record["path"], "result_rows": record["result_rows"], "qlog": record["qlog"]}
        if row["status"] == "done":
            root = commands.root(row)
            return await inline_answer(
                answer, root, row, commands.inline_limit, inline=True, headers=_is_true(include_headers)
            )
        answer |= {"error": record["message"] or row["status"], "inline": True, "results": ""}
    return json_response(answer)


@router.get(
    "/{command_id}/logs",
    dependencies=[NEEDS_TO_READ],
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_logs(
    command_id: Id,
    commands: CommandsDep,
    caller: ReaderDep,
    err_file_processed: _Offset = 0,
    tmp_file_processed: _Offset = 0,
) -> Response:
    """Return the log as text from a byte offset on, also while the command runs; the headers say where it ends now."""
    row = await commands.row(command_id, caller)
    log_file = commands.root(row) / "log"
    end = logs.log_length(log_file)
    headers = {"err_length": str(end), "tmp_length": str(tmp_file_processed), "Cache-Control": "no-store"}
    return await _streamed(logs.read_log(log_file, err_file_processed, end), _TEXT, headers)


@router.get(
    "/{command_id}/error_logs",
    dependencies=[NEEDS_TO_READ],
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_error_logs(command_id: Id, commands: CommandsDep, caller: ReaderDep) -> Response:
    """Return the error part: why each attempt failed, in the engine's own words; empty for a command that is well."""
    row = await commands.row(command_id, caller)
    texts = [item["message"] for item in row["attempts"] or [] if item["message"] and row["status"] != "done"]
    if not texts and row["status"] in ("error", "cancelled") and row["message"]:
        texts = [row["message"]]
    return Response("".join(f"{text}\n" for text in texts), media_type=_TEXT)


@router.get("/{command_id}/jobs", dependencies=[NEEDS_TO_READ], responses={200: {"model": Jobs}})
async def get_jobs(command_id: Id, commands: CommandsDep, caller: ReaderDep) -> Response:
    """Return the jobs that the command started on an engine; shell and DB query commands start none."""
    row = await commands.row(command_id, caller)
    return json_response({"jobs": await commands.jobs(row)})


@router.get(
    "/{command_id}/events",
    dependencies=[NEEDS_TO_READ],
    responses={200: {"content": {"text/event-stream": {"schema": EVENT_SCHEMA}}}},
)
async def follow_command(
    command_id: Id,
    commands: CommandsDep,
    caller: ReaderDep,
    last_event_id: Annotated[str | None, Header(max_length=64)] = None,
) -> Response:
    """Follow a command: events `status`, `progress`, `log`, `end`; `Last-Event-ID` resumes the log where it broke."""
    row = await commands.row(command_id, caller)
    return event_stream(commands, row, caller, last_event_id)


async def _typed(root: Path, row: Row, media_type: str) -> Response:
    """Return the rows in a form of their own. Raises `Invalid` where there are none, or not in this form."""
    if row["result"] is None:
        raise Invalid(f"command {row['id']} has no rows")
    result = results.from_json(row["result"])
    results.check_there(root, result)
    if media_type != ARROW_STREAM:
        await run_in_threadpool(results.check_form, root, result, media_type)
    elif (short := results.short_arrow(root, result)) is not None:
        return Response(short, media_type=media_type)
    return await _streamed(_FORMS[media_type](root, result), media_type)


async def _notebook(request: Request, commands: Commands, row: Row, media_type: str) -> Response:
    """Return the executed notebook of a command that has ended, however it did."""
    commands.check_final(row)
    file = executed_notebook(commands.root(row), len(row["attempts"] or []))
    if media_type == HTML:
        pages: NotebookPages = request.app.state.service.notebook_pages
        return FileResponse(await pages.page(file), media_type=HTML, headers=PAGE_HEADERS)
    return FileResponse(file, media_type=media_type)


def _is_true(flag: str) -> bool:
    return flag.lower() in ("true", "1")


def _clean(text: str | None) -> str | None:
    """PostgreSQL has no NUL in texts."""
    if text is not None and "\x00" in text:
        raise Invalid("a filter must not hold a NUL character")
    return text


async def _streamed(parts: Iterator[bytes], media_type: str, headers: dict[str, str] | None = None) -> Response:
    return StreamingResponse(iterate_in_threadpool(parts), media_type=media_type, headers=headers)
