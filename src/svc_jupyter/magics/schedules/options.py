"""The options of a schedule besides its timetable, and their wire form."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from svc_jupyter.magics.arguments.decorators import argument
from svc_jupyter.magics.arguments.options import MagicMethod, macro_options, macros, nearest, tags_text
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.schedules.timetables import clock_time, counted, timetable_options

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
    if (values.channel or values.digest) and not notifies:
        raise SvcUsageError("say when to notify: --notify-failure, --notify-success or both")
    if not notifies:
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
