"""Decides the next steps of a schedule: new actions for nominal times, actions that begin, and the next check.

Pure: a function of the schedule's row, its open actions and the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from svc_jupyter.api.commands import CommandSource
from svc_jupyter.api.states import ActionStatus, ScheduleStatus
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.schedules.timetable import from_seconds, next_nominal_time, timetable_of
from svc_jupyter.service.schema.schedules import Schedule

BACKLOG_LIMIT = 12
"""Actions of a schedule that may wait at once; materialisation continues once some have begun."""
RERUN_LIMIT = 20
"""Reruns of a schedule that run at once."""
LATE_SECONDS = 60.0
"""A nominal time older than this counts as missed (no_catch_up): a busy service is not an outage."""
Values = dict[str, Any]
Macros = Sequence[Mapping[str, Any]]
"""Macros with their values."""


@dataclass(frozen=True, slots=True)
class OpenAction:
    """An action that has not ended, with the columns that decide whether it may begin."""

    id: int
    """0 until it is stored."""
    schedule_id: int
    sequence_id: int
    nominal_time: float
    rerun_number: int
    status: str
    command_id: int | None = None


@dataclass(frozen=True, slots=True)
class OpenActions:
    """The actions of one schedule that are not done, oldest first."""

    rows: Sequence[OpenAction] = ()

    @property
    def backlog(self) -> int:
        """How many have no command yet, without reruns, which were requested individually."""
        return sum(1 for row in self.rows if row.command_id is None and not row.rerun_number)

    @property
    def ready(self) -> list[OpenAction]:
        """The actions that only wait for a slot."""
        return [row for row in self.rows if row.command_id is None and row.status == ActionStatus.SUBMITTED]

    def may_begin(self, concurrency: int) -> list[OpenAction]:
        """Return the ready actions for which there is a slot, in their order."""
        first = [row for row in self.ready if not row.rerun_number]
        again = [row for row in self.ready if row.rerun_number]
        return [
            *first[: max(0, concurrency - self._running(is_rerun=False))],
            *again[: max(0, RERUN_LIMIT - self._running(is_rerun=True))],
        ]

    def _running(self, *, is_rerun: bool) -> int:
        return sum(1 for row in self.rows if row.command_id is not None and bool(row.rerun_number) is is_rerun)


@dataclass(frozen=True, slots=True)
class Advance:
    """The decisions about one schedule."""

    schedule: Schedule
    made: Sequence[OpenAction]
    """The new actions, oldest first."""
    beginning: Sequence[OpenAction]
    """The actions that begin now, in their order, new and open ones."""
    moved: Mapping[str, Any]
    """The new values of the schedule's row."""


def advance(schedule: Schedule, under_way: OpenActions, now: float, *, users_may_run: bool) -> Advance:
    """Decide the next steps of a schedule at `now`, Unix seconds.

    If its users may no longer run it, all ready actions leave the backlog at once: they are refused and take no slot.
    """
    is_running = schedule.status == ScheduleStatus.RUNNING
    progress = _Progress(schedule)
    made = progress.materialised(now, BACKLOG_LIMIT - under_way.backlog) if is_running else []
    all_open = OpenActions([*under_way.rows, *made])
    ready = all_open.may_begin(schedule.concurrency) if users_may_run else all_open.ready
    beginning = [row for row in ready if may_run(schedule, row.rerun_number)]
    # An action has not begun until its macros are resolved.
    leaving = 0 if schedule.macros and users_may_run else sum(1 for row in beginning if not row.rerun_number)
    has_room = all_open.backlog - leaving < BACKLOG_LIMIT
    is_over = is_running and progress.next_nominal is None and not all_open.rows
    moved = {
        "status": ScheduleStatus.DONE.value if is_over else schedule.status,
        "next_nominal": progress.next_nominal,
        "last_nominal": progress.last_nominal,
        "last_sequence": progress.last_sequence,
        "due_at": progress.next_nominal if is_running and has_room else None,
    }
    return Advance(schedule, made, beginning, moved)


def may_run(schedule: Schedule, rerun_number: int) -> bool:
    """Return whether an action may begin in the schedule's state; reruns were requested and run unless it is killed.

    A schedule that is done can still rerun its actions.
    """
    if rerun_number:
        return schedule.status != ScheduleStatus.KILLED
    return schedule.status == ScheduleStatus.RUNNING


class _Progress:
    """The progress of materialisation."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self.next_nominal = schedule.next_nominal
        self.last_nominal = schedule.last_nominal
        self.last_sequence = schedule.last_sequence

    def materialised(self, now: float, room: int) -> list[OpenAction]:
        """Return an action for each due nominal time, oldest first, up to `room`."""
        made: list[OpenAction] = []
        timetable = timetable_of(self._schedule)
        while self.next_nominal is not None and self.next_nominal <= now and len(made) < room:
            if self._schedule.no_catch_up and self.next_nominal < now - LATE_SECONDS:
                after = now
            else:
                self.last_sequence += 1
                made.append(new_action(self._schedule, self.last_sequence, self.next_nominal))
                after = self.last_nominal = self.next_nominal
            following = next_nominal_time(timetable, from_seconds(after))
            self.next_nominal = None if following is None else following.timestamp()
        return made


def new_action(schedule: Schedule, sequence_id: int, nominal_time: float, rerun_number: int = 0) -> OpenAction:
    """Return a new action; with dependencies it waits for them."""
    status = ActionStatus.SUBMITTED if schedule.dependency_info is None else ActionStatus.WAITING
    return OpenAction(0, schedule.id, sequence_id, nominal_time, rerun_number, status.value)


def action_row(schedule: Schedule, action: OpenAction, now: float, is_rerun_of: int | None = None) -> Values:
    """Return the values of a new action's row."""
    return {
        "account_id": schedule.account_id,
        "schedule_id": schedule.id,
        "sequence_id": action.sequence_id,
        "nominal_time": action.nominal_time,
        "rerun_number": action.rerun_number,
        "is_rerun_of": is_rerun_of,
        "status": action.status,
        "done": False,
        "created_at": now,
        "command_id": None,
        "look_at": now if action.status == ActionStatus.WAITING else None,
    }


def command_row(schedule: Schedule, action: OpenAction, resolved: Macros | None, now: float) -> Values:
    """Return the values of the command's row; `resolved` is None without macros."""
    return {
        "account_id": schedule.account_id,
        "user_id": schedule.user_id,
        "edited_by": schedule.edited_by,
        "command_type": schedule.command_type,
        "command_source": CommandSource.SCHEDULED.value,
        "command": schedule.command,
        "created_at": now,
        "name": schedule.name,
        "tags": schedule.tags,
        "label": schedule.label,
        "pool": schedule.pool,
        "timeout": schedule.command_timeout,
        "retry": schedule.retry,
        "retry_delay": schedule.retry_delay,
        "can_notify": False,  # the schedule's own notifications report it
        "resolved_macros": list(resolved) if resolved else None,
        "nominal_time": iso_time(action.nominal_time),
        "sequence_id": action.sequence_id,
    }
