"""When a schedule is due: pure functions of a timetable and an instant. The clock is an argument.

A cron expression with a fixed hour fires once per wall time: at the first occurrence when clocks are put back, and at
the end of the gap when they skip it. A wildcard hour follows elapsed time: it fires whenever the clocks show one of its
times, so also in the second round, but not at skipped times.

Wall times are naive datetimes, instants aware ones in UTC.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dateutil.relativedelta import relativedelta

from svc_jupyter.api.schedules import TimeUnit
from svc_jupyter.service.schedules.cron import CronExpression, never_fires, ordinal, parse_cron, refuse_long_steps
from svc_jupyter.service.schema.schedules import Schedule

_ELAPSED: Final = {TimeUnit.MINUTES: timedelta(minutes=1), TimeUnit.HOURS: timedelta(hours=1)}
_CALENDAR_DAYS: Final = {TimeUnit.DAYS: timedelta(days=1), TimeUnit.WEEKS: timedelta(weeks=1)}
_MONTHS_PER_YEAR = 12
_SHORTEST_MONTH_DAYS = 28
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SECOND = timedelta(seconds=1)
_NAME = re.compile(r"(?!localtime$|posixrules$|posix/|right/)[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
"""IANA names, without files for this machine's own zone or with leap seconds."""
_LONGEST_NAME = 64


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

    def explain(self) -> str:
        """Return a valid timetable as text, such as `every 2 days at 09:00 (Europe/Paris)`."""
        words = parse_cron(self.cron_expression or "").explain() if self.steps is None else self.steps.explain()
        return f"{words} ({self.time_zone})"


def timetable_of(schedule: Schedule) -> Timetable:
    """Return the timetable of a schedule."""
    return Timetable(
        start=from_seconds(schedule.start_time),
        end=None if schedule.end_time is None else from_seconds(schedule.end_time),
        time_zone=schedule.time_zone,
        frequency=schedule.frequency,
        time_unit=None if schedule.time_unit is None else TimeUnit(schedule.time_unit),
        cron_expression=schedule.cron_expression,
    )


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

    Invalid are: neither or both of frequency and cron_expression, an unknown zone, an expression that is wrong, never
    fires or has a step longer than its field, an end that leaves no nominal time (from the start for a frequency, from
    `now` for a cron expression).
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
    refuse_long_steps(expression)
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
        f"end_time must be later than the next time of cron_expression, {shown:%Y-%m-%d %H:%M} ({time_zone})"
    )


def shift(moment: datetime, unit: TimeUnit, count: int, time_zone: str) -> datetime:
    """Return `moment` (aware) moved by `count` units, forward or back, in UTC.

    Days, weeks and months keep the wall clock of `time_zone`; a day that the month does not have becomes its last
    one. A wall time that occurs twice means its first occurrence; one that is skipped moves forward by the length of
    the gap. Raises OverflowError outside the calendar.
    """
    if count == 0:
        return moment.astimezone(UTC)
    if unit in _ELAPSED:
        return moment.astimezone(UTC) + count * _ELAPSED[unit]
    zone = zone_named(time_zone)
    return instant_of(_moved(wall_time(moment, zone), unit, count), zone)


@dataclass(frozen=True, slots=True)
class Steps:
    """The instants `origin + k × size × unit`."""

    origin: datetime
    unit: TimeUnit
    size: int
    time_zone: str

    def at(self, k: int) -> datetime:
        """Return the instant of step `k`. Raises OverflowError outside the calendar."""
        return shift(self.origin, self.unit, k * self.size, self.time_zone)

    def first_after(self, moment: datetime) -> int:
        """Return the smallest `k` whose instant is later than `moment`; in constant time at any distance."""
        if self.unit in _ELAPSED:
            return (moment - self.origin) // (self.size * _ELAPSED[self.unit]) + 1
        # One fewer: a month's last step may have moved into the next month, over a gap of the clocks.
        k = self._estimate(moment) - 1
        while self.at(k) <= moment:
            k += 1
        return k

    def explain(self) -> str:
        """Return the steps as text, such as `every 2 days at 09:00`."""
        origin = wall_time(self.origin, zone_named(self.time_zone))
        every = f"every {self.unit.removesuffix('s')}" if self.size == 1 else f"every {self.size} {self.unit}"
        if self.unit in _ELAPSED:
            return f"{every} from {origin:%Y-%m-%d} {_clock(origin)}"
        day = ""
        if self.unit is TimeUnit.WEEKS:
            day = f" on {_WEEKDAYS[origin.weekday()]}"
        if self.unit is TimeUnit.MONTHS:
            day = f" on the {ordinal(origin.day)}{' or the last day' if origin.day > _SHORTEST_MONTH_DAYS else ''}"
        return f"{every}{day} at {_clock(origin)}"

    def _estimate(self, moment: datetime) -> int:
        """Return the `k` of the last step before `moment` by the wall clock, at most one too large."""
        zone = zone_named(self.time_zone)
        origin, wall = wall_time(self.origin, zone), wall_time(moment, zone)
        if self.unit in _CALENDAR_DAYS:
            return (wall - origin) // (self.size * _CALENDAR_DAYS[self.unit])
        months = (wall.year - origin.year) * _MONTHS_PER_YEAR + wall.month - origin.month
        return months // self.size


