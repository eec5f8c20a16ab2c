"""What a panel shows of schedules, fetched at once: one schedule with its next runs and last actions, or the list."""

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
"""The fields of a schedule that say when it runs."""


@dataclass(frozen=True)
class ScheduleState:
    """One schedule as it was at `as_of`: its record, its next nominal times in its zone, its last actions."""

    record: ScheduleRecord
    coming: tuple[datetime, ...]
    actions: tuple[ActionRecord, ...]
    as_of: datetime

    @property
    def is_busy(self) -> bool:
        """Whether an action has not ended, so that news are near."""
        return any(not action.done for action in self.actions)


def fetch_state(client: Client, record: ScheduleRecord, now: datetime, actions: int = LAST_ACTIONS) -> ScheduleState:
    """Ask for what belongs to a schedule's record. Raises the client's errors."""
    last = client.schedules.actions(record.id, per_page=actions).actions
    return ScheduleState(record, tuple(coming_times(client, record, now)), tuple(last), now)


def ordered(schedules: Sequence[ScheduleRecord]) -> list[ScheduleRecord]:
    """Return schedules with those that still run first, newest first within each."""
    order = {"RUNNING": 0, "SUSPENDED": 1}
    return sorted(schedules, key=lambda schedule: (order.get(str(schedule.status), 2), -schedule.id))


def timetable_of(record: ScheduleRecord) -> dict[str, Any]:
    """Return the fields of a schedule that say when it runs."""
    return {name: value for name in TIMETABLE if (value := getattr(record, name)) is not None}


def coming_times(client: Client, record: ScheduleRecord, now: datetime) -> list[datetime]:
    """Return the next nominal times of a schedule that runs, in its zone, as far as the service tells them.

    A service without the extension tells the next one only.
    """
    from svc_jupyter.client.errors import StatusError

    if str(record.status) != "RUNNING":
        return []
    zone = zone_of(record.time_zone)
    try:
        texts = client.schedules.preview(**timetable_of(record)).next_times
    except StatusError:
        texts = None  # it may not take a preview without a command
    if texts is None:
        following = moment(record.next_materialized_time, record.time_zone)
        return [] if following is None or following < now else [following]  # what is past is being caught up with
    times = [moment(text, "UTC") for text in texts]
    return [time.astimezone(zone) for time in times if time is not None]
