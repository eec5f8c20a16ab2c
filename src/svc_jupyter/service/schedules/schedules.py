"""The rules of schedules: creation, edit, state, preview."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.schedules import DependencyInfo, PreviewRequest, ScheduleSubmission, ScheduleUpdate
from svc_jupyter.api.states import SCHEDULE_TRANSITIONS, ActionStatus, ScheduleStatus
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, require, require_any, require_to_schedule
from svc_jupyter.service.clusters.gate import ClusterGate
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import NotFound, StateConflict
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.schedules import dependency_checks
from svc_jupyter.service.schedules.dependencies import TableChecker
from svc_jupyter.service.schedules.materialisation import TICK, lock
from svc_jupyter.service.schedules.plans import Edit, changed, next_after_edit, planned, preview
from svc_jupyter.service.schedules.records import Listing, schedule_record
from svc_jupyter.service.schedules.rights import editor_after
from svc_jupyter.service.schedules.timetable import from_seconds, next_nominal_time, timetable_of
from svc_jupyter.service.schema.schedules import AT_ONCE, Schedule, actions, schedules

Record = dict[str, Any]
_WORDS = {"suspend": "suspended", "resume": "resumed", "kill": "killed"}


class Schedules:
    """All calls about schedules. Records are dictionaries in the shape of `ScheduleRecord`."""

    def __init__(
        self,
        database: Database,
        bus: Bus,
        commands: Commands,
        kinds: Mapping[str, Kind],
        notifications: Notifications,
        gate: ClusterGate,
        clock: Callable[[], float] = time.time,
        tables: TableChecker | None = None,
        on_preview: Callable[[], None] = lambda: None,
    ) -> None:
        """`tables` checks the Hive tables that a new or edited schedule depends on.

        `on_preview` is called in a thread with each preview, which usually precedes a new schedule.
        """
        self._database = database
        self._bus = bus
        self._commands = commands
        self._kinds = kinds
        self._notifications = notifications
        self._gate = gate
        self._clock = clock
        self._tables = tables
        self._on_preview = on_preview
        self.listing = Listing(database, notifications)

    async def create(self, body: ScheduleSubmission, *, by: Caller) -> Record:
        """Create a schedule, which is active at once; return its record. Raises `Invalid`, `Forbidden`."""
        require_to_schedule(by, body.command_type)
        now = self._clock()
        values = await planned(body, by, self._kinds, self._gate, now)
        await self._check_tables(values, by)
        return await self._database.write(partial(self._insert, values, by, now))

    async def edit(self, schedule_id: int, body: ScheduleUpdate, *, by: Caller) -> Record:
        """Change the given attributes; return the record. Actions that have begun keep their command.

        Raises `Forbidden`, also where it changes what runs and the caller may not create that; `Invalid`, `NotFound`,
        and `StateConflict` for a schedule that is killed or done.
        """
        require(by, Action.UPDATE, Resource.SCHEDULER, schedule_id)
        while True:
            now = self._clock()
            row = await self._row(schedule_id, by)
            editor = editor_after(row, body, by)
            _check_editable(row)
            edit = await changed(row, body, by, self._kinds, self._gate, now)
            await self._check_tables(edit.values, by)
            record = await self._database.write(partial(self._update, row, edit, editor, by, now))
            if record is not None:
                return record

    async def get(self, schedule_id: int, *, by: Caller) -> Record:
        """Return the record of a schedule of the caller's account. Raises `NotFound`."""
        require(by, Action.READ, Resource.SCHEDULER, schedule_id)
        return await self._database.read(lambda connection: self._record(connection, _one(connection, schedule_id, by)))

    async def change_state(self, schedule_id: int, body: ScheduleUpdate, *, by: Caller) -> ScheduleStatus:
        """Suspend, resume or kill; return the new status. A repeated request changes nothing.

        A kill is final and requires the permission to delete; suspend and resume require the permission to update. The
        permission to manage covers both. Raises `StateConflict` for a schedule that is killed or done.
        """
        wanted = Action.DELETE if body.status == "kill" else Action.UPDATE
        require_any(by, (wanted, Action.MANAGE), Resource.SCHEDULER, schedule_id)
        now = self._clock()
        status, running = await self._database.write(partial(self._change_state, schedule_id, body, by, now))
        await asyncio.gather(*(self._commands.cancel(command_id, by) for command_id in running))
        return status

    async def preview(self, body: PreviewRequest, *, by: Caller) -> Record:
        """Return a command with its macros applied, and, with a timetable, when it would run."""
        require(by, Action.READ, Resource.SCHEDULER)
        shown = await preview(body, self._clock())
        asyncio.get_running_loop().run_in_executor(None, self._on_preview)
        return shown

    async def are_active(self) -> bool:
        """Return whether any schedule is active, so that the embedded service must keep running."""
        active = sa.select(sa.exists().where(schedules.c.status == ScheduleStatus.RUNNING))
        return bool(await self._database.read(lambda connection: connection.execute(active).scalar()))

    async def _check_tables(self, values: Mapping[str, Any], by: Caller) -> None:
        info = values.get("dependency_info")
        if self._tables is not None and info is not None:
            await self._tables.check(by.account_id, DependencyInfo.model_validate(info))

    async def _row(self, schedule_id: int, by: Caller) -> Schedule:
        return await self._database.read(partial(_one, schedule_id=schedule_id, by=by))

    def _insert(self, values: Mapping[str, Any], by: Caller, now: float, connection: sa.Connection) -> Record:
        self._notifications.check_channels(connection, by.account_id, values["notification_channels"] or [])
        row = {
            **values,
            "account_id": by.account_id,
            "user_id": by.user_id,
            "status": ScheduleStatus.RUNNING.value,
            "created_at": now,
            # Also without a next time: the ticker then marks the schedule as done.
            "due_at": AT_ONCE if values["next_nominal"] is None else values["next_nominal"],
        }
        schedule = Schedule.of(connection.execute(sa.insert(schedules).values(**row).returning(schedules)).one())
        trail.record(connection, by, "create", Resource.SCHEDULER, schedule.id, name=schedule.name)
        self._notifications.on_schedule_change(connection, schedule)
        self._bus.publish(connection, TICK)
        return self._record(connection, schedule, is_new=True)

    def _update(
        self, row: Schedule, edit: Edit, editor: int | None, by: Caller, now: float, connection: sa.Connection
    ) -> Record | None:
        """Write an edit; return None when another edit has changed the row meanwhile."""
        values = dict(edit.values)
        self._notifications.check_channels(connection, row.account_id, values.get("notification_channels") or [])
        current = lock(connection, row.id)
        _check_editable(current)
        if replace(current, **_OF_TICKER) != replace(row, **_OF_TICKER):
            return None
        runs_as = {} if editor is None else {"runs_as": [row.user_id, editor]}
        trail.record(connection, by, "update", Resource.SCHEDULER, row.id, changed=sorted(values), **runs_as)
        values |= {"edited_by": editor, "next_nominal": next_after_edit(current, edit, now), "due_at": AT_ONCE}
        connection.execute(sa.update(schedules).where(schedules.c.id == row.id).values(**values))
        edited = replace(current, **values)
        if dependency_checks.decides_otherwise(current, edited):
            dependency_checks.begin_anew(connection, edited, now)
        elif edited.time_out != current.time_out:
            dependency_checks.check_soon(connection, edited, now)
        self._notifications.on_schedule_change(connection, edited)
        self._bus.publish(connection, TICK)
        return self._record(connection, edited)

    def _change_state(
        self, schedule_id: int, body: ScheduleUpdate, by: Caller, now: float, connection: sa.Connection
    ) -> tuple[ScheduleStatus, Sequence[int]]:
        """Return the new status, and the commands to end."""
        row = _one(connection, schedule_id, by, for_update=True)
        status = ScheduleStatus(row.status)
        goal = _GOALS[body.status or ""]
        if status is not goal and goal not in SCHEDULE_TRANSITIONS[status]:
            word = _WORDS[body.status or ""]
            raise StateConflict(f"schedule {schedule_id} is {status} and cannot be {word}; create a new one")
        if status is not goal:
            values = self._entered(connection, row, goal, body, now)
            connection.execute(sa.update(schedules).where(schedules.c.id == schedule_id).values(**values))
            trail.record(connection, by, body.status or "", Resource.SCHEDULER, schedule_id)
            self._bus.publish(connection, TICK)
        # Also when it was killed before: that kill may have been interrupted before its commands were ended.
        return goal, _running_commands(connection, schedule_id) if goal is ScheduleStatus.KILLED else ()

    def _entered(
        self, connection: sa.Connection, row: Schedule, goal: ScheduleStatus, body: ScheduleUpdate, now: float
    ) -> Record:
        """Apply a new status to the schedule's actions; return the changes of its row."""
        values: Record = {"status": goal.value, "due_at": AT_ONCE}
        if goal is ScheduleStatus.KILLED:
            _cancel_waiting_actions(connection, row.id, now)
            return values | {"next_nominal": None, "due_at": None}
        if goal is ScheduleStatus.SUSPENDED:
            dependency_checks.pause(connection, row.id)
            return values
        values["resumed_at"] = now
        if body.no_catch_up:
            following = next_nominal_time(timetable_of(row), from_seconds(now))
            values["next_nominal"] = None if following is None else following.timestamp()
        dependency_checks.check_soon(connection, replace(row, **values), now)
        return values

    def _record(self, connection: sa.Connection, row: Schedule, *, is_new: bool = False) -> Record:
        recipients = self._notifications.recipients(connection, row)
        alerts = self._notifications.open_alerts(connection, [row]).get(row.id, [])
        return schedule_record(row, email_list=",".join(recipients), alerts=alerts, is_new=is_new)


