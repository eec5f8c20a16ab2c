"""The options of a timetable, and their wire form."""

from __future__ import annotations

import argparse
import re
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from svc_jupyter.magics.arguments.decorators import argument
from svc_jupyter.magics.arguments.options import MagicMethod, nearest
from svc_jupyter.magics.display.errors import SvcUsageError

UNITS = {
    **dict.fromkeys(("min", "minute", "minutes"), "minutes"),
    **dict.fromkeys(("h", "hour", "hours"), "hours"),
    **dict.fromkeys(("d", "day", "days"), "days"),
    **dict.fromkeys(("w", "week", "weeks"), "weeks"),
    **dict.fromkeys(("month", "months"), "months"),
}
"""Maps words to the contract's units."""
_COUNTED = re.compile(r"(\d+)?\s*([a-z]+)")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_NOT_SIGNED_ZONE = "UTC"

_TIMETABLE_OPTIONS = (
    argument(
        "--every", metavar="N UNIT", help='Run in steps: "1 day", "2 hours"; minutes, hours, days, weeks, months.'
    ),
    argument("--cron", metavar="EXPR", help='Run by a cron expression: "0 9 * * 1-5".'),
    argument("--at", metavar="HH:MM", help="With --every: start at the next time the zone's clock shows this."),
    argument("--start", metavar="TIME", help='With --every: start at this time, "2026-11-22 09:00".'),
    argument("--end", metavar="TIME", help="Stop at this time."),
    argument(
        "--tz", metavar="ZONE", help="Time zone of these times, such as Europe/Paris (default: default_time_zone)."
    ),
)


def timetable_options(magic: MagicMethod) -> MagicMethod:
    """Add the options of a timetable to a magic."""
    for option in reversed(_TIMETABLE_OPTIONS):
        magic = option(magic)
    return magic


def timetable_fields(values: argparse.Namespace, zone: str | None, now: datetime) -> dict[str, Any]:
    """Return the given fields of a timetable; `zone` is that of `--at`, `now` the current time.

    Raises SvcUsageError for contradictory options. Neither `--every` nor `--cron` is required here.
    """
    if values.every and values.cron:
        raise SvcUsageError("give --every or --cron, not both")
    if values.cron and (values.at or values.start):
        raise SvcUsageError("--cron runs from the next time that fits its expression; leave --at and --start out")
    if values.at and values.start:
        raise SvcUsageError("give --at or --start, not both")
    frequency, time_unit = counted(values.every, "--every") if values.every else (None, None)
    start = next_clock(values.at, zone, now) if values.at else values.start
    fields = {
        "frequency": frequency,
        "time_unit": time_unit,
        "cron_expression": values.cron,
        "start_time": start,
        "end_time": values.end,
        "time_zone": checked_zone(values.tz) if values.tz else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def counted(text: str, option: str) -> tuple[int, str]:
    """Return the number and the unit of `2 hours`, `day` or `15min`. Raises SvcUsageError."""
    found = _COUNTED.fullmatch(text.strip().lower())
    unit = UNITS.get(found[2]) if found else None
    if found is None or unit is None or int(found[1] or 1) < 1:
        hint = nearest(found[2], list(UNITS)) if found else ""
        raise SvcUsageError(
            f'{option} takes a number and a unit, such as "1 day" or "15 minutes", not {text!r}.{hint} '
            "Units: minutes, hours, days, weeks, months."
        )
    return int(found[1] or 1), unit


def next_clock(text: str, zone: str | None, now: datetime) -> str:
    """Return the next time of a clock time in a zone, as `YYYY-MM-DD HH:MM` of that zone."""
    hour, minute = clock_time(text, "--at")
    there = now.astimezone(ZoneInfo(zone or _NOT_SIGNED_ZONE))
    day = there.date() + timedelta(days=(hour, minute) <= (there.hour, there.minute))
    return f"{day.isoformat()} {hour:02}:{minute:02}"


def clock_time(text: str, option: str) -> tuple[int, int]:
    """Return hour and minute of `9:00`. Raises SvcUsageError."""
    found = _CLOCK.fullmatch(text.strip())
    if not found:
        raise SvcUsageError(f"{option} takes a time of day such as 09:00, not {text!r}")
    return int(found[1]), int(found[2])


def checked_zone(name: str) -> str:
    """Return the name of a zone known to this machine. Raises SvcUsageError with the nearest one."""
    known = available_timezones()
    if known and name not in known:  # without zone data, the service checks it
        by_place = {zone.rpartition("/")[2].lower(): zone for zone in sorted(known)}
        near = by_place.get(name.replace(" ", "_").lower())
        hint = f" Did you mean {near}?" if near else nearest(name, sorted(known))
        raise SvcUsageError(f"there is no time zone {name!r}.{hint} Zones are named as in Europe/Paris, or UTC.")
    return name
