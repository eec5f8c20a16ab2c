"""When a digest is due: a pure function of the wall clock of a schedule's zone."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo


def next_digest(after: float, *, hour: int, minute: int, time_zone: str) -> float:
    """Return the first moment strictly after `after` at which the zone's clocks show hour:minute; Unix seconds.

    Once a day: a time that the clocks skip counts as the moment that follows, one that they show twice as its first.
    """
    zone = ZoneInfo(time_zone)
    day = datetime.fromtimestamp(after, zone).date()
    while True:
        moment = datetime.combine(day, time(hour, minute), zone).astimezone(UTC).timestamp()
        if moment > after:
            return moment
        day += timedelta(days=1)
