"""Text about a schedule: its times, its timetable, what needs attention.

Pure functions of a record. Texts that a service lacks are generated here.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

if TYPE_CHECKING:
    from svc_jupyter.api.schedules import ActionRecord, ScheduleRecord

NEXT_TIMES = 5
"""How many of the next runs are shown."""


def zone_of(name: str | None) -> tzinfo:
    """Return a zone by its name; UTC for a name unknown to this machine."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def moment(text: str | None, zone_name: str | None) -> datetime | None:
    """Return a time of a record in a zone, aware; None for a missing or invalid one.

    Texts without an offset, such as `2026-11-22 09:00`, are local times of the zone.
    """
    if not isinstance(text, str) or not text:
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    zone = zone_of(zone_name)
    return read.replace(tzinfo=zone) if read.tzinfo is None else read.astimezone(zone)


def next_time(schedule: ScheduleRecord) -> datetime | None:
    """Return when the schedule runs next, aware; None when it does not."""
    if str(schedule.status) != "RUNNING":
        return None
    return moment(schedule.next_materialized_time, schedule.time_zone)


def nominal_time(action: ActionRecord) -> datetime | None:
    """Return an action's nominal time, aware."""
    return moment(action.nominal_time, "UTC")  # the contract's format is ISO 8601 UTC


def timetable_text(schedule: ScheduleRecord) -> str:
    """Return a schedule's timetable: the service's sentence, or one generated here."""
    if schedule.description:
        return schedule.description
    zone = schedule.time_zone or "UTC"
    if schedule.cron_expression:
        return f"cron {schedule.cron_expression} ({zone})"
    every = frequency_text(schedule.frequency, schedule.time_unit)
    start = moment(schedule.start_time, zone)
    at = f" at {start:%H:%M}" if start and (schedule.time_unit or "") in ("days", "weeks", "months") else ""
    return f"{every}{at} ({zone})"


def frequency_text(frequency: int | None, time_unit: str | None) -> str:
    """Return `every day`, `every 2 hours`."""
    unit = (time_unit or "days").removesuffix("s")
    return f"every {unit}" if frequency in (None, 1) else f"every {frequency} {unit}s"


def name_of(schedule: ScheduleRecord) -> str:
    """Return a schedule's name in messages: its name, with the id unless that is the name."""
    return schedule.name if schedule.name == str(schedule.id) else f"{schedule.name} ({schedule.id})"


def reason_of(action: ActionRecord) -> str:
    """Return why an action waits or failed, in one line; empty when its status says it all."""
    if action.message and action.message != str(action.status):
        return action.message.partition("\n")[0]
    missing = action.dependencies.not_found if action.dependencies else []
    if missing and action.query_hist_id is None:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return f"missing: {missing[0]}{more}"
    return ""
