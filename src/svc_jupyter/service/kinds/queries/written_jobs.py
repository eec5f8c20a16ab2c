"""The jobs that a command's workers recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from svc_jupyter.service.db_taps.job import JOBS_FILE
from svc_jupyter.service.ground.errors import Invalid

_MOST_BYTES = 4 << 20
"""About 20,000 jobs; as objects they take ten times as much."""


async def written_jobs(root: Path) -> list[Mapping[str, Any]]:
    """Return the jobs that the workers of a command's attempts recorded, in order.

    Raises `Invalid` when the list is too large to show, or damaged.
    """
    return await asyncio.to_thread(_jobs_in, root)


def _jobs_in(root: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    left = _MOST_BYTES
    for folder in sorted((path for path in root.iterdir() if path.name.isdecimal()), key=lambda path: int(path.name)):
        file = folder / JOBS_FILE
        try:
            with file.open("rb") as stream:
                text = stream.read(left + 1)
        except FileNotFoundError:
            continue
        if len(text) > left:
            raise Invalid(f"the list of its jobs has more than {_MOST_BYTES >> 20} MiB; it is at {file.as_uri()}")
        left -= len(text)
        try:
            found += json.loads(text)
        except ValueError:
            raise Invalid(f"the list of its jobs cannot be read: {file.as_uri()} was changed") from None
    return found
