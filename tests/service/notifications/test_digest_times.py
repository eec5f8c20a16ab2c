from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.notifications.digests import next_digest

ZONES = [
    "UTC",
    "Europe/Paris",
    "America/New_York",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "America/Santiago",
    "Pacific/Apia",
]


def at(text: str, zone: str, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


def test_the_next_digest_is_by_the_clock_of_the_zone() -> None:
    paris = "Europe/Paris"
    due = {
        ("2026-11-21 07:59", 8, 0): "2026-11-21 08:00",
        ("2026-11-21 08:00", 8, 0): "2026-11-22 08:00",
        ("2026-11-21 23:59", 0, 0): "2026-11-22 00:00",
        ("2026-11-22 00:00", 0, 0): "2026-11-23 00:00",
        ("2026-12-31 12:00", 6, 30): "2027-01-01 06:30",
        # The clocks go from 02:00 to 03:00 and, in autumn, from 03:00 back to 02:00.
        ("2026-03-28 03:00", 2, 30): "2026-03-29 03:30",
        ("2026-03-29 03:30", 2, 30): "2026-03-30 02:30",
        ("2026-10-25 01:00", 2, 30): "2026-10-25 02:30",
    }
    found = {
        (after, hour, minute): next_digest(at(after, paris), hour=hour, minute=minute, time_zone=paris)
        for after, hour, minute in due
    }
    assert found == {asked: at(text, paris) for asked, text in due.items()}


def test_a_time_that_the_clocks_show_twice_is_reported_once() -> None:
    first, second = at("2026-10-25 02:30", "Europe/Paris"), at("2026-10-25 02:30", "Europe/Paris", fold=1)
    assert second == first + 3600

    for after in (first, first + 1800, second, second + 60):
        due = next_digest(after, hour=2, minute=30, time_zone="Europe/Paris")
        assert due == at("2026-10-26 02:30", "Europe/Paris")


@given(
    zone=st.sampled_from(ZONES),
    start=st.integers(1_260_000_000, 2_080_000_000),  # 2009 to 2035
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
)
def test_there_is_a_digest_for_every_day_and_none_twice(zone: str, start: int, hour: int, minute: int) -> None:
    moments = [float(start)]
    for _ in range(10):
        moments.append(next_digest(moments[-1], hour=hour, minute=minute, time_zone=zone))

    for before, after in pairwise(moments[1:]):
        assert timedelta(hours=20) <= timedelta(seconds=after - before) <= timedelta(hours=28)
    for moment in moments[1:]:
        shown = datetime.fromtimestamp(moment, ZoneInfo(zone))
        wanted = shown.replace(hour=hour, minute=minute, second=0, microsecond=0, fold=0)
        skipped = wanted.astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) != wanted.replace(tzinfo=None)
        assert skipped or (shown.hour, shown.minute) == (hour, minute)
