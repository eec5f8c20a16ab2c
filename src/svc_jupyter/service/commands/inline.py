"""Small results as text inside a JSON answer, large ones by their location.

The answer is written to a file and sent from there: as JSON, a text may be six times as long.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

from fastapi import Response
from fastapi.responses import StreamingResponse
from pydantic_core import to_json
from starlette.concurrency import iterate_in_threadpool

from svc_jupyter.service.commands import results
from svc_jupyter.service.commands.kind import ResultForm, StoredResult
from svc_jupyter.service.commands.record import Row
from svc_jupyter.service.http.responses import json_response

_READ_AT_ONCE = 64 * 1024
"""A text result up to this size is read on the event loop: a thread would take longer than the read."""
_IN_MEMORY = 256 * 1024
_CHUNK = 1 << 20
_JSON = "application/json"


async def inline_answer(
    answer: Mapping[str, Any], root: Path, row: Row, limit: int, *, inline: bool, headers: bool
) -> Response:
    """Return the answer with `inline` and `results`, or with `result_location` where that is over `limit` bytes."""
    if row["result"] is None:
        return json_response({**answer, "inline": True, "results": ""})
    result = results.from_json(row["result"])
    results.check_there(root, result)
    elsewhere = {**answer, "inline": False, "result_location": [_address(root / result.file)]}
    if not inline or result.size > limit:
        return json_response(elsewhere)
    if result.form is ResultForm.LINES and result.size <= _READ_AT_ONCE:
        return json_response({**answer, "inline": True, "results": "".join(_tsv(root, result, headers))})
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
    """Return the location of a file; a composite's result lies in the folder of one of its children."""
    return Path(os.path.normpath(file)).as_uri()


def _tsv(root: Path, result: StoredResult, headers: bool) -> Iterator[str]:
    return results.as_tsv(root, result, headers=headers)


def _body(
    answer: Mapping[str, Any], root: Path, result: StoredResult, limit: int, headers: bool
) -> SpooledTemporaryFile[bytes] | None:
    """Return the complete answer as JSON, or None once the text exceeds `limit` characters."""
    body: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(max_size=_IN_MEMORY, dir=str(root))  # noqa: SIM115  the answer closes it
    body.write(to_json({**answer, "inline": True})[:-1] + b',"results":"')
    size = 0
    try:
        for part in _tsv(root, result, headers):
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
