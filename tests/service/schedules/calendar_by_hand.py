"""Calendar steps counted out one by one, and read off the clock minute by minute."""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tests.service.schedules.clock_changes import MINUTE, shown

from svc_jupyter.api.schedules import TimeUnit

_DAYS = {TimeUnit.DAYS: 1, TimeUnit.WEEKS: 7}


def moved(wall: datetime, unit: TimeUnit, count: int) -> datetime:
    """Return a wall time moved by whole units; a day that the month has not becomes its last."""
    if unit in _DAYS:
        return wall + timedelta(days=_DAYS[unit] * count)
    year, month = divmod(wall.year * 12 + wall.month - 1 + count, 12)
    return wall.replace(year=year, month=month + 1, day=min(wall.day, calendar.monthrange(year, month + 1)[1]))


def steps_back(wall: datetime, count: int, unit: TimeUnit, zone: str) -> datetime:
    """Return an instant whose wall time lies `count` units before `wall`, or as near to that as the clocks allow."""
    return moved(wall, unit, -count).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def walls_of_steps(start: datetime, unit: TimeUnit, size: int, zone: str, until: datetime) -> set[datetime]:
    """Return the wall times of all steps from `start` until a wall time."""
    origin, walls, k = shown(start, ZoneInfo(zone)), set(), 0
    while (wall := moved(origin, unit, k * size)) <= until:
        walls.add(wall)
        k += 1
    return walls


def firings_of_steps(walls: set[datetime], clock: Sequence[tuple[datetime, datetime]]) -> list[datetime]:
    """Return when this clock shows those wall times first; one that it skips counts on from the moment before."""
    fired: set[datetime] = set()
    reached = clock[0][1] - MINUTE
    before = clock[0][0] - MINUTE
    for instant, wall in clock:
        start = reached
        while reached < wall:
            reached += MINUTE
            if reached in walls:
                fired.add(instant if reached == wall else before + (reached - start))
        before = instant
    return sorted(moment for moment in fired if moment <= clock[-1][0])
