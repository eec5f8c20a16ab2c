"""Checks regularly what actions wait for, and writes what follows from the result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.schedules import DependencyInfo
from svc_jupyter.api.states import ActionStatus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import ServiceError
from svc_jupyter.service.schedules.advance import may_run
from svc_jupyter.service.schedules.dependencies import DependencyChecker, Needed, needed
from svc_jupyter.service.schedules.materialisation import Materialisation, lock
from svc_jupyter.service.schedules.ordered_work import OrderedWork
from svc_jupyter.service.schedules.timetable import from_seconds, timetable_of
from svc_jupyter.service.schema.schedules import Action, Schedule, actions, schedules
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.storage import Storage

CHECK_SECONDS = 10.0
"""The longest interval between two checks of an action's dependencies."""
_FIRST_CHECK_SECONDS = 0.5
"""Shortest interval of checks; an interval is half the action's age, so that new files are found soon."""
_TAKEN_AT_ONCE = 50
_PLAN = sa.update(actions).where(actions.c.id == sa.bindparam("this_action"))
_decided_by = attrgetter("dependency_info", "time_zone", "start_time", "frequency", "time_unit", "cron_expression")
"""Returns what decides which files a schedule's actions wait for."""
_CHECKED_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Check:
    """An action due for a check, and its schedule, as they were when the check was taken."""

    action: Action
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a check. `problem` is why something could not be checked; it counts as not found."""

    found: Sequence[str]
    not_found: Sequence[str]
    problem: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether everything was found."""
        return not self.not_found and self.problem is None

    def is_news_for(self, check: Check, now: float) -> bool:
        """Return whether the action's row must be changed."""
        known = check.action.dependencies, check.action.message
        return self.is_complete or self.as_columns() != known or is_over(check.action, check.schedule, now)

    def as_columns(self) -> tuple[dict[str, list[str]], str | None]:
        """Return the columns `dependencies` and `message` of the action's row."""
        return {"found": list(self.found), "not_found": list(self.not_found)}, self.problem


def deadline(action: Action, schedule: Schedule) -> float | None:
    """Return when an action gives up: `time_out` after the latest of nominal time, materialisation and resume."""
    if not schedule.time_out:
        return None
    since = max(action.nominal_time, action.created_at, schedule.resumed_at or 0.0)
    return since + 60 * schedule.time_out


def is_over(action: Action, schedule: Schedule, now: float) -> bool:
    """Return whether an action's time for its dependencies has passed."""
    moment = deadline(action, schedule)
    return moment is not None and now >= moment


