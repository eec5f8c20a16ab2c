"""Times in the API's formats."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Literal

from svc_jupyter.service.ground.errors import Invalid


def iso_time(seconds: float, timespec: Literal["seconds", "milliseconds", "microseconds"] = "seconds") -> str:
    """Return Unix seconds as ISO 8601 UTC with `Z`, cut to `timespec`."""
    moment = datetime.fromtimestamp(int(seconds) if timespec == "seconds" else seconds, UTC)
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")


def exact_time(seconds: float | None) -> str | None:
    """Return Unix seconds as ISO 8601 UTC with milliseconds, None for None."""
    return None if seconds is None else iso_time(seconds, "milliseconds")


def parse_day(text: str, field_name: str) -> datetime:
    """Parse a date or time; return it in UTC. Raises `Invalid` with the field's name."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(f"{field_name}: must be a date or time such as 2026-11-21 or 2026-11-21T09:00:00Z") from None
    moment = moment.replace(tzinfo=moment.tzinfo or UTC)
    if not 1971 <= moment.year <= 9998:
        raise Invalid(f"{field_name}: the year must be between 1971 and 9998")
    return moment


def parse_end(text: str, field_name: str) -> datetime:
    """Parse an exclusive end; a bare date includes that day. Raises like `parse_day`."""
    moment = parse_day(text, field_name)
    try:
        date.fromisoformat(text)
    except ValueError:
        return moment
    return moment + timedelta(days=1)
