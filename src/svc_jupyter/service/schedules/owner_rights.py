"""Whether the users of a schedule still have the rights to run it.

A schedule runs in its owner's name, limited to the rights of its last editor. When one of them is disabled or has lost
the right that creating or changing it requires, nothing runs any more: the actions end in `error` with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import sqlalchemy as sa

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.owners import enabled_owners
from svc_jupyter.service.access.running import lack_to_schedule, lack_to_submit
from svc_jupyter.service.schedules.rows import Row

_DISABLED = "not run: the schedule's owner is disabled; enable the user, or let somebody else create the schedule"
_ANEW = "let its owner send the schedule's `command` again once it is right"


def refusals(connection: sa.Connection, due: Collection[Row]) -> Mapping[int, str]:
    """Return why schedules may not run, by schedule id; those that may run are not in it."""
    users = {row[who] for row in due for who in ("user_id", "edited_by")} - {None}
    callers = enabled_owners(connection, users)
    found = {row["id"]: refusal(row, callers) for row in due}
    return {schedule_id: reason for schedule_id, reason in found.items() if reason is not None}


def refusal(schedule: Row, callers: Mapping[int, Caller]) -> str | None:
    """Return why a schedule may not run, None where it may; `callers` has its enabled users. Pure."""
    owner, command_type = callers.get(schedule["user_id"]), schedule["command_type"]
    if owner is None:
        return _DISABLED
    if lack := lack_to_schedule(owner, command_type):
        return (
            f"not run: the schedule's owner {owner.email} may not run schedules any more; {lack}. Give it back, or let "
            "somebody else create the schedule"
        )
    if schedule["edited_by"] is None:
        return None
    editor = callers.get(schedule["edited_by"])
    if editor is None:
        return f"not run: user {schedule['edited_by']}, who changed what the schedule runs, is disabled; {_ANEW}"
    if lack := lack_to_change(editor, command_type):
        return f"not run: {editor.email}, who changed what the schedule runs, may not do so any more; {lack}; {_ANEW}"
    return None


def lack_to_change(caller: Caller, command_type: str) -> str | None:
    """Return the missing right to change another user's schedule: to create it and its command. Pure."""
    return lack_to_schedule(caller, command_type) or lack_to_submit(caller, command_type)