def take_due(connection: sa.Connection, now: float) -> list[Check]:
    """Return the actions to check now, and plan their next checks."""
    due = connection.execute(
        sa.select(actions)
        .where(actions.c.look_at <= now)
        .order_by(actions.c.look_at)
        .limit(_TAKEN_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    found = [Action.of(row) for row in due]
    if not found:
        return []
    theirs = connection.execute(
        sa.select(schedules).where(schedules.c.id.in_({action.schedule_id for action in found}))
    )
    by_id = {row.id: Schedule.of(row) for row in theirs}
    checks = [Check(action, by_id[action.schedule_id]) for action in found]
    connection.execute(
        _PLAN, [{"this_action": check.action.id, "look_at": _next_check(check, now)} for check in checks]
    )
    return checks


def write_result(connection: sa.Connection, work: Materialisation, check: Check, result: Result, now: float) -> None:
    """Write the result of a check: the action becomes ready, keeps waiting, or ends as `not_found`.

    Writes nothing when the action or its dependencies have changed meanwhile: its next check is planned.
    """
    action_id = check.action.id
    schedule = lock(connection, check.schedule.id)
    if _decided_by(schedule) != _decided_by(check.schedule):
        return
    dependencies, problem = result.as_columns()
    values: dict[str, Any] = {"dependencies": dependencies, "message": problem}
    if result.is_complete:
        values |= {"status": ActionStatus.SUBMITTED.value, "look_at": None}
    still_waits = (actions.c.id == action_id, actions.c.status == ActionStatus.WAITING, sa.not_(actions.c.done))
    if connection.execute(sa.update(actions).where(*still_waits).values(**values)).rowcount == 0:
        return
    if result.is_complete:
        work.wake(connection, schedule.id)
    elif is_over(check.action, schedule, now) and may_run(schedule, check.action.rerun_number):
        message = _given_up(schedule.time_out, result)
        work.end(connection, schedule, action_id, status=ActionStatus.NOT_FOUND.value, message=message, now=now)


def pause(connection: sa.Connection, schedule_id: int) -> None:
    """Stop the checks of a schedule's own actions until it is resumed."""
    connection.execute(_waiting(schedule_id).where(actions.c.rerun_number == 0).values(look_at=None))


def check_soon(connection: sa.Connection, schedule: Schedule, now: float) -> None:
    """Check the dependencies of a locked schedule's actions at once, after a resume or a change of `time_out`."""
    which = sa.true() if may_run(schedule, rerun_number=0) else actions.c.rerun_number > 0
    connection.execute(_waiting(schedule.id).where(which).values(look_at=now))


def begin_anew(connection: sa.Connection, schedule: Schedule, now: float) -> None:
    """Let the actions of a locked schedule that have not begun wait for its current dependencies."""
    waits = schedule.dependency_info is not None
    status = ActionStatus.WAITING if waits else ActionStatus.SUBMITTED
    connection.execute(
        sa.update(actions)
        .where(actions.c.schedule_id == schedule.id, sa.not_(actions.c.done), actions.c.command_id.is_(None))
        .values(status=status.value, dependencies=None, message=None, look_at=None)
    )
    if waits:
        check_soon(connection, schedule, now)


def decides_otherwise(before: Schedule, after: Schedule) -> bool:
    """Return whether an edit changes which files a schedule's actions wait for."""
    depends = before.dependency_info is not None or after.dependency_info is not None
    return depends and _decided_by(before) != _decided_by(after)


def _waiting(schedule_id: int) -> sa.Update:
    return sa.update(actions).where(
        actions.c.schedule_id == schedule_id,
        actions.c.status == ActionStatus.WAITING,
        actions.c.command_id.is_(None),
        sa.not_(actions.c.done),
    )


def _next_check(check: Check, now: float) -> float:
    waited = now - check.action.created_at
    planned = now + min(max(waited / 2, _FIRST_CHECK_SECONDS), CHECK_SECONDS)
    last = deadline(check.action, check.schedule)
    return planned if last is None or last <= now else min(planned, last)


def _given_up(minutes: int, result: Result) -> str:
    missing = result.not_found
    shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
    why = f" ({result.problem})" if result.problem else ""
    return f"dependencies not found within {minutes} min: {shown}{why}"


class DependencyWatch:
    """Takes the checks that are due and writes their results."""

    def __init__(
        self, database: Database, work: Materialisation, checker: DependencyChecker, clock: Callable[[], float]
    ) -> None:
        self._database = database
        self._work = work
        self._checker = checker
        self._clock = clock
        # A check whose result could not be written is already planned again.
        self._turns = OrderedWork(on_lost=lambda: None)
        self._places = asyncio.Semaphore(_CHECKED_AT_ONCE)

    async def start_due(self) -> int:
        """Begin the checks that are due; return how many. Raises `Unavailable`."""
        checks = await self._database.write(partial(take_due, now=self._clock()), durable=False)
        for check in checks:
            self._turns.add(check.schedule.id, check.action.id, partial(self._do, check))
        return len(checks)

    async def stop(self) -> None:
        """Stop all checks."""
        await self._turns.stop()

    async def _do(self, check: Check) -> None:
        async with self._places:
            result = await self._result(check)
        self._turns.settle(check.action.id)
        if result.is_news_for(check, self._clock()):
            await self._database.write(
                lambda connection: write_result(connection, self._work, check, result, self._clock())
            )

    async def _result(self, check: Check) -> Result:
        try:
            wanted = await asyncio.to_thread(_wanted, check)
        except (ValueError, OverflowError) as error:  # the window of this nominal time is outside the calendar
            return Result([], [], f"dependency_info: {error}")
        problem = None
        try:
            there = await self._checker.found(check.schedule.account_id, wanted)
        except (StorageFailure, ServiceError) as error:
            there, problem = set(), error.message
        found = [item.key for item in wanted if item in there]
        return Result(found, [item.key for item in wanted if item not in there], problem)


def _wanted(check: Check) -> list[Needed]:
    info = DependencyInfo.model_validate(check.schedule.dependency_info or {})
    return needed(info, from_seconds(check.action.nominal_time), timetable_of(check.schedule))


class FileDependencies:
    """The `DependencyChecker` of files; it finds nothing of another kind."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def found(self, account_id: int, keys: Sequence[Needed]) -> set[Needed]:
        """Return the files that exist now: for a `done_flag` the file, for a path a file or a non-empty folder.

        Raises `Invalid` for a location that the service may not read and `StorageFailure` when a store fails.
        """
        there: set[Needed] = set()
        for may_be_folder in (False, True):
            asked = [item for item in keys if item.kind == "file" and item.may_be_folder is may_be_folder]
            if asked:
                paths = {item.key for item in asked}
                existing = await self._storage.existing(account_id, paths, or_folders=may_be_folder)
                there.update(item for item in asked if item.key in existing)
        return there


class EveryDependency:
    """A `DependencyChecker` that combines others."""

    def __init__(self, checkers: Sequence[DependencyChecker]) -> None:
        self._checkers = checkers

    async def found(self, account_id: int, keys: Sequence[Needed]) -> set[Needed]:
        """Return those that exist now. Raises the error of the first checker that fails."""
        found = await asyncio.gather(*(checker.found(account_id, keys) for checker in self._checkers))
        return set().union(*found)
