"""The data of a schedule panel, fetched together: one schedule with its next runs and last actions, or the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from svc_jupyter.widgets.schedules.words import moment, zone_of

if TYPE_CHECKING:
    from svc_jupyter.api.schedules import ActionRecord, ScheduleRecord
    from svc_jupyter.client import Client

LAST_ACTIONS = 8
TIMETABLE = ("frequency", "time_unit", "cron_expression", "start_time", "end_time", "time_zone")
"""The fields of a schedule's timetable."""


@dataclass(frozen=True)
class ScheduleState:
    """One schedule as of `as_of`: its record, its next nominal times in its zone, its last actions."""

    record: ScheduleRecord
    coming: tuple[datetime, ...]
    actions: tuple[ActionRecord, ...]
    as_of: datetime

    @property
    def is_busy(self) -> bool:
        """Whether an action has not ended, so that updates are due soon."""
        return any(not action.done for action in self.actions)


def fetch_state(client: Client, record: ScheduleRecord, now: datetime, actions: int = LAST_ACTIONS) -> ScheduleState:
    """Fetch the times and actions of a schedule's record. Raises the client's errors."""
    last = client.schedules.actions(record.id, per_page=actions).actions
    return ScheduleState(record, tuple(coming_times(client, record, now)), tuple(last), now)


def ordered(schedules: Sequence[ScheduleRecord]) -> list[ScheduleRecord]:
    """Return active schedules first, and within each group the newest first."""
    order = {"RUNNING": 0, "SUSPENDED": 1}
    return sorted(schedules, key=lambda schedule: (order.get(str(schedule.status), 2), -schedule.id))


def timetable_of(record: ScheduleRecord) -> dict[str, Any]:
    """Return the timetable fields of a schedule."""
    return {name: value for name in TIMETABLE if (value := getattr(record, name)) is not None}


def coming_times(client: Client, record: ScheduleRecord, now: datetime) -> list[datetime]:
    """Return the next nominal times of an active schedule, in its zone, if the service reports them.

    A service without the extension reports only the next one.
    """
    from svc_jupyter.client.errors import StatusError

    if str(record.status) != "RUNNING":
        return []
    zone = zone_of(record.time_zone)
    try:
        texts = client.schedules.preview(**timetable_of(record)).next_times
    except StatusError:
        texts = None  # it may not accept a preview without a command
    if texts is None:
        following = moment(record.next_materialized_time, record.time_zone)
        return [] if following is None or following < now else [following]  # a past time is being caught up with
    times = [moment(text, "UTC") for text in texts]
    return [time.astimezone(zone) for time in times if time is not None]
