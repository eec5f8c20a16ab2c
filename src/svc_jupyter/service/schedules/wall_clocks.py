"""Converts between wall clocks of a time zone and instants, across clock changes.

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
"""IANA names, without files for this machine's own zone or with leap seconds."""
_LONGEST_NAME = 64
_SECOND = timedelta(seconds=1)


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
