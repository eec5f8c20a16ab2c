"""Checks of dependencies: which actions are due for a check, and what follows from its result.

Every function is one step inside the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.states import ActionStatus
from svc_jupyter.service.schedules.advance import may_run
from svc_jupyter.service.schedules.materialisation import Materialisation, lock
from svc_jupyter.service.schedules.rows import Row
from svc_jupyter.service.schema.schedules import actions, schedules

LOOK_SECONDS = 10.0
"""The longest interval between two checks of an action's dependencies."""
_FIRST_LOOK_SECONDS = 0.5
"""Shortest interval of checks; an interval is half the action's age, so that new files are found soon."""
_AT_ONCE = 50
_PLAN = sa.update(actions).where(actions.c.id == sa.bindparam("this_action"))
_DECIDING = ("dependency_info", "time_zone", "start_time", "frequency", "time_unit", "cron_expression")
"""The columns of a schedule that decide which files its actions wait for."""


@dataclass(frozen=True, slots=True)
class Look:
    """An action due for a check, and its schedule, as they were when the check was taken."""

    action: Row
    schedule: Row


@dataclass(frozen=True, slots=True)
class Sight:
    """The result of a check. `problem` is why something could not be checked; it counts as not found."""

    found: Sequence[str]
    not_found: Sequence[str]
    problem: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether everything was found."""
        return not self.not_found and self.problem is None

    def is_news_for(self, look: Look, now: float) -> bool:
        """Return whether the action's row must be changed."""
        known = look.action["dependencies"], look.action["message"]
        return self.is_complete or self.as_columns() != known or is_over(look.action, look.schedule, now)

    def as_columns(self) -> tuple[dict[str, list[str]], str | None]:
        """Return the columns `dependencies` and `message` of the action's row."""
        return {"found": list(self.found), "not_found": list(self.not_found)}, self.problem


def deadline(action: Row, schedule: Row) -> float | None:
    """Return when an action gives up: `time_out` after the latest of nominal time, materialisation and resume."""
    if not schedule["time_out"]:
        return None
    since = max(action["nominal_time"], action["created_at"], schedule["resumed_at"] or 0.0)
    return float(since + 60 * schedule["time_out"])


def is_over(action: Row, schedule: Row, now: float) -> bool:
    """Return whether an action's time for its dependencies has passed."""
    moment = deadline(action, schedule)
    return moment is not None and now >= moment


def take_due(connection: sa.Connection, now: float) -> list[Look]:
    """Return the actions to check now, and plan their next checks."""
    due = connection.execute(
        sa.select(actions)
        .where(actions.c.look_at <= now)
        .order_by(actions.c.look_at)
        .limit(_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    rows = [dict(row) for row in due.mappings()]
    if not rows:
        return []
    wanted = {row["schedule_id"] for row in rows}
    theirs = connection.execute(sa.select(schedules).where(schedules.c.id.in_(wanted))).mappings()
    by_id = {row["id"]: dict(row) for row in theirs}
    looks = [Look(row, by_id[row["schedule_id"]]) for row in rows]
    connection.execute(_PLAN, [{"this_action": look.action["id"], "look_at": _next_look(look, now)} for look in looks])
    return looks


def note(connection: sa.Connection, work: Materialisation, look: Look, sight: Sight, now: float) -> None:
    """Write the result of a check: the action becomes ready, keeps waiting, or ends as `not_found`.

    Writes nothing when the action or its dependencies have changed meanwhile: its next check is planned.
    """
    action_id = look.action["id"]
    schedule = lock(connection, look.schedule["id"])
    if any(schedule[key] != look.schedule[key] for key in _DECIDING):
        return
    dependencies, problem = sight.as_columns()
    values: dict[str, Any] = {"dependencies": dependencies, "message": problem}
    if sight.is_complete:
        values |= {"status": ActionStatus.SUBMITTED.value, "look_at": None}
    still_waits = (actions.c.id == action_id, actions.c.status == ActionStatus.WAITING, sa.not_(actions.c.done))
    if connection.execute(sa.update(actions).where(*still_waits).values(**values)).rowcount == 0:
        return
    if sight.is_complete:
        work.wake(connection, schedule["id"])
    elif is_over(look.action, schedule, now) and may_run(schedule, look.action):
        message = _given_up(schedule["time_out"], sight)
        work.end(connection, schedule, action_id, status=ActionStatus.NOT_FOUND.value, message=message, now=now)


def pause(connection: sa.Connection, schedule_id: int) -> None:
    """Stop the checks of a schedule's own actions until it is resumed."""
    connection.execute(_waiting(schedule_id).where(actions.c.rerun_number == 0).values(look_at=None))


def look_soon(connection: sa.Connection, schedule: Row, now: float) -> None:
    """Check the dependencies of a locked schedule's actions at once, after a resume or a change of `time_out`."""
    which = sa.true() if may_run(schedule, {"rerun_number": 0}) else actions.c.rerun_number > 0
    connection.execute(_waiting(schedule["id"]).where(which).values(look_at=now))


def begin_anew(connection: sa.Connection, schedule: Row, now: float) -> None:
    """Let the actions of a locked schedule that have not begun wait for its current dependencies."""
    waits = schedule["dependency_info"] is not None
    status = ActionStatus.WAITING if waits else ActionStatus.SUBMITTED
    connection.execute(
        sa.update(actions)
        .where(actions.c.schedule_id == schedule["id"], sa.not_(actions.c.done), actions.c.command_id.is_(None))
        .values(status=status.value, dependencies=None, message=None, look_at=None)
    )
    if waits:
        look_soon(connection, schedule, now)


def decides_otherwise(before: Row, after: Row) -> bool:
    """Return whether an edit changes which files a schedule's actions wait for."""
    depends = before["dependency_info"] is not None or after["dependency_info"] is not None
    return depends and any(before[key] != after[key] for key in _DECIDING)


def _waiting(schedule_id: int) -> sa.Update:
    return sa.update(actions).where(
        actions.c.schedule_id == schedule_id,
        actions.c.status == ActionStatus.WAITING,
        actions.c.command_id.is_(None),
        sa.not_(actions.c.done),
    )


def _next_look(look: Look, now: float) -> float:
    waited: float = now - look.action["created_at"]
    planned = now + min(max(waited / 2, _FIRST_LOOK_SECONDS), LOOK_SECONDS)
    last = deadline(look.action, look.schedule)
    return planned if last is None or last <= now else min(planned, last)


def _given_up(minutes: int, sight: Sight) -> str:
    missing = sight.not_found
    shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
    why = f" ({sight.problem})" if sight.problem else ""
    return f"dependencies not found within {minutes} min: {shown}{why}"