def _moved(wall: datetime, unit: TimeUnit, count: int) -> datetime:
    if unit in _CALENDAR_DAYS:
        return wall + count * _CALENDAR_DAYS[unit]
    try:
        return wall + relativedelta(months=count)
    except ValueError as error:
        raise OverflowError(str(error)) from error


def _clock(wall: datetime) -> str:
    return f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"


def next_firing(cron: CronExpression, after: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the first instant after `after` (UTC) at which `cron` fires, in UTC; None when there is none.

    Raises OverflowError after the year 9999.
    """
    after = after.replace(microsecond=0)
    return _next_elapsed(cron, after, zone) if cron.has_every_hour else _next_fixed(cron, after, zone)


def _next_fixed(cron: CronExpression, after: datetime, zone: ZoneInfo) -> datetime | None:
    overlap = overlap_at(after, zone)
    if overlap is not None and after >= overlap.change:  # all wall times of the second round have fired before
        after = overlap.end - _SECOND
    wall = cron.next_wall(wall_time(after, zone))
    return None if wall is None else instant_from(wall, zone)


def _next_elapsed(cron: CronExpression, after: datetime, zone: ZoneInfo) -> datetime | None:
    overlap = overlap_at(after, zone)
    if overlap is not None:
        for begin, end in ((overlap.change - overlap.length, overlap.change), (overlap.change, overlap.end)):
            found = _next_in_round(cron, max(after, begin - _SECOND), end, zone)
            if found is not None:
                return found
        after = overlap.end - _SECOND
    wall = cron.next_wall(wall_time(after, zone))
    while wall is not None:
        instant = instant_from(wall, zone)
        shown = wall_time(instant, zone)
        if shown == wall:
            return instant
        wall = cron.next_wall(shown - _SECOND)  # `wall` was skipped; search again after the gap
    return None


def _next_in_round(cron: CronExpression, after: datetime, end: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the first firing after `after` and before the end of this round, in which the clocks have no change."""
    if after >= end - _SECOND:
        return None
    last = end - _SECOND
    wall = wall_time(last, zone) - (last - after)
    found = cron.next_wall(wall)
    instant = None if found is None else after + (found - wall)
    return instant if instant is not None and instant < end else None


@lru_cache(maxsize=1024)
def zone_named(name: str) -> ZoneInfo:
    """Return the time zone of an IANA name. Raises ValueError, with a message for the user, for an unknown one."""
    if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name):
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):  # no such file, no zone data in it, a folder
            pass
    raise ValueError(f"time_zone {name[:_LONGEST_NAME]!r} is not known; give a name such as UTC or Europe/Paris")


def wall_time(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return the wall time of `zone` at that instant."""
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def instant_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return the first instant with the wall time `wall`; a skipped time moves forward by the length of the gap."""
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)


def instant_from(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return the first instant with the wall time `wall`; for a skipped time, the moment of the gap."""
    instant = instant_of(wall, zone)
    if wall_time(instant, zone) == wall:
        return instant
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return _change_between(before, instant, zone)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Clocks put back: the `length` before `change` and the `length` after it show the same wall times."""

    change: datetime
    length: timedelta

    @property
    def end(self) -> datetime:
        """The end of the second round."""
        return self.change + self.length


def overlap_at(instant: datetime, zone: ZoneInfo) -> Overlap | None:
    """Return the overlap that contains `instant` in its first or second round. `instant` must be on a whole second."""
    local = instant.astimezone(zone)
    first, second = local.replace(fold=0).utcoffset(), local.replace(fold=1).utcoffset()
    if first is None or second is None or first <= second:
        return None
    length = first - second
    since = instant - length if local.fold else instant
    return Overlap(_change_between(since, since + length, zone), length)


def _change_between(low: datetime, high: datetime, zone: ZoneInfo) -> datetime:
    """Return the only instant after `low` and up to `high` at which the offset changes. Both on whole seconds."""
    before = low.astimezone(zone).utcoffset()

    def is_after(seconds: int) -> bool:
        return (low + seconds * _SECOND).astimezone(zone).utcoffset() != before

    return low + bisect_left(range((high - low) // _SECOND), True, key=is_after) * _SECOND


def from_seconds(seconds: float) -> datetime:
    """Return Unix seconds as an aware time in UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
