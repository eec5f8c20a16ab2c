"""The steps of a tick: materialise due nominal times as actions, and begin the actions for which there is a slot.

Every function is one step inside the caller's transaction, with the time as an argument: a test can simulate a year in
seconds. All state is in the database: after a kill at any moment, the next tick continues from there, and the unique
(schedule, nominal time) prevents duplicates.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
import structlog

from svc_jupyter.api.states import ActionStatus
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.schedules.advance import (
    LATE_SECONDS,
    Advance,
    Macros,
    OpenAction,
    OpenActions,
    action_row,
    advance,
    command_row,
    may_run,
)
from svc_jupyter.service.schedules.rights import refusals
from svc_jupyter.service.schema.schedules import AT_ONCE, Action, Schedule, actions, schedules

TICK = "tick"
"""Topic that wakes the ticker."""
InsertCommands = Callable[[sa.Connection, Sequence[Mapping[str, Any]]], Sequence[int]]
"""Creates commands and returns their ids, in the same order."""
PlaceCommand = Callable[[sa.Connection, Mapping[str, Any]], int | None]
"""Returns the cluster that must be UP for a command, None where none is needed; raises `Invalid` with the problem."""
OnActionEnd = Callable[[sa.Connection, Schedule, Action], None]
"""Called inside the transaction that ends an action."""
_AFTER_FAILURE_SECONDS = 60.0
_AT_ONCE = 100
"""Schedules in one transaction: other transactions can write in between."""
_LATE_AT_ONCE = 20
"""How many of them may be late, with much to catch up on: schedules due now do not wait for them."""
log = structlog.get_logger(__name__)
# Statements of the hot paths are built once: building one takes longer than running it.
_DUE = (
    sa.select(schedules)
    .where(schedules.c.due_at > sa.bindparam("after"), schedules.c.due_at <= sa.bindparam("until"))
    .order_by(schedules.c.due_at)
    .limit(sa.bindparam("most", type_=sa.Integer))
    .with_for_update(skip_locked=True)
)
_INSERT = sa.insert(actions)
_INSERT_NUMBERED = _INSERT.returning(actions.c.id, sort_by_parameter_order=True)
_MOVE_ON = sa.update(schedules).where(schedules.c.id == sa.bindparam("this_schedule"))
_GIVE_COMMAND = sa.update(actions).where(actions.c.id == sa.bindparam("this_action"))
_END = (
    sa.update(actions)
    .where(actions.c.id == sa.bindparam("this_action"), sa.not_(actions.c.done))
    .values(
        status=sa.bindparam("status"),
        ended_at=sa.bindparam("ended_at"),
        message=sa.bindparam("message"),
        done=True,
        look_at=None,
    )
    .returning(actions)
)
_OPEN_COLUMNS = (
    actions.c.id,
    actions.c.schedule_id,
    actions.c.sequence_id,
    actions.c.nominal_time,
    actions.c.rerun_number,
    actions.c.status,
    actions.c.command_id,
)
_OPEN = sa.select(*_OPEN_COLUMNS).where(
    sa.not_(actions.c.done), actions.c.schedule_id.in_(sa.bindparam("schedules", expanding=True))
)
_NEXT_MOMENTS = sa.select(
    sa.select(sa.func.min(schedules.c.due_at)).scalar_subquery(),
    sa.select(sa.func.min(actions.c.look_at)).where(actions.c.look_at.is_not(None)).scalar_subquery(),
)
_SOME_ACTION_WAITS = sa.exists().where(
    actions.c.schedule_id == schedules.c.id, sa.not_(actions.c.done), actions.c.command_id.is_(None)
)
_WAKE = (
    sa.update(schedules)
    .where(
        schedules.c.id == sa.bindparam("this_schedule"),
        sa.or_(schedules.c.due_at.is_(None), schedules.c.due_at > AT_ONCE),
        sa.or_(schedules.c.due_at.is_(None), schedules.c.next_nominal.is_(None), _SOME_ACTION_WAITS),
    )
    .values(due_at=AT_ONCE)
)
_LOCKED = sa.select(schedules).where(schedules.c.id == sa.bindparam("schedule")).with_for_update()
_ACTION_OF = sa.select(actions.c.id, actions.c.schedule_id).where(actions.c.command_id == sa.bindparam("command"))


@dataclass(frozen=True, slots=True)
class Ready:
    """An action that may begin once its macros are resolved, which takes a process of its own."""

    action_id: int
    nominal_time: float
    schedule: Schedule
    """As it was when the action became ready."""


@dataclass(frozen=True, slots=True)
class Ticked:
    """The result of a tick: how many schedules were due, and the actions whose macros must be resolved."""

    looked_at: int
    ready: Sequence[Ready]


class Materialisation:
    """The ticker's work on the database. Further work for the ticker is announced as `TICK`."""

    def __init__(
        self, bus: Bus, insert_commands: InsertCommands, place: PlaceCommand, on_action_end: OnActionEnd
    ) -> None:
        self._bus = bus
        self._place = place
        self._insert_commands = insert_commands
        self._on_action_end = on_action_end

    def tick(self, connection: sa.Connection, now: float, *, careful: bool = False) -> Ticked:
        """Work on the schedules that are due; those beyond the limit remain due.

        With `careful`, each schedule has a savepoint of its own, so that a failing one does not stop the others.
        """
        due = _due(connection, now)
        if not due:
            return Ticked(0, ())
        under_way = _open_actions(connection, [row.id for row in due])
        refused = refusals(connection, due)
        if not careful:
            return Ticked(len(due), self._take_on(connection, due, under_way, refused, now))
        ready: list[Ready] = []
        for schedule in due:
            try:
                with connection.begin_nested():
                    ready += self._take_on(connection, [schedule], under_way, refused, now)
            except Exception:
                log.exception("schedule_not_ticked", schedule_id=schedule.id)
                connection.execute(_MOVE_ON, {"this_schedule": schedule.id, "due_at": now + _AFTER_FAILURE_SECONDS})
        return Ticked(len(due), ready)

    def begin(
        self, connection: sa.Connection, item: Ready, resolved: Macros, now: float, *, problem: str | None = None
    ) -> Ready | None:
        """Give a ready action its command, unless it was killed, suspended or begun meanwhile.

        With a `problem`, such as macros without a value, it ends with `error` instead. When the schedule was edited, so
        that its macros must be resolved again, returns the action with its new row.
        """
        schedule = lock(connection, item.schedule.id)
        # Slots are counted again: an older action may have become ready meanwhile.
        may_begin = _open_actions(connection, [schedule.id])[schedule.id].may_begin(schedule.concurrency)
        action = next((one for one in may_begin if one.id == item.action_id), None)
        if action is None or not may_run(schedule, action.rerun_number):
            return None
        before = item.schedule
        if (before.command, before.macros, before.time_zone) != (schedule.command, schedule.macros, schedule.time_zone):
            return Ready(item.action_id, item.nominal_time, schedule)
        if reason := problem or refusals(connection, [schedule]).get(schedule.id):
            self._refuse(connection, schedule, action.id, reason, now)
            return None
        if (row := self._placed(connection, schedule, action, resolved, now)) is not None:
            self._give_commands(connection, [row], [action.id])
        if schedule.due_at is None:  # the backlog was full
            self.wake(connection, schedule.id)
        return None

    def end(
        self,
        connection: sa.Connection,
        schedule: Schedule,
        action_id: int,
        *,
        status: str,
        message: str | None,
        now: float,
    ) -> None:
        """End an action of a locked schedule; one that has ended stays unchanged."""
        ending = {"this_action": action_id, "status": status, "ended_at": now, "message": message}
        row = connection.execute(_END, ending).one_or_none()
        if row is not None:
            self._on_action_end(connection, schedule, Action.of(row))
            self.wake(connection, schedule.id)

    def command_ended(self, connection: sa.Connection, command: Mapping[str, Any], now: float) -> None:
        """End the action of a scheduled command that has ended, if it belongs to one."""
        found = connection.execute(_ACTION_OF, {"command": command["id"]}).one_or_none()
        if found is not None:
            schedule = lock(connection, found.schedule_id)
            status, message = command["status"], command["message"]
            self.end(connection, schedule, found.id, status=status, message=message, now=now)

    def wake(self, connection: sa.Connection, schedule_id: int) -> None:
        """Let the ticker check a schedule at once if it may have work: an action waits, or no nominal time is to come.

        A schedule that only waits for its next nominal time is left alone.
        """
        if connection.execute(_WAKE, {"this_schedule": schedule_id}).rowcount:
            self._bus.publish(connection, TICK)

    def _take_on(
        self,
        connection: sa.Connection,
        due: Sequence[Schedule],
        under_way: Mapping[int, OpenActions],
        refused: Mapping[int, str],
        now: float,
    ) -> list[Ready]:
        """Apply the decisions of `advance`; return the actions whose macros are still to be resolved.

        `refused` has the reasons for schedules that may not run, by schedule id.
        """
        steps = [
            advance(schedule, under_way[schedule.id], now, users_may_run=schedule.id not in refused) for schedule in due
        ]
        beginning = _store_new(connection, steps, now)
        connection.execute(_MOVE_ON, [{"this_schedule": step.schedule.id, **step.moved} for step in steps])
        new_commands: list[dict[str, Any]] = []
        begun: list[int] = []
        ready: list[Ready] = []
        for schedule, action in beginning:
            if reason := refused.get(schedule.id):
                self._refuse(connection, schedule, action.id, reason, now)
            elif schedule.macros:
                ready.append(Ready(action.id, action.nominal_time, schedule))
            elif (row := self._placed(connection, schedule, action, None, now)) is not None:
                new_commands.append(row)
                begun.append(action.id)
        self._give_commands(connection, new_commands, begun)
        return ready

    def _give_commands(
        self, connection: sa.Connection, new_commands: Sequence[Mapping[str, Any]], action_ids: Sequence[int]
    ) -> None:
        if not action_ids:
            return
        command_ids = self._insert_commands(connection, new_commands)
        pairs = zip(action_ids, command_ids, strict=True)
        connection.execute(_GIVE_COMMAND, [{"this_action": action, "command_id": command} for action, command in pairs])

    def _placed(
        self,
        connection: sa.Connection,
        schedule: Schedule,
        action: OpenAction,
        resolved: Macros | None,
        now: float,
    ) -> dict[str, Any] | None:
        """Return the row of an action's command; None when no cluster can run it and the action has ended."""
        row = command_row(schedule, action, resolved, now)
        try:
            return row | {"cluster_id": self._place(connection, row)}
        except Invalid as error:
            self._refuse(connection, schedule, action.id, f"not run: {error}", now)
            return None

    def _refuse(self, connection: sa.Connection, schedule: Schedule, action_id: int, message: str, now: float) -> None:
        self.end(connection, schedule, action_id, status=ActionStatus.ERROR.value, message=message, now=now)


