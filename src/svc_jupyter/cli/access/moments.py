"""Parse an operator's times: a date, a time, or an offset from now. Pure."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

_SPAN = re.compile(r"(\d{1,6})\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def from_now(text: str, now: datetime) -> str:
    """Return the time `90d` after `now` as ISO 8601 UTC; a date or time unchanged."""
    return _moment(text, now, 1)


def before_now(text: str, now: datetime) -> str:
    """Return the time `24h` before `now` as ISO 8601 UTC; a date or time unchanged."""
    return _moment(text, now, -1)


def moment_option(read: Callable[[str, datetime], str]) -> Callable[[str], str]:
    """Return the argparse type of a time option, which calls `read` with the current time."""

    def moment(text: str) -> str:
        try:
            return read(text, datetime.now(UTC))
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return moment


def _moment(text: str, now: datetime, sign: int) -> str:
    span = _SPAN.fullmatch(text.strip())
    if span is not None:
        try:
            moment = now + sign * timedelta(**{_UNITS[span[2]]: int(span[1])})
        except OverflowError:
            raise ValueError(f"{text!r} leads out of the calendar") from None
        return moment.replace(microsecond=0).isoformat().replace("+00:00", "Z")
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(
            f"{text!r} is not a moment: write 2031-05-31, 2031-05-31T18:00:00Z (UTC without an offset), or a span of "
            f"seconds, minutes, hours, days or weeks such as 90m, 24h, 30d"
        ) from None
    return text.strip()
