"""Alerts: runs of a schedule that have not ended by a time of day, and runs that take longer than they usually do.

A run is late at the first moment after its nominal time at which the clocks of the schedule's zone show `due_by`. Runs
that were due at the same moment give one message, the earliest of them, so that an hourly schedule that a stopped
service catches up with is one message a day. Nothing is late of a time before the schedule was created or resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from statistics import median
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.states import CommandStatus, ScheduleStatus
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.audience import alert_audience
from svc_jupyter.service.notifications.digests import Deliverable, next_digest
from svc_jupyter.service.notifications.due_work import NOTIFY, DueWork
from svc_jupyter.service.notifications.events import Event, late_event, long_event
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.schedules import Action, Schedule, actions, schedules

ALERTS = "alerts"
_LOOK_SECONDS = 30.0
"""How often runs are looked for that have begun since."""
_LAST_RUNS = 30
_FEWEST_RUNS = 3
"""With fewer runs that are done, none is usual."""
_SHORTEST_USUAL_SECONDS = 1.0
"""The times of commands are whole seconds."""
_HAS_ALERTS = schedules.c.due_by.is_not(None) | schedules.c.longer_than.is_not(None)
_GOES_ON = schedules.c.status.in_([ScheduleStatus.RUNNING, ScheduleStatus.DONE])
"""What waits in a suspended schedule is late because somebody wanted that; the last run of one that is done may be."""
_MAY_RUN = schedules.c.status.in_([ScheduleStatus.RUNNING, ScheduleStatus.SUSPENDED])


@dataclass(frozen=True, slots=True)
class _Alert:
    schedule: Schedule
    event: Event
    at: float
    """From when on it holds, in Unix seconds."""


class Alerts(DueWork):
    """Writes the alerts of runs under way into the outbox."""

    def __init__(self, database: Database, bus: Bus, clock: Callable[[], float], *, deliverable: Deliverable) -> None:
        super().__init__(ALERTS, database, bus, clock)
        self._bus = bus
        self._deliverable = deliverable
        self._next: float | None = None

    def on_action_end(self, connection: sa.Connection, schedule: Schedule, action: Action) -> None:
        """Write the alerts of a run that ends, where it did not last until they were looked for."""
        now = self._clock() if action.ended_at is None else action.ended_at
        query = sa.select(commands.c.start_time).where(commands.c.id == action.command_id)
        started_at = connection.execute(query).scalar()
        self._write(
            [alert for alert in _alerts(connection, schedule, action, started_at) if alert.at <= now], connection
        )

    async def _round(self) -> None:
        now = self._clock()
        found = await self._database.read(_of_open_runs)
        due = [alert for alert in found if alert.at <= now]
        if due:
            await self._database.write(partial(self._write, due))
        later = [alert.at for alert in found if alert.at > now]
        are_wanted = bool(found) or await self._database.read(_are_wanted)
        self._next = min([now + _LOOK_SECONDS, *later]) if are_wanted else None

    async def _next_time(self) -> float | None:
        return self._next

    def _write(self, alerts: Iterable[_Alert], connection: sa.Connection) -> None:
        """Write a message to each recipient that has none for the same event."""
        for alert in alerts:
            recipients = self._deliverable(alert_audience(connection, alert.schedule))
            for medium in outbox.put(connection, alert.event, recipients, now=self._clock()):
                self._bus.publish(connection, NOTIFY, medium.value)


def open_alerts(connection: sa.Connection, rows: Iterable[Schedule], now: float) -> dict[int, list[dict[str, Any]]]:
    """Return the alerts that hold of runs that have not ended, by schedule id, in the shape of `RunAlert`."""
    ids = [row.id for row in rows if row.has_alerts]
    found: dict[int, dict[str, dict[str, Any]]] = {}
    if ids:
        for alert in _of_open_runs(connection, schedules.c.id.in_(ids)):
            if alert.at <= now:
                # the first of the runs that were due at the same moment stands for them
                found.setdefault(alert.schedule.id, {}).setdefault(alert.event.key, _record(alert))
    return {schedule_id: list(alerts.values()) for schedule_id, alerts in found.items()}


def _record(alert: _Alert) -> dict[str, Any]:
    action = alert.event.content["action"]
    return {
        "alert": alert.event.content["alert"],
        "action_id": action["id"],
        "nominal_time": iso_time(action["nominal_time"]),
        "since": iso_time(alert.at),
    }


def _are_wanted(connection: sa.Connection) -> bool:
    wanted = sa.select(sa.exists().where(_HAS_ALERTS, _MAY_RUN))
    return bool(connection.execute(wanted).scalar())


def _of_open_runs(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> list[_Alert]:
    """Return the alerts of runs that have not ended, in the order of their nominal times."""
    query = (
        sa.select(schedules, actions, commands.c.status, commands.c.start_time)
        .join_from(schedules, actions, actions.c.schedule_id == schedules.c.id)
        .outerjoin(commands, commands.c.id == actions.c.command_id)
        .where(sa.not_(actions.c.done), _HAS_ALERTS, _GOES_ON, *conditions)
        .order_by(actions.c.nominal_time, actions.c.id)
    )
    width = len(fields(Schedule))
    found: list[_Alert] = []
    for row in connection.execute(query):
        *both, status, started_at = row
        action = Action.of(both[width:])
        shown = action if status is None else replace(action, status=status)  # its own is not kept up while it runs
        found += _alerts(connection, Schedule.of(both[:width]), shown, started_at)
    return found


def _alerts(
    connection: sa.Connection, schedule: Schedule, action: Action, started_at: float | None
) -> Sequence[_Alert]:
    """Return the alerts of a run, with the moments from which they hold if it has not ended by then."""
    found: list[_Alert] = []
    if schedule.due_by is not None and action.is_rerun_of is None:
        hour, minute = map(int, schedule.due_by.split(":"))
        due_at = next_digest(action.nominal_time, hour=hour, minute=minute, time_zone=schedule.time_zone)
        if due_at > max(schedule.created_at, schedule.resumed_at or 0.0):
            event = late_event(schedule, action, due_at=due_at, started_at=started_at)
            found.append(_Alert(schedule, event, due_at))
    if schedule.longer_than is not None and started_at is not None:
        usual = _median(connection, action)
        if usual is not None:
            event = long_event(schedule, action, median=usual, started_at=started_at)
            found.append(_Alert(schedule, event, started_at + schedule.longer_than * usual))
    return found


def _median(connection: sa.Connection, action: Action) -> float | None:
    """Return the median of the last other runs of an action's schedule that are done, in seconds."""
    query = (
        sa.select(commands.c.end_time - commands.c.start_time)
        .join_from(actions, commands, commands.c.id == actions.c.command_id)
        .where(
            actions.c.schedule_id == action.schedule_id,
            actions.c.id != action.id,
            commands.c.status == CommandStatus.DONE,
            commands.c.start_time.is_not(None),
            commands.c.end_time.is_not(None),
        )
        .order_by(actions.c.id.desc())
        .limit(_LAST_RUNS)
    )
    seconds = connection.execute(query).scalars().all()
    return max(median(seconds), _SHORTEST_USUAL_SECONDS) if len(seconds) >= _FEWEST_RUNS else None
