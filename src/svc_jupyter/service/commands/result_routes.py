"""Results of commands in every form, and their logs, over HTTP.

Small results are text inside a JSON answer, large ones are given by their location. That answer is written to a file
and sent from there: as JSON, a text may be six times as long.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import FileResponse, StreamingResponse
from pydantic_core import to_json
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool

from svc_jupyter.api.commands import Results, StatusWithResults
from svc_jupyter.api.fields import Id
from svc_jupyter.api.paths import ARROW_STREAM, CSV, HTML, NOTEBOOK, PARQUET
from svc_jupyter.api.retention import Files
from svc_jupyter.service.commands import logs, results
from svc_jupyter.service.commands.kind import ResultForm, StoredResult
from svc_jupyter.service.commands.route_parameters import NEEDS_TO_READ, CommandsDep, Flag, ReaderDep, Seconds, is_true
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.http.responses import json_response
from svc_jupyter.service.http.routers import resource_router

router = resource_router(prefix="/commands", tags=["commands"])
_FORMS = {ARROW_STREAM: results.as_arrow, CSV: results.as_csv, PARQUET: results.as_parquet}
_NOTEBOOK_FORMS = (NOTEBOOK, HTML)
_TEXT = "text/plain; charset=utf-8"
_READ_AT_ONCE = 64 * 1024
"""A text result up to this size is read on the event loop: a thread would take longer than the read."""
_IN_MEMORY = 256 * 1024
_CHUNK = 1 << 20
_JSON = "application/json"
_TIMES = ("start_time", "end_time", "started_at", "ended_at")
_STATUS_FIELDS = ("id", "status", "progress", "message", *_TIMES, "attempts")
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
) -> Response:
    """Return the results: as text in JSON or, by `Accept`, as a stream of Arrow, CSV or Parquet.

    422 until the command is done. For an ended Jupyter notebook command, successful or not, the executed notebook is
    available, too, as a notebook or as HTML.
    """
    row = await commands.row(command_id, caller)
    if sequence_number is not None:
        row = await commands.child_row(row, sequence_number)
    async with commands.naming_deletion(row, Files.RESULTS):
        accepted = request.headers.get("accept", "").split(",")[0].split(";")[0].strip()
        document = await commands.document(row, accepted)
        if document is not None:
            return FileResponse(document.file, media_type=accepted, headers=document.headers)
        form = _FORMS.get(accepted)
        commands.check_ended(row)
        result = result_of(row, dump, table)
        root = commands.root(row)
        if form is None:
            return await _inline(
                {}, root, result, commands.inline_limit, inline=is_true(inline), headers=is_true(include_headers)
            )
        if result is None:
            raise Invalid(f"command {row.id} has no rows")
        return await _typed(root, result, accepted)


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
    """Return the status and, after the end of the command, its results or its error."""
    row = await (commands.wait(command_id, caller, wait) if wait else commands.row(command_id, caller))
    record = commands.record(row)
    answer: dict[str, Any] = {key: record[key] for key in _STATUS_FIELDS}
    if row.is_final:
        answer["error"] = None
        answer |= {key: record[key] for key in ("path", "result_rows", "result_bytes", "qlog")}
        if row.status == "done":
            root, result = commands.root(row), result_of(row)
            async with commands.naming_deletion(row, Files.RESULTS):
                return await _inline(
                    answer, root, result, commands.inline_limit, inline=True, headers=is_true(include_headers)
                )
        answer |= {"error": record["message"] or row.status, "inline": True, "results": ""}
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
    tmp_file_processed: _Offset = 0,  # noqa: ARG001  clients send it: an offset in another log, which is always empty
) -> Response:
    """Return the log as text from a byte offset on, also while the command runs.

    `err_length` is how many bytes follow the offset, and `tmp_length` how many of another log; as clients add these to
    their offsets, `log_length` is the length of the whole log.
    """
    row = await commands.row(command_id, caller)
    log_file = commands.root(row) / "log"
    end = logs.log_length(log_file)
    if not end and row.is_final and (deletion := await commands.deletion(row, Files.LOGS)) is not None:
        raise NotFound(deletion)
    headers = {
        "err_length": str(max(0, end - err_file_processed)),
        "tmp_length": "0",
        "log_length": str(end),
        "Cache-Control": "no-store",
    }
    return await _streamed(logs.read_log(log_file, err_file_processed, end), _TEXT, headers)


@router.get(
    "/{command_id}/error_logs",
    dependencies=[NEEDS_TO_READ],
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_error_logs(command_id: Id, commands: CommandsDep, caller: ReaderDep) -> Response:
    """Return why each attempt failed, in the engine's own words. Empty if none failed."""
    row = await commands.row(command_id, caller)
    texts = [item["message"] for item in row.attempts or [] if item["message"] and row.status != "done"]
    if not texts and row.status in ("error", "cancelled") and row.message:
        texts = [row.message]
    return Response("".join(f"{text}\n" for text in texts), media_type=_TEXT)


