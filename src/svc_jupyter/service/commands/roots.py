"""Where the folders of commands are, and what still runs in them.

A folder's name holds the command's id and a random key from its row. After a database is restored from a backup or
replaced, ids repeat, but keys do not. So a command never finds another one's files, and no user reads the log or result
of another command.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import structlog

from svc_jupyter.service.commands import queue
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.processes.marks import mark_of, marked_processes

_COMMANDS_PER_FOLDER = 1000
_KEY_BYTES = 6
log = structlog.get_logger(__name__)


class RootName(NamedTuple):
    """The parts of the name of a command's folder."""

    command_id: int
    key: str


def new_folder_key() -> str:
    """Return a new random key for the folder of a command."""
    return secrets.token_hex(_KEY_BYTES)


def command_root(commands_dir: Path, row: Mapping[Any, Any]) -> Path:
    """Return the folder of a row's command; a parent holds a thousand, since large folders are slow."""
    command_id: int = row["id"]
    return commands_dir / str(command_id // _COMMANDS_PER_FOLDER) / f"{command_id}-{row['folder_key']}"


def parse_root_name(name: str) -> RootName | None:
    """Return the parts of a folder's name; None for a name that no command's folder has."""
    number, _, key = name.partition("-")
    return RootName(int(number), key) if number.isascii() and number.isdigit() and key else None


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
