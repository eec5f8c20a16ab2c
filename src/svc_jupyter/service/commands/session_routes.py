"""Cells of interactive notebooks over HTTP: their messages, and questions to their sessions (extensions)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Query

from svc_jupyter.api.fields import Id
from svc_jupyter.api.sessions import CellMessage, CellMessages, Completions, Inspection, SessionEnd, SessionQuestion
from svc_jupyter.service.access.dependencies import CallerDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.commands.route_parameters import NEEDS_TO_READ, CommandsDep, ReaderDep
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.ground.errors import Forbidden
from svc_jupyter.service.http.routers import resource_router

router = resource_router(prefix="/commands/{command_id}", tags=["commands"])
_NEEDS_TO_CHANGE = needs(Action.UPDATE, Resource.COMMAND)
_MOST_BYTES = 4 * 2**20


async def _own(command_id: Id, commands: CommandsDep, caller: CallerDep) -> CommandRow:
    """Return a command of the caller's own: a session shows its user's variables."""
    row = await commands.row(command_id, caller)
    if row.user_id != caller.user_id:
        raise Forbidden(f"command {command_id} is none of yours: only its user may use its session")
    return row


OwnDep = Annotated[CommandRow, Depends(_own)]


@router.get("/messages", dependencies=[NEEDS_TO_READ])
async def get_messages(
    command_id: Id, commands: CommandsDep, caller: ReaderDep, offset: Annotated[int, Query(ge=0, le=2**53)] = 0
) -> CellMessages:
    """Return what a cell has printed and shown so far, from byte `offset` of its output on; at most a few megabytes."""
    row = await commands.row(command_id, caller)
    name = commands.session_kind(row).messages_file
    return await asyncio.to_thread(_messages, commands.root(row), name, offset)


@router.post("/session/completions", dependencies=[_NEEDS_TO_CHANGE])
async def complete(row: OwnDep, body: SessionQuestion, commands: CommandsDep) -> Completions:
    """Return completions from the live session of one's own command; none while the session runs a program."""
    answer = await commands.session_kind(row).ask_session(row, body.model_dump())
    return Completions.model_validate(answer or {"matches": [], "start": body.cursor, "end": body.cursor})


@router.post("/session/inspections", dependencies=[_NEEDS_TO_CHANGE])
async def inspect(row: OwnDep, body: SessionQuestion, commands: CommandsDep) -> Inspection:
    """Return the description of a name from the live session of one's own command."""
    answer = await commands.session_kind(row).ask_session(row, {**body.model_dump(), "inspect": True})
    return Inspection.model_validate(answer or {})


@router.delete("/session", dependencies=[_NEEDS_TO_CHANGE])
async def end_session(row: OwnDep, commands: CommandsDep) -> SessionEnd:
    """End the session of one's own command, and what runs in it."""
    return SessionEnd(ended=await commands.session_kind(row).end_session(row))


def _messages(root: Path, name: str, offset: int) -> CellMessages:
    """Read whole lines of the latest attempt's messages."""
    attempts = [int(folder.name) for folder in root.iterdir() if folder.name.isdecimal()] if root.exists() else []
    file = root / str(max(attempts, default=0)) / name
    if not file.exists():
        return CellMessages(messages=[], offset=offset, end=offset)
    with file.open("rb") as source:
        source.seek(offset)
        lines: list[bytes] = []
        end = offset
        while end - offset < _MOST_BYTES and (line := source.readline()).endswith(b"\n"):
            lines.append(line)
            end += len(line)
    stored: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return CellMessages(
        messages=[CellMessage(type=one["type"], data=one["data"]) for one in stored], offset=offset, end=end
    )
