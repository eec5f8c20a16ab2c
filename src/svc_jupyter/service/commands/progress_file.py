"""The progress of a durable process, read from a file that it rewrites: `<percent>`, or `<percent> <rows so far>`."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from svc_jupyter.service.commands.kind import Desk
from svc_jupyter.service.processes.durable_process import DurableProcess

_LOOK_SECONDS = 0.3


async def followed(process: DurableProcess, file: Path, desk: Desk) -> int | None:
    """Wait for the process and report its progress; return its exit code as `DurableProcess.wait` does."""
    ending = asyncio.ensure_future(process.wait())
    try:
        while not (await asyncio.wait({ending}, timeout=_LOOK_SECONDS))[0]:
            _tell(file, desk)
        return ending.result()
    finally:
        ending.cancel()


def _tell(file: Path, desk: Desk) -> None:
    with suppress(FileNotFoundError):
        percent, *rows = file.read_text("ascii").split()
        desk.progress(int(percent), int(rows[0]) if rows else None)
