"""The newest action of each schedule of a list, which shows how the last runs ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.schedules.rows import Row
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.schedules import actions, schedules

_NEWEST_ID = sa.select(sa.func.max(actions.c.id)).where(actions.c.schedule_id == schedules.c.id).scalar_subquery()
"""Reads the end of an index once per schedule, however many actions it had."""
_COLUMNS = (
    actions.c.id,
    actions.c.schedule_id,
    actions.c.sequence_id,
    actions.c.nominal_time,
    actions.c.done,
    actions.c.status,
    actions.c.message,
    actions.c.command_id,
    commands.c.status.label("command_status"),
    commands.c.message.label("command_message"),
)


def last_actions(connection: sa.Connection, schedule_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the newest actions by schedule id, in the shape of `LastAction`; with one query."""
    if not schedule_ids:
        return {}
    newest = sa.select(_NEWEST_ID).where(schedules.c.id.in_(schedule_ids))
    query = (
        sa.select(*_COLUMNS)
        .outerjoin_from(actions, commands, commands.c.id == actions.c.command_id)
        .where(actions.c.id.in_(newest))
    )
    return {row["schedule_id"]: _told(dict(row)) for row in connection.execute(query).mappings()}


def _told(found: Row) -> dict[str, Any]:
    return {
        "id": found["id"],
        "sequence_id": found["sequence_id"],
        "nominal_time": iso_time(found["nominal_time"]),
        "done": found["done"],
        "status": found["command_status"] or found["status"],
        "query_hist_id": found["command_id"],
        "message": found["message"] or found["command_message"],
    }
