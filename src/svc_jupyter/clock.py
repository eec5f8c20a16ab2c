"""Times as text on the reader's clock: that of this machine, in 24 hours, and the name of its zone."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfoNotFoundError


def own_zone() -> tzinfo:
    """Return the zone of this machine's clock; its offset of today where the settings name none, or several.

    Some systems call UTC `Etc/UTC`.
    """
    from tzlocal import get_localzone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            zone: tzinfo | None = get_localzone()
        except (ZoneInfoNotFoundError, ValueError, OSError):
            zone = timezone(datetime.now().astimezone().utcoffset() or timedelta())
    return UTC if zone is None or str(zone) == "Etc/UTC" else zone


def on_own_clock(moment: datetime) -> datetime:
    """Return a moment in the zone of `own_zone`; the end of the calendar for one beyond it there."""
    zone = own_zone()
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return datetime.max.replace(tzinfo=zone) if moment.year > 1 else datetime.min.replace(tzinfo=zone)


def short_time(moment: datetime | None, now: datetime) -> str:
    """Return `09:00` for a time of today, else `Sat 22 Nov 09:00`, with the year if it differs; `never` for None."""
    if moment is None:
        return "never"
    there, today = on_own_clock(moment), on_own_clock(now)
    seconds = ":%S" if there.second else ""
    if there.date() == today.date():
        return there.strftime(f"%H:%M{seconds}")
    year = "" if there.year == today.year else " %Y"
    return f"{there:%a} {there.day} {there.strftime(f'%b{year} %H:%M{seconds}')}"


def named_time(moment: datetime | None, now: datetime) -> str:
    """Return a time from `short_time` with its zone: `Sat 22 Nov 09:00 (Europe/Paris)`."""
    text = short_time(moment, now)
    return text if moment is None else f"{text} ({own_zone()})"


def time_of_day(moment: datetime) -> str:
    """Return a time of today to the second: `14:02:11`."""
    return f"{on_own_clock(moment):%H:%M:%S}"


def as_of_text(moment: datetime) -> str:
    """Return when something was fetched: `as of 14:02:11 (Europe/Paris)`, the zone of all times beside it."""
    return f"as of {time_of_day(moment)} ({own_zone()})"
