"""Running notes, whose folders cannot be deleted meanwhile."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.ground.errors import StateConflict
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.workspace import notes

_OPEN = (CommandStatus.WAITING.value, CommandStatus.RUNNING.value)


def require_none_running(connection: sa.Connection, account_id: int, condition: sa.ColumnElement[bool]) -> None:
    """Raise `StateConflict`, naming one, when a waiting or running command runs one of these notes."""
    open_runs = connection.execute(
        sa.select(commands.c.id, commands.c.command["note_id"].as_string().label("note_id")).where(
            commands.c.status.in_(_OPEN),
            commands.c.account_id == account_id,
            commands.c.command_type == CommandType.SPARK.value,
        )
    ).all()
    commands_of = {int(row.note_id): row.id for row in open_runs if str(row.note_id).isdigit()}
    if not commands_of:
        return
    wanted = sa.bindparam(None, sorted(commands_of), expanding=True, literal_execute=True, type_=sa.BigInteger())
    found = connection.execute(
        sa.select(notes.c.id, notes.c.name).where(notes.c.id.in_(wanted), condition).limit(1)
    ).one_or_none()
    if found is not None:
        raise StateConflict(
            f"note {found.id} ({found.name}) is being run by command {commands_of[found.id]}; "
            "cancel it, or wait for its end"
        )
