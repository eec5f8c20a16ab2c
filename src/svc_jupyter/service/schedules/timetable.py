"""Timetables: at which nominal times a schedule materialises actions. Pure, without a clock.

A frequency counts from `start`, which is its first nominal time; a cron expression ignores `start`. `end` is exclusive.
All times are aware and in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from svc_jupyter.api.schedules import TimeUnit
from svc_jupyter.service.schedules.calendar_steps import Steps
from svc_jupyter.service.schedules.cron import never_fires, parse_cron
from svc_jupyter.service.schedules.cron_times import next_firing
from svc_jupyter.service.schedules.wall_clocks import wall_time, zone_named


@dataclass(frozen=True, slots=True)
class Timetable:
    """When a schedule is due: by `frequency` in `time_unit` (days when None), or by `cron_expression`."""

    start: datetime
    end: datetime | None
    """Exclusive; None for no end."""
    time_zone: str
    """An IANA name."""
    frequency: int | None = None
    time_unit: TimeUnit | None = None
    cron_expression: str | None = None

    @property
    def steps(self) -> Steps | None:
        """The steps of the frequency from `start`; None with a cron expression."""
        if self.frequency is None:
            return None
        return Steps(self.start, self.time_unit or TimeUnit.DAYS, self.frequency, self.time_zone)


def next_nominal_time(timetable: Timetable, after: datetime) -> datetime | None:
    """Return the first nominal time strictly after `after`, in UTC; None when none is left.

    Takes constant time at any distance from the start.
    """
    try:
        nominal_time = _next(timetable, after.astimezone(UTC))
    except OverflowError:  # outside the calendar
        return None
    if nominal_time is None or (timetable.end is not None and nominal_time >= timetable.end):
        return None
    return nominal_time


def nominal_times(timetable: Timetable, after: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the nominal times in (after, until], oldest first, in UTC."""
    nominal_time = next_nominal_time(timetable, after)
    while nominal_time is not None and nominal_time <= until:
        yield nominal_time
        nominal_time = next_nominal_time(timetable, nominal_time)


def check_timetable(timetable: Timetable, now: datetime) -> None:
    """Raise ValueError, with a message for the user that names the field, for a timetable that could never run.

    Invalid are: neither or both of frequency and cron_expression, an unknown zone, an expression that is wrong or never
    fires, an end that leaves no nominal time (from the start for a frequency, from `now` for a cron expression).
    """
    zone = zone_named(timetable.time_zone)
    if (timetable.frequency is None) == (timetable.cron_expression is None):
        raise ValueError("give exactly one of frequency and cron_expression")
    if timetable.frequency is not None:
        if timetable.frequency < 1:
            raise ValueError("frequency must be at least 1")
        if timetable.end is not None and timetable.end <= timetable.start:
            raise ValueError("end_time must be later than start_time")
        return
    _check_cron(timetable, timetable.cron_expression or "", now.astimezone(UTC), zone.key)


def _next(timetable: Timetable, after: datetime) -> datetime | None:
    steps = timetable.steps
    if steps is not None:
        return timetable.start.astimezone(UTC) if after < timetable.start else steps.at(steps.first_after(after))
    return next_firing(parse_cron(timetable.cron_expression or ""), after, zone_named(timetable.time_zone))


def _check_cron(timetable: Timetable, expression: str, now: datetime, time_zone: str) -> None:
    parse_cron(expression)
    without_end = Timetable(timetable.start, None, time_zone, cron_expression=expression)
    first = next_nominal_time(without_end, now)
    if first is None:
        raise never_fires(expression)
    if timetable.end is None or first < timetable.end:
        return
    if timetable.end <= now:
        raise ValueError("end_time must be later than now")
    shown = wall_time(first, zone_named(time_zone))
    raise ValueError(
        f"cron_expression does not fire before end_time: its next time is {shown:%Y-%m-%d %H:%M} ({time_zone})"
    )
