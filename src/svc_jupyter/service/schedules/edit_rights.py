"""Who may change what a schedule runs, and in whose names it then runs.

The right to update a schedule covers its times and notifications. A change of what it runs requires the right to create
it and, for another user's schedule, its command: otherwise an update could run anything in its owner's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_jupyter.api.schedules import ScheduleUpdate
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.running import lack_to_schedule
from svc_jupyter.service.clusters.gate import DEFAULT_LABEL
from svc_jupyter.service.commands.record import public
from svc_jupyter.service.ground.errors import Forbidden
from svc_jupyter.service.schedules.owner_rights import lack_to_change
from svc_jupyter.service.schedules.rows import Row


def editor_after(row: Row, body: ScheduleUpdate, by: Caller) -> int | None:
    """Return the user besides the owner who is responsible for what a schedule runs after an edit; None for no other.

    Raises `Forbidden` where the edit changes what runs and `by` may not. A user with the right who sends what runs
    becomes responsible, even if it is unchanged; an owner who sends the command becomes solely responsible.
    """
    if not body.model_fields_set & {"command", "macros", "label"}:
        return _editor(row)
    is_owner = by.user_id == row["user_id"]
    lack = (lack_to_schedule if is_owner else lack_to_change)(by, row["command_type"])
    if lack is None:
        return _editor(row) if is_owner and body.command is None else (None if is_owner else by.user_id)
    if _runs_otherwise(row, body):
        raise Forbidden(f"to change what schedule {row['id']} runs takes what creating it takes: {lack}")
    return _editor(row)


def _editor(row: Row) -> int | None:
    editor: int | None = row["edited_by"]
    return editor


def _runs_otherwise(row: Row, body: ScheduleUpdate) -> bool:
    """Return whether an edit differs from the schedule's record: many clients send back all of it."""
    given = body.model_fields_set
    if body.command is not None and _given(body.command) != _given(public(row["command"])):
        return True
    if "macros" in given and [dict(macro) for macro in body.macros or []] != (row["macros"] or []):
        return True
    return "label" in given and (body.label or DEFAULT_LABEL) != (row["label"] or DEFAULT_LABEL)


def _given(command: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in command.items() if value is not None}
