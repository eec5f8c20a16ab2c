"""Finds and repairs what remains after a kill, a commit without an answer, or a clock that was set back.

Every function is one step inside the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from svc_jupyter.api.states import ActionStatus, CommandStatus
from svc_jupyter.service.schedules.dependency_looks import LOOK_SECONDS
from svc_jupyter.service.schedules.rows import Row
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.schedules import AT_ONCE, actions, schedules

_AT_ONCE = 500


def wake_stranded(connection: sa.Connection, now: float) -> None:
    """Make schedules with an action that has not begun due at once, and checks that are planned too late.

    These remain after a clock was set back. Rows locked by another transaction are left to it.
    """
    ready = sa.select(actions.c.schedule_id).where(
        sa.not_(actions.c.done), actions.c.command_id.is_(None), actions.c.status == ActionStatus.SUBMITTED
    )
    stranded = sa.select(schedules.c.id).where(schedules.c.id.in_(ready)).with_for_update(skip_locked=True)
    connection.execute(sa.update(schedules).where(schedules.c.id.in_(stranded)).values(due_at=AT_ONCE))
    late = sa.select(actions.c.id).where(actions.c.look_at > now + LOOK_SECONDS).with_for_update(skip_locked=True)
    connection.execute(sa.update(actions).where(actions.c.id.in_(late)).values(look_at=now))


def missed_ends(connection: sa.Connection) -> Sequence[Row]:
    """Return ended commands whose action has not ended: `id`, `status` and `message` of each."""
    under_way = sa.select(actions.c.command_id).where(sa.not_(actions.c.done), actions.c.command_id.is_not(None))
    ids = connection.execute(under_way).scalars().all()
    found: list[Row] = []
    for start in range(0, len(ids), _AT_ONCE):
        ended = connection.execute(
            sa.select(commands.c.id, commands.c.status, commands.c.message).where(
                commands.c.id.in_(ids[start : start + _AT_ONCE]),
                commands.c.status.in_([CommandStatus.DONE, CommandStatus.ERROR, CommandStatus.CANCELLED]),
            )
        ).mappings()
        found += [dict(row) for row in ended]
    return found
