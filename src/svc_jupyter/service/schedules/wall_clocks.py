"""What the clocks on the wall of a time zone show, and the instants they show it at, changes of the clock included.

Wall times are naive datetimes, instants aware ones in UTC.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_NAME = re.compile(r"(?!localtime$|posixrules$|posix/|right/)[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
"""IANA names; not the files beside them, which mean this machine's own zone or count leap seconds."""
_LONGEST_NAME = 64
_SECOND = timedelta(seconds=1)


@lru_cache(maxsize=1024)
def zone_named(name: str) -> ZoneInfo:
    """Return the time zone of that IANA name. Raises ValueError, with a text for the user, for an unknown one."""
    if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name):
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):  # no such file, no zone data in it, a folder
            pass
    raise ValueError(f"time_zone {name[:_LONGEST_NAME]!r} is not known; give a name such as UTC or Europe/Paris")


def wall_time(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return what the clocks of `zone` show at that instant."""
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def instant_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return when the clocks show `wall`: the first time of two; a time they skip moves forward by what they skip."""
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)


def instant_from(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return when the clocks first show `wall`; for a time they skip, the moment when they skip it."""
    instant = instant_of(wall, zone)
    if wall_time(instant, zone) == wall:
        return instant
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return _change_between(before, instant, zone)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Clocks put back: for `length` before `change` and again for `length` from it they show the same times."""

    change: datetime
    length: timedelta

    @property
    def end(self) -> datetime:
        """When the second round is over."""
        return self.change + self.length


def overlap_at(instant: datetime, zone: ZoneInfo) -> Overlap | None:
    """Return the overlap whose first or second round `instant` lies in. `instant` must be on a whole second."""
    local = instant.astimezone(zone)
    first, second = local.replace(fold=0).utcoffset(), local.replace(fold=1).utcoffset()
    if first is None or second is None or first <= second:
        return None
    length = first - second
    since = instant - length if local.fold else instant
    return Overlap(_change_between(since, since + length, zone), length)


def _change_between(low: datetime, high: datetime, zone: ZoneInfo) -> datetime:
    """Return the one instant after `low`, and not after `high`, at which the offset changes. Both on whole seconds."""
    before = low.astimezone(zone).utcoffset()

    def is_after(seconds: int) -> bool:
        return (low + seconds * _SECOND).astimezone(zone).utcoffset() != before

    return low + bisect_left(range((high - low) // _SECOND), True, key=is_after) * _SECOND
