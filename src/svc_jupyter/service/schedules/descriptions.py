"""Timetables as text, for panels, lists and e-mails."""

from __future__ import annotations

from svc_jupyter.service.schedules.cron import parse_cron
from svc_jupyter.service.schedules.timetable import Timetable


def describe_timetable(timetable: Timetable) -> str:
    """Return when a schedule runs, such as `every 2 days at 09:00 (Europe/Paris)`. `timetable` must be valid."""
    steps = timetable.steps
    words = parse_cron(timetable.cron_expression or "").explain() if steps is None else steps.explain()
    return f"{words} ({timetable.time_zone})"
