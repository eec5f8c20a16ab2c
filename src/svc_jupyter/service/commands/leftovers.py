"""Processes that left their command's group and outlived it."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from pathlib import Path

import psutil
import structlog

from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.roots import RootName, parse_root_name
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.processes.marks import mark_of, marked_processes

log = structlog.get_logger(__name__)


async def end_leftovers(commands_dir: Path, database: Database) -> None:
    """End the processes with the mark of a command that no longer runs; raises `Unavailable`."""
    for name, process in await asyncio.to_thread(_marked_under, commands_dir):
        if not await database.read(partial(queue.is_running, command_id=name.command_id, folder_key=name.key)):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
                log.warning("leftover_process_ended", command_id=name.command_id, pid=process.pid)


def _marked_under(commands_dir: Path) -> list[tuple[RootName, psutil.Process]]:
    marked = [(Path(mark_of(process) or "/"), process) for process in marked_processes()]
    # A program may itself set the mark to any value.
    ours = [(parse_root_name(mark.parent.name), process) for mark, process in marked if commands_dir in mark.parents]
    return [(name, process) for name, process in ours if name is not None]
