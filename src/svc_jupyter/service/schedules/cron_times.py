"""When a cron expression fires in a time zone.

A fixed hour fires once per wall time: at the first occurrence when clocks are put back, and at the end of the gap when
they skip it. A wildcard hour follows elapsed time: it fires whenever the clocks show one of its times, so also in the
second round, but not at skipped times.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from svc_jupyter.service.schedules.cron import CronExpression
from svc_jupyter.service.schedules.wall_clocks import instant_from, overlap_at, wall_time

_SECOND = timedelta(seconds=1)


def next_firing(cron: CronExpression, after: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the first instant after `after` (UTC) at which `cron` fires, in UTC; None when there is none.

    Raises OverflowError after the year 9999.
    """
    after = after.replace(microsecond=0)
    return _next_elapsed(cron, after, zone) if cron.hour_is_wildcard else _next_fixed(cron, after, zone)


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