async def _typed(root: Path, result: StoredResult, media_type: str) -> Response:
    """Return the rows in a form of their own. Raises `Invalid` where they cannot be sent in it."""
    results.check_there(root, result)
    if media_type != ARROW_STREAM:
        await run_in_threadpool(results.check_form, root, result, media_type)
    elif (short := results.short_arrow(root, result)) is not None:
        return Response(short, media_type=media_type)
    return await _streamed(_FORMS[media_type](root, result), media_type)


async def _streamed(parts: Iterator[bytes], media_type: str, headers: dict[str, str] | None = None) -> Response:
    return StreamingResponse(iterate_in_threadpool(parts), media_type=media_type, headers=headers)


async def _inline(
    answer: Mapping[str, Any], root: Path, result: StoredResult | None, limit: int, *, inline: bool, headers: bool
) -> Response:
    """Return the answer with `inline` and `results`, or with `result_location` where that is over `limit` bytes."""
    if result is None:
        return json_response({**answer, "inline": True, "results": ""})
    results.check_there(root, result)
    elsewhere = {**answer, "inline": False, "result_location": [_address(root / result.file)]}
    if not inline or result.size > limit:
        return json_response(elsewhere)
    if result.form is ResultForm.LINES and result.size <= _READ_AT_ONCE:
        text = "".join(results.as_tsv(root, result, headers=headers))
        return json_response({**answer, "inline": True, "results": text})
    body = await asyncio.to_thread(_body, answer, root, result, limit, headers)
    if body is None:
        return json_response(elsewhere)
    size = body.tell()
    body.seek(0)
    if size <= _IN_MEMORY:
        return Response(body.read(), media_type=_JSON)
    return StreamingResponse(
        iterate_in_threadpool(_chunks(body)), media_type=_JSON, headers={"Content-Length": str(size)}
    )


def _address(file: Path) -> str:
    """Return the location of a file; a composite's result is in the folder of one of its children."""
    return Path(os.path.normpath(file)).as_uri()


def _body(
    answer: Mapping[str, Any], root: Path, result: StoredResult, limit: int, headers: bool
) -> SpooledTemporaryFile[bytes] | None:
    """Return the complete answer as JSON, or None once the text exceeds `limit` characters."""
    body: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(max_size=_IN_MEMORY, dir=str(root))  # noqa: SIM115  the answer closes it
    body.write(to_json({**answer, "inline": True})[:-1] + b',"results":"')
    size = 0
    try:
        for part in results.as_tsv(root, result, headers=headers):
            size += len(part)
            if size > limit:
                body.close()
                return None
            body.write(to_json(part)[1:-1])
    except BaseException as error:
        body.close()
        if isinstance(error, results.TooLarge):
            return None
        raise
    body.write(b'"}')
    return body


def _chunks(body: SpooledTemporaryFile[bytes]) -> Iterator[bytes]:
    with body:
        while chunk := body.read(_CHUNK):
            yield chunk


def result_of(row: CommandRow, dump: str | None = None, table: str | None = None) -> StoredResult | None:
    """Return the result of a command that is done, or one of its several tables. Raises `NotFound`."""
    if table is not None:
        return stored_table(row, table)
    if dump is not None:
        return stored_dump(row, dump)
    return StoredResult.of(row)


def stored_dump(row: CommandRow, wanted: str) -> StoredResult | None:
    """Return the rows of a command's DUMP by number, from 1, or of an alias's last one. Raises `NotFound`."""
    dumps = (row.outputs or {}).get("dumps") or []
    numbers = [number for number, dump in enumerate(dumps, start=1) if wanted in (dump["alias"], str(number))]
    if not numbers:
        there = ", ".join(dict.fromkeys(dump["alias"] for dump in dumps)) or "none"
        raise NotFound(f"command {row.id} has no DUMP {wanted[:100]!r}; there is {there}")
    number = numbers[-1]
    return StoredResult.of(row) if number == len(dumps) else _beside(row, f"dump-{number}.arrow", dumps[number - 1])


def stored_table(row: CommandRow, wanted: str) -> StoredResult:
    """Return the rows of a note's TABLE by number, from 1, or of a paragraph's last one. Raises `NotFound`."""
    tables = (row.outputs or {}).get("tables") or []
    found = [
        table
        for number, table in enumerate(tables, start=1)
        if wanted in (str(number), table["paragraph"], table["title"])
    ]
    if not found:
        there = f"there are {len(tables)}, numbered from 1" if tables else "there is none"
        raise NotFound(f"command {row.id} has no table {wanted[:100]!r}; {there}")
    return _beside(row, found[-1]["file"], found[-1])


def _beside(row: CommandRow, name: str, written: Mapping[str, Any]) -> StoredResult:
    """Return the rows in a file beside those of the last table, which are a command's result by default."""
    last = StoredResult.of(row)
    assert last is not None
    return StoredResult.of_rows(str(PurePosixPath(last.file).with_name(name)), written)
