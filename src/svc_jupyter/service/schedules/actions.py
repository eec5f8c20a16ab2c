"""The rules of actions and instances: look-up, kill, rerun."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.states import ActionStatus, CommandStatus, ScheduleStatus
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.listing import readable
from svc_jupyter.service.access.permissions import Action, Resource, require, require_any
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.rows import CommandRow, read_rows
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import NotFound, StateConflict
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schedules.advance import action_row, new_action
from svc_jupyter.service.schedules.materialisation import Materialisation, lock
from svc_jupyter.service.schedules.records import action_record
from svc_jupyter.service.schema.commands import commands as command_rows
from svc_jupyter.service.schema.schedules import Action as ActionRow
from svc_jupyter.service.schema.schedules import actions, schedules

Record = dict[str, Any]
Records = list[Record]
_Pairs = list[tuple[ActionRow, CommandRow | None]]
"""Actions, each with its command, if it has one."""


class Actions:
    """All calls about actions. Records are dictionaries in the shape of `ActionRecord`."""

    def __init__(
        self,
        database: Database,
        commands: Commands,
        work: Materialisation,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._commands = commands
        self._work = work
        self._clock = clock

    async def get(self, action_id: int, *, by: Caller) -> Record:
        """Return the record of an action of the caller's account. Raises `NotFound`."""
        [(row, command)] = await self._database.read(
            lambda connection: _with_commands(connection, [_one(connection, action_id, by)])
        )
        require(by, Action.READ, Resource.SCHEDULER, row.schedule_id)
        return await self._action(row, command, by)

    async def list(
        self, page: Page, *, by: Caller, schedule_id: int | None = None, sequence_id: int | None = None
    ) -> tuple[Records, Any]:
        """Return a page of the account's actions, newest first, and its position.

        Optionally only those of a schedule, or of one of its nominal times (the action and its reruns). Raises
        `NotFound` for an unknown schedule or number.
        """
        if schedule_id is not None:
            require(by, Action.READ, Resource.SCHEDULER, schedule_id)
        pairs, info = await self._database.read(partial(self._select, page, by, schedule_id, sequence_id))
        return [await self._action(*pair, by) for pair in pairs], info

    async def instances(
        self, schedule_id: int, page: Page, *, by: Caller, sequence_id: int | None = None
    ) -> tuple[Records, Any]:
        """Return a page of the records of the commands of a schedule's actions, or of one of its nominal times.

        Newest first. Raises `NotFound` for an unknown schedule or number.
        """
        require(by, Action.READ, Resource.SCHEDULER, schedule_id)
        rows, info = await self._database.read(partial(self._command_rows, schedule_id, sequence_id, page, by))
        return [await self._record(row, by) for row in rows], info

    async def latest_command(self, schedule_id: int, sequence_id: int, *, by: Caller) -> int:
        """Return the command of an instance's newest run. Raises `NotFound`, also when no run has started."""
        require(by, Action.READ, Resource.SCHEDULER, schedule_id)
        found, _ = await self._database.read(partial(self._command_rows, schedule_id, sequence_id, Page(1, 1), by))
        if not found:
            raise NotFound(f"instance {sequence_id} of schedule {schedule_id} has not run a command yet")
        return found[0].id

    async def kill(self, action_id: int, *, by: Caller) -> bool:
        """End an action and its command; return whether it was still running or waiting. Raises `NotFound`."""
        command_id = await self._database.write(partial(self._kill_unbegun, action_id, by))
        if command_id is None:
            return True
        return command_id > 0 and (await self._commands.cancel(command_id, by)).succeeded

    async def rerun(self, action_id: int, *, by: Caller) -> Record:
        """Run an ended action again, for the same nominal time; return the new action's record.

        Raises `NotFound`, and `StateConflict` while a run of it is under way or when its schedule was killed.
        """
        return await self._database.write(partial(self._rerun, action_id, by))

    async def rerun_instance(self, schedule_id: int, sequence_id: int, *, by: Caller) -> Record:
        """Run an instance again. Raises like `rerun`."""
        _require_change(by, schedule_id)
        return await self.rerun(await self._database.read(partial(_original, schedule_id, sequence_id, by)), by=by)

    async def _action(self, row: ActionRow, command: CommandRow | None, by: Caller) -> Record:
        return action_record(row, None if command is None else await self._record(command, by))

    async def _record(self, row: CommandRow, by: Caller) -> Record:
        """Return a command's record, with the reason for waiting of a waiting one."""
        waits = row.status == CommandStatus.WAITING
        return await self._commands.get(row.id, by) if waits else self._commands.record(row)

    def _select(
        self, page: Page, by: Caller, schedule_id: int | None, sequence_id: int | None, connection: sa.Connection
    ) -> tuple[_Pairs, Any]:
        query = sa.select(actions).where(actions.c.account_id == by.account_id).order_by(actions.c.id.desc())
        if schedule_id is None:
            query = query.where(readable(by, Resource.SCHEDULER, actions.c.schedule_id))
        else:
            _check_schedule(connection, schedule_id, by)
            query = query.where(actions.c.schedule_id == schedule_id)
        if sequence_id is not None:
            query = query.where(actions.c.sequence_id == sequence_id)
        shown, info = page.read(connection, query)
        if sequence_id is not None and not shown and page.number == 1:
            raise NotFound(f"schedule {schedule_id} has no action with the sequence number {sequence_id}")
        return _with_commands(connection, [ActionRow.of(row) for row in shown]), info

    def _command_rows(
        self, schedule_id: int, sequence_id: int | None, page: Page, by: Caller, connection: sa.Connection
    ) -> tuple[Sequence[CommandRow], Any]:
        _check_schedule(connection, schedule_id, by)
        query = (
            sa.select(command_rows)
            .join(actions, actions.c.command_id == command_rows.c.id)
            .where(actions.c.schedule_id == schedule_id)
        )
        if sequence_id is not None:
            _original(schedule_id, sequence_id, by, connection)
            query = query.where(actions.c.sequence_id == sequence_id)
        shown, info = page.read(connection, query.order_by(actions.c.id.desc()))
        return [CommandRow.from_row(row) for row in shown], info

    def _kill_unbegun(self, action_id: int, by: Caller, connection: sa.Connection) -> int | None:
        """End an action without a command and return None; else return its command, or 0 when it has ended."""
        row = _one(connection, action_id, by)
        _require_change(by, row.schedule_id)
        schedule = lock(connection, row.schedule_id)
        row = _one(connection, action_id, by)
        if row.done:
            return 0
        if row.command_id is not None:
            return row.command_id
        now = self._clock()
        trail.record(connection, by, "kill_action", Resource.SCHEDULER, schedule.id, action_id=action_id)
        self._work.end(
            connection, schedule, action_id, status=ActionStatus.CANCELLED, message="killed before it began", now=now
        )
        return None

    def _rerun(self, action_id: int, by: Caller, connection: sa.Connection) -> Record:
        asked = _one(connection, action_id, by)
        _require_change(by, asked.schedule_id)
        schedule = lock(connection, asked.schedule_id)
        if schedule.status == ScheduleStatus.KILLED:
            raise StateConflict(f"schedule {schedule.id} was killed: its actions cannot be rerun")
        runs = connection.execute(
            sa.select(actions).where(actions.c.schedule_id == schedule.id, actions.c.nominal_time == asked.nominal_time)
        )
        same = sorted((ActionRow.of(row) for row in runs), key=lambda run: run.rerun_number)
        if not all(run.done for run in same):
            raise StateConflict(f"a run of action {action_id} is still under way; kill it, or wait for its end")
        now = self._clock()
        again = new_action(schedule, asked.sequence_id, asked.nominal_time, same[-1].rerun_number + 1)
        values = action_row(schedule, again, now, is_rerun_of=same[0].id)
        made = ActionRow.of(connection.execute(sa.insert(actions).values(**values).returning(actions)).one())
        trail.record(connection, by, "rerun_action", Resource.SCHEDULER, schedule.id, action_id=action_id)
        self._work.wake(connection, schedule.id)
        return action_record(made, None)


