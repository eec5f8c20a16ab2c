"""Previews of schedules: the command with its macros applied, and the next times. Creates nothing."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from svc_jupyter.api.schedules import PreviewRequest, TimeUnit
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.macros.macros import resolve, substitute
from svc_jupyter.service.schedules.dependencies import check_dependencies_of
from svc_jupyter.service.schedules.descriptions import describe_timetable
from svc_jupyter.service.schedules.rows import timetable_of
from svc_jupyter.service.schedules.times import from_seconds, known_zone, parse_time, this_minute
from svc_jupyter.service.schedules.timetable import check_timetable, nominal_times

_PREVIEWED = 5
_FOREVER = 253_000_000_000.0
"""Unix seconds of a moment in the year 9987."""


async def preview(body: PreviewRequest, now: float) -> dict[str, Any]:
    """Return a preview in the shape of `Preview`; `now` is Unix seconds. Raises `Invalid`."""
    zone = known_zone(body.time_zone or "UTC")
    nominal_time = parse_time(body.nominal_time, zone, "nominal_time") if body.nominal_time else from_seconds(int(now))
    values = await asyncio.to_thread(resolve, body.macros or [], nominal_time, zone)
    named = {name: value for macro in values for name, value in macro.items()}
    return {"command": substitute(body.command or {}, values), "macros": named} | _when(body, zone, now)


def _when(body: PreviewRequest, zone: str, now: float) -> dict[str, Any]:
    if body.frequency is None and not body.cron_expression:
        return {}
    start = parse_time(body.start_time, zone, "start_time") if body.start_time else this_minute(now)
    end = parse_time(body.end_time, zone, "end_time") if body.end_time else None
    timetable = timetable_of(
        {
            "start_time": start.timestamp(),
            "end_time": None if end is None else end.timestamp(),
            "time_zone": zone,
            "frequency": body.frequency,
            "time_unit": None if body.frequency is None else (body.time_unit or TimeUnit.DAYS),
            "cron_expression": body.cron_expression or None,
        }
    )
    try:
        check_timetable(timetable, from_seconds(now))
    except ValueError as error:
        raise Invalid(str(error)) from None
    check_dependencies_of(body.dependency_info, timetable)
    coming = nominal_times(timetable, from_seconds(now), from_seconds(_FOREVER))
    return {
        "description": describe_timetable(timetable),
        "next_times": [iso_time(moment.timestamp()) for moment in itertools.islice(coming, _PREVIEWED)],
    }
