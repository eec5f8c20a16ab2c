"""The row about a command's files: written at its end, pinned by users, read where files are missing."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Resource
from svc_jupyter.api.commands import CommandSource
from svc_jupyter.api.retention import CommandFiles, Files
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.database.database import Database, conflict_insert
from svc_jupyter.service.ground.errors import StateConflict
from svc_jupyter.service.schema.retention import command_files
from svc_jupyter.service.schema.schedules import actions

_SCHEDULE = sa.select(actions.c.schedule_id).where(actions.c.command_id == sa.bindparam("command")).limit(1)
_INSERTS: dict[str, sa.Executable] = {}
_IS_THERE = command_files.c.results_deleted_at.is_(None)
_BY_ID = sa.select(command_files).where(command_files.c.command_id == sa.bindparam("command"))


def on_command_end(connection: sa.Connection, row: CommandRow) -> None:
    """Note that the files of a command are complete, in the transaction that ends it."""
    if row.parent_id is None:
        _put(connection, row, ended_at=row.end_time or time.time())


async def command_files_of(database: Database, row: CommandRow) -> CommandFiles:
    """Return what is known about a command's files; a child's are those of its composite."""
    return _record(row, await database.look_up(partial(_find, command_id=row.parent_id or row.id)))


async def keep_files(database: Database, row: CommandRow, caller: Caller, *, keep: bool) -> CommandFiles:
    """Pin a command, or release it. Raises `StateConflict` when files to be pinned are gone."""
    return _record(row, await database.write(partial(_keep, row, caller, keep)))


async def deletion_of(database: Database, row: CommandRow, what: Files) -> str | None:
    """Return when and by which rule files of a command were deleted, as a text for users; None where they were not."""
    files = await command_files_of(database, row)
    deleted = files.results_deleted if what is Files.RESULTS else files.logs_deleted
    name = "result" if what is Files.RESULTS else "log"
    return None if deleted is None else f"the {name} of command {row.id} was {deleted}"


def _keep(row: CommandRow, caller: Caller, keep: bool, connection: sa.Connection) -> sa.Row[Any] | None:
    command_id = row.parent_id or row.id
    if row.parent_id is None:
        _put(connection, row, is_kept=keep)
    changed = connection.execute(
        sa.update(command_files)
        .where(command_files.c.command_id == command_id, sa.or_(sa.literal(not keep), _IS_THERE))
        .values(is_kept=keep)
    )
    found = _find(connection, command_id)
    if keep and not changed.rowcount:
        deleted = None if found is None else _deleted(found.results_deleted_at, found.results_deleted_by)
        raise StateConflict(
            f"command {row.id} cannot be kept: its result was {deleted}"
            if deleted
            else f"command {row.id} can be kept once its composite command {command_id} has ended; or keep that one"
        )
    trail.record(connection, caller, "keep" if keep else "release", Resource.COMMAND, row.id)
    return found


def _put(connection: sa.Connection, row: CommandRow, **values: Any) -> None:
    """Add the row about a command's files; where it is there, only its end changes."""
    schedule_id = None
    if row.command_source == CommandSource.SCHEDULED:
        schedule_id = connection.execute(_SCHEDULE, {"command": row.id}).scalar()
    new = {
        "command_id": row.id,
        "account_id": row.account_id,
        "command_type": row.command_type,
        "schedule_id": schedule_id,
        "ended_at": None,
        **values,
    }
    connection.execute(_insert(connection), new)


def _insert(connection: sa.Connection) -> sa.Executable:
    """Return the statement of a hot path, built once: building it takes ten times as long as running it."""
    dialect = connection.dialect.name
    if dialect not in _INSERTS:
        insert = conflict_insert(connection, command_files)
        ended_at = sa.func.coalesce(insert.excluded.ended_at, command_files.c.ended_at)
        key = [command_files.c.command_id]
        _INSERTS[dialect] = insert.on_conflict_do_update(index_elements=key, set_={"ended_at": ended_at})
    return _INSERTS[dialect]


def _find(connection: sa.Connection, command_id: int) -> sa.Row[Any] | None:
    return connection.execute(_BY_ID, {"command": command_id}).one_or_none()


def _record(row: CommandRow, found: sa.Row[Any] | None) -> CommandFiles:
    if found is None:
        return CommandFiles(id=row.id, keep=False)
    return CommandFiles(
        id=row.id,
        keep=found.is_kept,
        result_bytes=found.result_bytes,
        log_bytes=found.log_bytes,
        results_deleted=_deleted(found.results_deleted_at, found.results_deleted_by),
        logs_deleted=_deleted(found.logs_deleted_at, found.logs_deleted_by),
    )


def _deleted(at: float | None, rule: str | None) -> str | None:
    return None if at is None else f"deleted on {datetime.fromtimestamp(at, UTC):%Y-%m-%d} by the rule: {rule}"
