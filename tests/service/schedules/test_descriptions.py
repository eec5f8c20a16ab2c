from __future__ import annotations

from datetime import UTC, datetime

from svc_jupyter.api.schedules import TimeUnit
from svc_jupyter.service.schedules.timetable import Timetable

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


def every(count: int, unit: TimeUnit, start: str, zone: str = "UTC") -> Timetable:
    return Timetable(datetime.fromisoformat(start).replace(tzinfo=UTC), None, zone, count, unit)


WORDS = {
    every(2, TimeUnit.DAYS, "2026-11-21 08:00", "Europe/Paris"): "every 2 days at 09:00 (Europe/Paris)",
    every(1, TimeUnit.DAYS, "2026-11-21 08:00"): "every day at 08:00 (UTC)",
    every(1, TimeUnit.WEEKS, "2026-11-21 08:00"): "every week on Saturday at 08:00 (UTC)",
    every(1, TimeUnit.MONTHS, "2026-11-01 08:00"): "every month on the 1st at 08:00 (UTC)",
    every(3, TimeUnit.MONTHS, "2026-11-22 08:00"): "every 3 months on the 22nd at 08:00 (UTC)",
    every(1, TimeUnit.MONTHS, "2026-11-12 08:00"): "every month on the 12th at 08:00 (UTC)",
    every(1, TimeUnit.MONTHS, "2027-01-31 08:00"): "every month on the 31st or the last day at 08:00 (UTC)",
    every(15, TimeUnit.MINUTES, "2026-11-21 08:07"): "every 15 minutes from 2026-11-21 08:07 (UTC)",
    every(1, TimeUnit.HOURS, "2026-11-21 08:07:30"): "every hour from 2026-11-21 08:07:30 (UTC)",
    Timetable(NOW, None, "Asia/Tokyo", cron_expression="@daily"): "at 00:00 every day (Asia/Tokyo)",
}


def test_timetables_in_words():
    assert {timetable: timetable.explain() for timetable in WORDS} == WORDS