def _require_change(by: Caller, schedule_id: int) -> None:
    """Raise `Forbidden` unless the caller may end and rerun a schedule's actions."""
    require_any(by, (Action.UPDATE, Action.MANAGE), Resource.SCHEDULER, schedule_id)


def _one(connection: sa.Connection, action_id: int, by: Caller) -> ActionRow:
    query = sa.select(actions).where(actions.c.id == action_id, actions.c.account_id == by.account_id)
    found = connection.execute(query).one_or_none()
    if found is None:
        raise NotFound(f"there is no action {action_id}")
    return ActionRow.of(found)


def _with_commands(connection: sa.Connection, found: list[ActionRow]) -> _Pairs:
    """Return the actions with their commands, read by one statement."""
    wanted = [row.command_id for row in found if row.command_id is not None]
    query = sa.select(command_rows).where(command_rows.c.id.in_(wanted))
    commands = {row.id: row for row in read_rows(connection.execute(query))} if wanted else {}
    return [(row, None if row.command_id is None else commands.get(row.command_id)) for row in found]


def _original(schedule_id: int, sequence_id: int, by: Caller, connection: sa.Connection) -> int:
    """Return the first action with a sequence number; the others are its reruns. Raises `NotFound`."""
    query = sa.select(actions.c.id).where(
        actions.c.schedule_id == schedule_id,
        actions.c.account_id == by.account_id,
        actions.c.sequence_id == sequence_id,
        actions.c.rerun_number == 0,
    )
    action_id: int | None = connection.execute(query).scalar()
    if action_id is None:
        raise NotFound(f"schedule {schedule_id} has no instance {sequence_id}")
    return action_id


def _check_schedule(connection: sa.Connection, schedule_id: int, by: Caller) -> None:
    query = sa.select(schedules.c.id).where(schedules.c.id == schedule_id, schedules.c.account_id == by.account_id)
    if connection.execute(query).first() is None:
        raise NotFound(f"there is no schedule {schedule_id}")
