"""Times of schedules in requests and records: wall clocks of a zone, and instants."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.schedules.timetable import from_seconds, zone_named

_FIRST_YEAR = 1970
_LAST_YEAR = 9998
"""One year before the last possible one: every zone's wall clock must be representable."""
_FORMS = "give it as 2026-11-21 09:00 (the schedule's own wall clock) or 2026-11-21T09:00Z (UTC)"


def parse_time(text: str, time_zone: str, field: str) -> datetime:
    """Return the instant, in UTC, of a text; without an offset it is a wall clock of `time_zone`.

    A wall clock that summer time skips moves forward; one that occurs twice means the first. Fractions of a second are
    dropped. Raises `Invalid`, which names `field`.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Invalid(f"{field}: {text[:40]!r} is not a time; {_FORMS}") from None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise Invalid(f"{field}: the year must be between {_FIRST_YEAR} and {_LAST_YEAR}")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(time_zone))
    return moment.astimezone(UTC).replace(microsecond=0)


def known_zone(name: str) -> str:
    """Return the name of a known time zone. Raises `Invalid` for an unknown one."""
    try:
        return zone_named(name).key
    except ValueError as error:
        raise Invalid(str(error)) from None


def this_minute(now: float) -> datetime:
    """Return the beginning of the minute of `now`, Unix seconds: nominal times are shown to the minute."""
    return from_seconds(now).replace(second=0, microsecond=0)


def wall_clock(seconds: float | None, time_zone: str) -> str | None:
    """Return Unix seconds as `YYYY-MM-DD HH:MM` in a zone."""
    if seconds is None:
        return None
    return from_seconds(seconds).astimezone(ZoneInfo(time_zone)).strftime("%Y-%m-%d %H:%M")
