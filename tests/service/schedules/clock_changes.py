"""Every change of the clock of 2020 to 2035 in ten zones, found from the zone data, and a clock read by the minute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
_ZONES = (
    "Europe/Paris",
    "Europe/Dublin",  # summer is its standard time
    "America/New_York",
    "America/Santiago",  # changes at midnight
    "America/Havana",  # also at midnight
    "Africa/Casablanca",  # changes around Ramadan
    "Africa/Cairo",  # none until 2023
    "Antarctica/Troll",  # changes by two hours
    "Australia/Lord_Howe",  # changes by half an hour
    "Pacific/Chatham",  # is 45 minutes off the hour
)
_FIRST, _END = datetime(2020, 1, 1, tzinfo=UTC), datetime(2036, 1, 1, tzinfo=UTC)
_STRIDE = timedelta(hours=12)


@dataclass(frozen=True)
class Change:
    """The first minute with a new offset."""

    zone: str
    at: datetime
    before: timedelta
    after: timedelta

    @property
    def wall(self) -> datetime:
        """What the clock would show at the change without it."""
        return self.at.replace(tzinfo=None) + self.before

    def clock(self, around: timedelta) -> list[tuple[datetime, datetime]]:
        """Return the instants and wall times of every minute around the change."""
        zone, begin = ZoneInfo(self.zone), self.at - around
        return [(t, shown(t, zone)) for t in (begin + n * MINUTE for n in range(2 * around // MINUTE))]


def edges(change: Change) -> list[datetime]:
    """Return the moments about a change where one more or less makes the difference."""
    shift = abs(change.after - change.before)
    return [change.at + side * shift + by for side in (-1, 0, 1) for by in (-MINUTE, timedelta(0), MINUTE)]


def shown(instant: datetime, zone: ZoneInfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


@cache
def all_changes() -> list[Change]:
    return [change for zone in _ZONES for change in changes_in(zone)]


def changes_in(zone: str) -> Iterator[Change]:
    clock, low = ZoneInfo(zone), _FIRST
    while low < _END:
        high = low + _STRIDE
        before, after = low.astimezone(clock).utcoffset(), high.astimezone(clock).utcoffset()
        assert before is not None
        assert after is not None
        if before != after:
            at = low
            while at.astimezone(clock).utcoffset() == before:
                at += MINUTE
            yield Change(zone, at, before, after)
        low = high
