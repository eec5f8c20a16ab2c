"""Small results as text inside a JSON answer; large ones by where they lie."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from svc_jupyter.service.commands import results
from svc_jupyter.service.commands.kind import ResultForm, StoredResult
from svc_jupyter.service.commands.record import Row

_READ_AT_ONCE = 64 * 1024
"""A text result up to this size is read on the event loop: a thread would cost more than the read."""


async def inline_results(root: Path, row: Row, limit: int, *, inline: bool, headers: bool) -> dict[str, Any]:
    """Return the answer's fields `inline` with `results`, or with `result_location` when over `limit` bytes."""
    if row["result"] is None:
        return {"inline": True, "results": ""}
    result = results.from_json(row["result"])
    results.check_there(root, result)
    location = [_address(root / result.file)]
    if not inline or result.size > limit:
        return {"inline": False, "result_location": location}
    if result.form is ResultForm.LINES and result.size <= _READ_AT_ONCE:
        text: str | None = "".join(results.as_tsv(root, result, headers=headers))
    else:
        text = await asyncio.to_thread(_text_up_to, root, result, limit, headers)
    return {"inline": False, "result_location": location} if text is None else {"inline": True, "results": text}


def _address(file: Path) -> str:
    """Return where a file lies; the result of a composite command lies in the folder of one of its children."""
    return Path(os.path.normpath(file)).as_uri()


def _text_up_to(root: Path, result: StoredResult, limit: int, headers: bool) -> str | None:
    """Return the text, or None once it is over `limit` characters."""
    parts: list[str] = []
    size = 0
    for part in results.as_tsv(root, result, headers=headers):
        parts.append(part)
        size += len(part)
        if size > limit:
            return None
    return "".join(parts)