def next_moments(connection: sa.Connection) -> tuple[float, float]:
    """Return the next time a schedule is due, and the next time of a dependency check; infinity for never."""
    due_at, look_at = connection.execute(_NEXT_MOMENTS).one()
    return math.inf if due_at is None else due_at, math.inf if look_at is None else look_at


def lock(connection: sa.Connection, schedule_id: int) -> Schedule:
    """Lock a schedule's row until the end of the transaction and return it.

    Every change of a schedule's actions takes this lock first: otherwise an end and a tick that run concurrently could
    each leave the next action to the other. A transaction that also changes commands does so before.
    """
    return Schedule.of(connection.execute(_LOCKED, {"schedule": schedule_id}).one())


def _open_actions(connection: sa.Connection, schedule_ids: Collection[int]) -> Mapping[int, OpenActions]:
    """Return the open actions of each of these schedules."""
    found: dict[int, list[OpenAction]] = defaultdict(list)
    rows = [OpenAction(*row) for row in connection.execute(_OPEN, {"schedules": list(schedule_ids)})]
    # Sorted here: for this order, SQLite would read all actions that ever existed.
    for row in sorted(rows, key=lambda row: (row.nominal_time, row.rerun_number)):
        found[row.schedule_id].append(row)
    return {schedule_id: OpenActions(found.get(schedule_id, ())) for schedule_id in schedule_ids}


