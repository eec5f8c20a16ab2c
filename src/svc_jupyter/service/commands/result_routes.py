"""Results of commands in every form, and their logs, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, StreamingResponse
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool

from svc_jupyter.api.commands import Results, StatusWithResults
from svc_jupyter.api.fields import Id
from svc_jupyter.api.paths import ARROW_STREAM, CSV, HTML, NOTEBOOK, PARQUET
from svc_jupyter.service.commands import logs, results
from svc_jupyter.service.commands.dumps import stored_dump, stored_table
from svc_jupyter.service.commands.growing import growing_rows
from svc_jupyter.service.commands.inline import inline_answer
from svc_jupyter.service.commands.record import Row, is_final
from svc_jupyter.service.commands.route_parameters import NEEDS_TO_READ, CommandsDep, Flag, ReaderDep, Seconds, is_true
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.bodies import JsonRoute
from svc_jupyter.service.http.responses import json_response

router = APIRouter(prefix="/commands", tags=["commands"], route_class=JsonRoute)
_FORMS = {ARROW_STREAM: results.as_arrow, CSV: results.as_csv, PARQUET: results.as_parquet}
_NOTEBOOK_FORMS = (NOTEBOOK, HTML)
_TEXT = "text/plain; charset=utf-8"
_STATUS_FIELDS = ("id", "status", "progress", "message", "start_time", "end_time", "attempts")
_Offset = Annotated[int, Query(ge=0, le=2**62)]


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
    inline: Flag = "true",
    include_headers: Flag = "false",
    sequence_number: Annotated[int | None, Query(description="which sub-command's, from 1, of a composite")] = None,
    dump: Annotated[
        str | None, Query(max_length=255, description="which DUMP's of a Pig command: alias, or number from 1")
    ] = None,
    table: Annotated[
        str | None, Query(max_length=255, description="which TABLE of a note's run: number from 1, or its paragraph")
    ] = None,
    follow: Flag = "false",
    wait: Seconds = 0,
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
    document = await commands.document(row, accepted)
    if document is not None:
        return FileResponse(document.file, media_type=accepted, headers=document.headers)
    form = _FORMS.get(accepted)
    if is_true(follow) and form is results.as_arrow and dump is None:
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
            {}, root, row, commands.inline_limit, inline=is_true(inline), headers=is_true(include_headers)
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
    include_headers: Flag = "false",
    wait: Seconds = 0,
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
                answer, root, row, commands.inline_limit, inline=True, headers=is_true(include_headers)
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


async def _streamed(parts: Iterator[bytes], media_type: str, headers: dict[str, str] | None = None) -> Response:
    return StreamingResponse(iterate_in_threadpool(parts), media_type=media_type, headers=headers)
