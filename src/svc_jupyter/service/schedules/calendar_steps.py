"""Steps of minutes to months: days and longer keep the wall clock, minutes and hours are elapsed time.

A step is always counted from its origin, as `origin + k × step`, never from the step before it: 31 January,
28 February, 31 March.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from dateutil.relativedelta import relativedelta

from svc_jupyter.api.schedules import TimeUnit
from svc_jupyter.service.schedules.wall_clocks import instant_of, wall_time, zone_named

_ELAPSED: Final = {TimeUnit.MINUTES: timedelta(minutes=1), TimeUnit.HOURS: timedelta(hours=1)}
_CALENDAR_DAYS: Final = {TimeUnit.DAYS: timedelta(days=1), TimeUnit.WEEKS: timedelta(weeks=1)}
_MONTHS_PER_YEAR = 12
_SHORTEST_MONTH_DAYS = 28
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


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
            day = f" on the {_ordinal(origin.day)}{' or the last day' if origin.day > _SHORTEST_MONTH_DAYS else ''}"
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


def _ordinal(day: int) -> str:
    ending = "th" if day in range(11, 14) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"