def _due(connection: sa.Connection, now: float) -> list[Schedule]:
    """Return the schedules that are due, in the order of their times: those of the last minute, and some late ones."""
    late = now - LATE_SECONDS
    found: list[Schedule] = []
    for after, until, most in ((late, now, _AT_ONCE), (AT_ONCE - 1, late, _LATE_AT_ONCE)):
        rows = connection.execute(_DUE, {"after": after, "until": until, "most": most})
        found += [Schedule.of(row) for row in rows]
    return found


def _store_new(connection: sa.Connection, steps: Sequence[Advance], now: float) -> list[tuple[Schedule, OpenAction]]:
    """Insert the new actions; return the actions that begin now, each with its schedule and its id."""
    beginning = [(step.schedule, action) for step in steps for action in step.beginning]
    numbers: Iterator[int] = iter(())
    if first := [action_row(schedule, action, now) for schedule, action in beginning if not action.id]:
        numbers = iter(connection.execute(_INSERT_NUMBERED, first).scalars().all())
    later = [(step.schedule, action) for step in steps for action in step.made if action not in step.beginning]
    if later:
        connection.execute(_INSERT, [action_row(schedule, action, now) for schedule, action in later])
    return [(schedule, action if action.id else replace(action, id=next(numbers))) for schedule, action in beginning]
