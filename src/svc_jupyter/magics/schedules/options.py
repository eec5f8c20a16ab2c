"""The options of a schedule, and the fields that they give: its timetable, dependencies and notifications."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from svc_jupyter.magics.arguments.decorators import argument
from svc_jupyter.magics.arguments.options import MagicMethod, macro_options, macros, nearest, tags_text
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


_ABOUT = (
    argument("--name", metavar="NAME", help="Name of the schedule (default: its id)."),
    argument("--label", metavar="LABEL", help="Label of the cluster of the commands."),
    argument("--tags", metavar="A,B", help="Comma-separated tags of the commands."),
    argument("--pool", metavar="POOL", help="Scheduler pool of the cluster."),
)
_RUNS = (
    argument("--concurrency", metavar="N", type=int, help="Actions that may run at once (default: 1)."),
    argument("--timeout", metavar="SECONDS", type=int, help="Seconds after which the service ends a command."),
    argument("--retry", metavar="N", type=int, choices=range(4), help="Number of retries after a failure: 0 to 3."),
    argument("--retry-delay", metavar="MINUTES", type=int, help="Minutes between two attempts."),
    argument("--no-catch-up", action="store_true", help="Skip missed nominal times."),
)
_DEPENDENCIES = (
    argument(
        "--wait-for",
        metavar="PATH",
        action="append",
        default=[],
        help="Run only when this file or folder of the storage exists; %%Y-%%m-%%d and the like become the nominal "
        "time's. Repeatable.",
    ),
    argument("--done-flag", metavar="FILE", help="With --wait-for: wait for this file inside each path."),
    argument(
        "--window",
        metavar="N",
        type=int,
        help="With --wait-for: check the last N intervals, including the run's own (default: 1).",
    ),
    argument("--interval", metavar="N UNIT", help="With --wait-for: interval between the files (default: as --every)."),
    argument(
        "--dependencies", metavar="NAME", help="Take the whole dependency_info from the notebook's variable NAME."
    ),
    argument("--time-out", metavar="MINUTES", type=int, help="Minutes to wait for dependencies (default: 600)."),
)
_NOTIFICATIONS = (
    argument("--notify", action="store_true", help="Send yourself an e-mail about each run that fails."),
    argument("--notify-failure", action="store_true", help="Notify the channels of each run that fails."),
    argument("--notify-success", action="store_true", help="Notify the channels of each run that succeeds."),
    argument("--channel", metavar="ID", type=int, action="append", default=[], help="Channel to notify. Repeatable."),
    argument("--digest", metavar="HH:MM", help="Send one message a day at this time of the zone."),
    argument("--due-by", metavar="HH:MM", help="Notify of a run that has not ended by this time of the zone."),
    argument(
        "--longer-than", metavar="N", type=float, help="Notify of a run that takes N times the usual, the median."
    ),
)


def schedule_options(magic: MagicMethod) -> MagicMethod:
    """Add all options of a schedule to a magic."""
    magic = macro_options(magic)
    for option in reversed((*_ABOUT, *_RUNS, *_DEPENDENCIES, *_NOTIFICATIONS)):
        magic = option(magic)
    return timetable_options(magic)


def schedule_fields(values: argparse.Namespace, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given fields of a schedule besides its timetable; `variables` is the notebook's namespace.

    Raises SvcUsageError.
    """
    fields = {
        "name": values.name,
        "label": values.label,
        "tags": tags_text(values.tags),
        "pool": values.pool,
        "concurrency": values.concurrency,
        "command_timeout": values.timeout,
        "retry": values.retry,
        "retry_delay": values.retry_delay,
        "no_catch_up": values.no_catch_up or None,
        "dependency_info": dependency_info(values, variables),
        "time_out": values.time_out,
        "notification": notification(values),
        "can_notify": values.notify or None,
        "due_by": None if values.due_by is None else "{:02}:{:02}".format(*clock_time(values.due_by, "--due-by")),
        "longer_than": values.longer_than,
        "macros": macros(values, variables) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def dependency_info(values: argparse.Namespace, variables: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the dependencies of the runs, or None if no option was given."""
    details = [name for name in ("done_flag", "window", "interval") if getattr(values, name) is not None]
    if values.dependencies and (values.wait_for or details):
        raise SvcUsageError("give --dependencies with everything in it, or --wait-for and what belongs to it")
    if values.dependencies:
        return _variable(values.dependencies, variables)
    if not values.wait_for:
        if details:
            raise SvcUsageError(f"--{details[0].replace('_', '-')} belongs to a --wait-for PATH")
        return None
    shared: dict[str, Any] = {"done_flag": values.done_flag} if values.done_flag else {}
    if values.window is not None:
        if values.window < 1:
            raise SvcUsageError(f"--window takes a number of intervals, 1 or more, not {values.window}")
        shared |= {"window_start": 1 - values.window, "window_end": 0}
    if values.interval:
        number, unit = counted(values.interval, "--interval")
        shared["interval"] = {unit: number}
    return {"files": [{"path": path, **shared} for path in values.wait_for]}


def notification(values: argparse.Namespace) -> dict[str, Any] | None:
    """Return the notification settings, or None if no option was given."""
    notifies = values.notify_failure or values.notify_success
    alerts = values.due_by is not None or values.longer_than is not None
    if (values.channel and not (notifies or alerts)) or (values.digest and not notifies):
        raise SvcUsageError("say when to notify: --notify-failure, --notify-success or both")
    if not (notifies or values.channel):
        return None
    fields: dict[str, Any] = {"notify_failure": values.notify_failure, "notify_success": values.notify_success}
    if values.channel:
        fields["notification_channels"] = values.channel
    if values.digest:
        hour, minute = clock_time(values.digest, "--digest")
        fields |= {"is_digest": True, "digest_time_hour": hour, "digest_time_minute": minute}
    return fields


def _variable(name: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    value = variables.get(name)
    if not isinstance(value, dict):
        there = "no variable" if name not in variables else f"{type(value).__name__}, no dict,"
        known = [variable for variable in variables if not variable.startswith("_")]
        raise SvcUsageError(f"--dependencies {name}: the notebook has {there} {name}.{nearest(name, known)}")
    return value
