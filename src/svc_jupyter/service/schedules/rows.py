"""Converts a schedule's row to values of the pure parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_jupyter.api.schedules import TimeUnit
from svc_jupyter.service.schedules.times import from_seconds
from svc_jupyter.service.schedules.timetable import Timetable

Row = Mapping[str, Any]


def timetable_of(row: Row) -> Timetable:
    """Return the timetable of a schedule's row."""
    return Timetable(
        start=from_seconds(row["start_time"]),
        end=None if row["end_time"] is None else from_seconds(row["end_time"]),
        time_zone=row["time_zone"],
        frequency=row["frequency"],
        time_unit=None if row["time_unit"] is None else TimeUnit(row["time_unit"]),
        cron_expression=row["cron_expression"],
    )
