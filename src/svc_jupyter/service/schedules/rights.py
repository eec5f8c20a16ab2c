"""Who may change what a schedule runs, and whether its users still have the rights to run it.

A schedule runs in its owner's name, limited to the rights of its last editor. When one of them is disabled or has lost
the right that creating or changing it requires, nothing runs any more: the actions end in `error` with the reason.

The right to update a schedule covers its times and notifications. A change of what it runs requires the right to create
it and, for another user's schedule, its command: otherwise an update could run anything in its owner's name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.schedules import ScheduleUpdate
from svc_jupyter.service.access.caller_reading import enabled_owners
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import lack_to_schedule, lack_to_submit
from svc_jupyter.service.clusters.gate import DEFAULT_LABEL
from svc_jupyter.service.commands.record import public
from svc_jupyter.service.ground.errors import Forbidden
from svc_jupyter.service.schema.schedules import Schedule

_DISABLED = "not run: the schedule's owner is disabled; enable the user, or let somebody else create the schedule"
_ANEW = "let its owner send the schedule's `command` again once it is right"


def refusals(connection: sa.Connection, due: Collection[Schedule]) -> Mapping[int, str]:
    """Return why schedules may not run, by schedule id; those that may run are not in it."""
    users = {user for schedule in due for user in (schedule.user_id, schedule.edited_by) if user is not None}
    callers = enabled_owners(connection, users)
    found = {schedule.id: refusal(schedule, callers) for schedule in due}
    return {schedule_id: reason for schedule_id, reason in found.items() if reason is not None}


def refusal(schedule: Schedule, callers: Mapping[int, Caller]) -> str | None:
    """Return why a schedule may not run, None where it may; `callers` has its enabled users. Pure."""
    owner, command_type = callers.get(schedule.user_id), schedule.command_type
    if owner is None:
        return _DISABLED
    if lack := lack_to_schedule(owner, command_type):
        return (
            f"not run: the schedule's owner {owner.email} may not run schedules any more; {lack}. Give it back, or let "
            "somebody else create the schedule"
        )
    if schedule.edited_by is None:
        return None
    editor = callers.get(schedule.edited_by)
    if editor is None:
        return f"not run: user {schedule.edited_by}, who changed what the schedule runs, is disabled; {_ANEW}"
    if lack := lack_to_change(editor, command_type):
        return f"not run: {editor.email}, who changed what the schedule runs, may not do so any more; {lack}; {_ANEW}"
    return None


def lack_to_change(caller: Caller, command_type: str) -> str | None:
    """Return the missing right to change another user's schedule: to create it and its command. Pure."""
    return lack_to_schedule(caller, command_type) or lack_to_submit(caller, command_type)


def editor_after(row: Schedule, body: ScheduleUpdate, by: Caller) -> int | None:
    """Return the user besides the owner who is responsible for what a schedule runs after an edit; None for no other.

    Raises `Forbidden` where the edit changes what runs and `by` may not. A user with the right who sends what runs
    becomes responsible, even if it is unchanged; an owner who sends the command becomes solely responsible.
    """
    if not body.model_fields_set & {"command", "macros", "label"}:
        return row.edited_by
    is_owner = by.user_id == row.user_id
    lack = (lack_to_schedule if is_owner else lack_to_change)(by, row.command_type)
    if lack is None:
        return row.edited_by if is_owner and body.command is None else (None if is_owner else by.user_id)
    if _runs_otherwise(row, body):
        raise Forbidden(f"to change what schedule {row.id} runs takes what creating it takes: {lack}")
    return row.edited_by


def _runs_otherwise(row: Schedule, body: ScheduleUpdate) -> bool:
    """Return whether an edit differs from the schedule's record: many clients send back all of it."""
    given = body.model_fields_set
    if body.command is not None and _given(body.command) != _given(public(row.command)):
        return True
    if "macros" in given and [dict(macro) for macro in body.macros or []] != (row.macros or []):
        return True
    return "label" in given and (body.label or DEFAULT_LABEL) != (row.label or DEFAULT_LABEL)


def _given(command: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in command.items() if value is not None}