_OF_TICKER: Record = {"next_nominal": None, "last_nominal": None, "last_sequence": 0, "due_at": None}
"""The columns that change without an edit, with any values."""
_GOALS = {"suspend": ScheduleStatus.SUSPENDED, "resume": ScheduleStatus.RUNNING, "kill": ScheduleStatus.KILLED}


def _one(connection: sa.Connection, schedule_id: int, by: Caller, *, for_update: bool = False) -> Schedule:
    query = sa.select(schedules).where(schedules.c.id == schedule_id, schedules.c.account_id == by.account_id)
    found = connection.execute(query.with_for_update() if for_update else query).one_or_none()
    if found is None:
        raise NotFound(f"there is no schedule {schedule_id}")
    return Schedule.of(found)


def _check_editable(row: Schedule) -> None:
    if ScheduleStatus(row.status).is_final:
        raise StateConflict(f"schedule {row.id} is {row.status} and can no longer be changed")


def _cancel_waiting_actions(connection: sa.Connection, schedule_id: int, now: float) -> None:
    """End the actions of a locked schedule that have not begun."""
    connection.execute(
        sa.update(actions)
        .where(actions.c.schedule_id == schedule_id, sa.not_(actions.c.done), actions.c.command_id.is_(None))
        .values(
            status=ActionStatus.CANCELLED.value,
            done=True,
            ended_at=now,
            look_at=None,
            message="the schedule was killed",
        )
    )


def _running_commands(connection: sa.Connection, schedule_id: int) -> Sequence[int]:
    query = sa.select(actions.c.command_id).where(
        actions.c.schedule_id == schedule_id, sa.not_(actions.c.done), actions.c.command_id.is_not(None)
    )
    return connection.execute(query).scalars().all()
