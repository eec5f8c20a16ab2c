"""When cron expressions fire where clocks change: against a clock read minute by minute, and against cronsim."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st
from tests.service.schedules.clock_changes import MINUTE, Change, all_changes, edges, shown
from tests.service.schedules.cron_by_hand import Fields, firings

from svc_jupyter.service.schedules.timetable import Timetable, next_nominal_time, nominal_times

HOUR = timedelta(hours=1)


def times(expression: str, zone: str, after: datetime, until: datetime) -> list[datetime]:
    timetable = Timetable(datetime(1999, 1, 1, tzinfo=UTC), None, zone, cron_expression=expression)
    return list(nominal_times(timetable, after, until))


def in_paris(expression: str, day: str, hours: int = 24) -> list[str]:
    """Return the UTC times of an expression in Paris from midnight of a day on."""
    begin = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo("Europe/Paris")).astimezone(UTC) - timedelta(seconds=1)
    return [f"{t:%dT%H:%M}" for t in times(expression, "Europe/Paris", begin, begin + timedelta(hours=hours))]


def test_a_fixed_time_that_the_clocks_skip_fires_when_they_skip_it():
    assert in_paris("30 2 * * *", "2027-03-28") == ["28T01:00"]
    assert in_paris("30 2,3 * * *", "2027-03-28") == ["28T01:00", "28T01:30"]
    assert in_paris("*/20 2 * * *", "2027-03-28") == ["28T01:00"]


def test_a_fixed_time_that_comes_twice_fires_the_first_time():
    assert in_paris("30 2 * * *", "2026-10-25") == ["25T00:30"]
    assert in_paris("*/30 2 * * *", "2026-10-25") == ["25T00:00", "25T00:30"]


def test_six_fields_follow_the_same_rules_as_five():
    assert in_paris("0 30 2 * * ?", "2026-10-25") == ["25T00:30"]
    assert in_paris("0 30 2 ? * * 2026", "2026-10-25") == ["25T00:30"]
    assert in_paris("0 30 2 ? * SUN", "2027-03-28") == ["28T01:00"]


def test_a_wildcard_hour_follows_elapsed_time():
    expected = ["24T22:30", "24T23:30", "25T00:30", "25T01:30", "25T02:30"]
    assert in_paris("30 * * * *", "2026-10-25", hours=5) == expected
    expected = ["27T23:30", "28T00:30", "28T01:30", "28T02:30"]
    assert in_paris("30 * * * *", "2027-03-28", hours=4) == expected


def test_every_hour_is_a_wildcard_whatever_way_it_is_written():
    ways = ("0 0 * * * ?", "0 0 0/1 1/1 * ? *", "0 0-23 * * *", "0 */1 * * *")
    hours = ["24T22:00", "24T23:00", "25T00:00", "25T01:00"]
    assert {way: in_paris(way, "2026-10-25", hours=4) for way in ways} == dict.fromkeys(ways, hours)


def test_every_second_hour_is_some_fixed_hours_whatever_way_it_is_written():
    autumn = [in_paris(hours, "2026-10-25", hours=6) for hours in ("0 */2 * * *", "0 0-23/2 * * *", "0 0 0/2 * * ?")]
    assert autumn == [["24T22:00", "25T00:00", "25T03:00"]] * 3
    assert in_paris("0 */2 * * *", "2027-03-28", hours=4) == ["27T23:00", "28T01:00", "28T02:00"]


def test_a_day_that_the_date_line_swallowed_fires_when_it_is_skipped():
    begin = datetime(2011, 12, 29, 12, tzinfo=UTC)
    fired = times("0 9 * * *", "Pacific/Apia", begin, begin + timedelta(days=3))
    assert [f"{t:%dT%H:%M}" for t in fired] == ["29T19:00", "30T10:00", "30T19:00", "31T19:00"]


def expressions_at(change: Change) -> list[Fields]:
    """Return expressions that fire about the hour of a change."""
    hour = change.wall.hour
    hours = frozenset((hour + n) % 24 for n in (-1, 0, 1))
    weekday = frozenset({change.wall.isoweekday() % 7})
    return [
        Fields(frozenset({0, 20, 45}), hours),
        Fields(frozenset({0, 30}), frozenset(range(24)) - {(hour + 12) % 24}),
        Fields(None, frozenset({hour}), weekdays=weekday),
        Fields(frozenset({30}), frozenset({(hour - 1) % 24, 12}), days=frozenset({change.wall.day, 15})),
        Fields(frozenset({0, 10, 29, 45}), None),
        Fields(frozenset({15}), None, weekdays=weekday),
    ]


@pytest.mark.all  # the next two take samples of them
def test_every_change_of_the_clock_in_ten_zones_goes_as_read_minute_by_minute():
    changes = all_changes()
    assert len(changes) > 280
    for change in changes:
        clock = change.clock(around=4 * HOUR)
        begin, end = clock[0][0] - MINUTE, clock[-1][0]
        for fields in expressions_at(change):
            expected = firings(fields, clock, MINUTE)
            assert times(fields.text, change.zone, begin, end) == expected, (change, fields.text)
            timetable = Timetable(begin, end, change.zone, cron_expression=fields.text)
            for after in edges(change):
                later = [instant for instant in expected if after < instant < end]
                assert next_nominal_time(timetable, after) == (later[0] if later else None), (change, fields.text)


@st.composite
def any_fields(draw) -> Fields:
    def some(numbers: range, most: int):
        return st.frozensets(st.sampled_from(numbers), min_size=1, max_size=most)

    return Fields(
        draw(some(range(60), 4)),
        draw(st.none() | some(range(24), 23)),
        draw(st.none() | some(range(1, 32), 31)),
        draw(st.none() | some(range(1, 13), 12)),
        draw(st.none() | some(range(7), 7)),
    )


changes = st.deferred(lambda: st.sampled_from(all_changes()))


@given(change=changes, fields=any_fields(), seed=st.integers(0, 10**6))
def test_any_expression_goes_as_read_minute_by_minute(change, fields, seed):
    clock = change.clock(around=30 * HOUR)
    expected = firings(fields, clock, MINUTE)
    assert times(fields.text, change.zone, clock[0][0] - MINUTE, clock[-1][0]) == expected
    for after in random.Random(seed).choices([instant for instant, _ in clock], k=5):
        later = [instant for instant in expected if instant > after]
        first = next_nominal_time(
            Timetable(after, clock[-1][0] + MINUTE, change.zone, cron_expression=fields.text),
            after + timedelta(microseconds=seed % 60_000_000),
        )
        assert first == (later[0] if later else None)


@given(change=changes, fields=any_fields())
def test_any_expression_goes_as_in_cronsim(change, fields):
    """Where hours are wildcards cronsim is not asked about shifts by half an hour: it loses minutes there."""
    is_whole_hour = not (change.after - change.before) % HOUR
    if fields.hours is None and not is_whole_hour:
        return
    zone, begin, end = ZoneInfo(change.zone), change.at - 40 * HOUR, change.at + 40 * HOUR
    simulated = CronSim(fields.text, begin.astimezone(zone))
    expected: list[datetime] = []
    for moment in simulated:
        instant = moment.astimezone(UTC)
        if instant > end:
            break
        if not expected or instant > expected[-1]:  # cronsim repeats the end of a gap for each time in it
            expected.append(instant)
    assert times(fields.text, change.zone, begin, end) == expected


@pytest.mark.parametrize("zone", ["Europe/Paris", "Australia/Lord_Howe"])
def test_seconds_go_as_read_second_by_second(zone):
    second = timedelta(seconds=1)
    for change in [change for change in all_changes() if change.zone == zone][:2]:
        begin = change.at - timedelta(minutes=50)
        clock = [(t, shown(t, ZoneInfo(zone))) for t in (begin + n * second for n in range(6000))]
        hour = change.wall.hour
        for text, is_wild in ((f"*/25 * {hour} * * ?", False), ("*/25 */3 * * * ?", True)):
            expected = seconds_by_hand(clock, hour, is_wild=is_wild)
            assert times(text, zone, begin - second, clock[-1][0]) == expected, (change, text)


def seconds_by_hand(clock: list[tuple[datetime, datetime]], hour: int, *, is_wild: bool) -> list[datetime]:
    def match(wall: datetime) -> bool:
        return wall.second % 25 == 0 and (wall.minute % 3 == 0 if is_wild else wall.hour == hour)

    if is_wild:
        return [instant for instant, wall in clock if match(wall)]
    fired, reached = [], clock[0][1] - timedelta(seconds=1)
    for instant, wall in clock:
        passed = []
        while reached < wall:
            reached += timedelta(seconds=1)
            passed.append(match(reached))
        if any(passed):
            fired.append(instant)
    return fired
