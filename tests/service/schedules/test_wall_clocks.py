from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime

import pytest

from svc_jupyter.service.schedules.timetable import instant_from, instant_of, overlap_at, zone_named

PARIS = zone_named("Europe/Paris")


def test_every_zone_of_the_zone_data_can_be_named():
    names = zoneinfo.available_timezones() - {"localtime"}
    assert len(names) > 400
    assert all(zone_named(name).key == name for name in names)


UNKNOWN = [
    *("", "Mars/Olympus", "europe paris", "America", "../UTC", "/etc/localtime", "localtime", "posixrules"),
    *("right/UTC", "tzdata.zi", "UTC\0", "Zürich", "Europe/Paris/"),
]


def test_an_unknown_time_zone_is_refused():
    def refusal(name: str) -> str:
        with pytest.raises(ValueError, match=r"^time_zone ") as refused:
            zone_named(name)
        return str(refused.value)

    assert {name: refusal(name) for name in UNKNOWN} == {
        name: f"time_zone {name!r} is not known; give a name such as UTC or Europe/Paris" for name in UNKNOWN
    }
    assert len(refusal("x" * 5000)) < 150


def test_a_skipped_wall_time_moves_forward_by_the_gap_or_to_its_end():
    skipped = datetime(2027, 3, 28, 2, 30)  # noqa: DTZ001
    assert instant_of(skipped, PARIS) == datetime(2027, 3, 28, 1, 30, tzinfo=UTC)
    assert instant_from(skipped, PARIS) == datetime(2027, 3, 28, 1, 0, tzinfo=UTC)


def test_a_wall_time_that_comes_twice_is_its_first():
    twice = datetime(2026, 10, 25, 2, 30)  # noqa: DTZ001
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert instant_of(twice, PARIS) == instant_from(twice, PARIS) == first
    assert instant_of(twice.replace(fold=1), PARIS) == first


def test_an_overlap_is_known_in_both_rounds_and_not_outside():
    change = datetime(2026, 10, 25, 1, tzinfo=UTC)
    for hour, minute in ((0, 0), (0, 59), (1, 0), (1, 59)):
        overlap = overlap_at(change.replace(hour=hour, minute=minute), PARIS)
        assert overlap is not None
        assert (overlap.change, overlap.end) == (change, change.replace(hour=2))
    assert overlap_at(change.replace(hour=2), PARIS) is None
    assert overlap_at(datetime(2026, 10, 24, 23, 59, tzinfo=UTC), PARIS) is None
    assert overlap_at(datetime(2027, 3, 28, 1, tzinfo=UTC), PARIS) is None
