from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.service.schedules.calendar_by_hand import firings_of_steps, steps_back, walls_of_steps
from tests.service.schedules.clock_changes import MINUTE, all_changes, edges

from svc_jupyter.api.schedules import TimeUnit
from svc_jupyter.service.schedules.timetable import (
    Timetable,
    check_timetable,
    next_nominal_time,
    nominal_times,
    shift,
)

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MOMENT = timedelta(microseconds=1)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def every(count: int, unit: TimeUnit, start: str, zone: str = "UTC", end: str | None = None) -> Timetable:
    return Timetable(utc(start), None if end is None else utc(end), zone, count, unit)


def first(timetable: Timetable, count: int) -> list[str]:
    """Return its first nominal times."""
    found: list[str] = []
    after = timetable.start - MOMENT
    while len(found) < count and (after := next_nominal_time(timetable, after)) is not None:
        found.append(f"{after:%Y-%m-%d %H:%M}")
    return found


def test_the_start_is_the_first_nominal_time():
    timetable = every(15, TimeUnit.MINUTES, "2026-11-21 09:07")
    assert first(timetable, 3) == ["2026-11-21 09:07", "2026-11-21 09:22", "2026-11-21 09:37"]
    assert next_nominal_time(timetable, utc("2001-01-01")) == timetable.start
    assert next_nominal_time(timetable, timetable.start) == utc("2026-11-21 09:22")


def test_months_from_the_31st_come_back_to_it():
    expected = ["2027-01-31 09:00", "2027-02-28 09:00", "2027-03-31 09:00", "2027-04-30 09:00", "2027-05-31 09:00"]
    assert first(every(1, TimeUnit.MONTHS, "2027-01-31 09:00"), 5) == expected
    assert first(every(12, TimeUnit.MONTHS, "2028-02-29 09:00"), 5)[-1] == "2032-02-29 09:00"


def test_without_a_unit_frequency_counts_days():
    assert first(Timetable(NOW, None, "UTC", frequency=2), 2) == ["2026-11-21 09:00", "2026-11-23 09:00"]


def test_days_keep_the_wall_clock_and_hours_do_not():
    days = every(1, TimeUnit.DAYS, "2027-03-27 08:00", "Europe/Paris")
    assert first(days, 3) == ["2027-03-27 08:00", "2027-03-28 07:00", "2027-03-29 07:00"]
    hours = every(24, TimeUnit.HOURS, "2027-03-27 08:00", "Europe/Paris")
    assert first(hours, 3) == ["2027-03-27 08:00", "2027-03-28 08:00", "2027-03-29 08:00"]


def test_a_daily_time_that_the_clocks_skip_moves_forward_and_comes_back():
    timetable = every(1, TimeUnit.DAYS, "2027-03-27 01:30", "Europe/Paris")
    assert first(timetable, 3) == ["2027-03-27 01:30", "2027-03-28 01:30", "2027-03-29 00:30"]


def test_a_start_in_the_second_of_two_equal_hours_is_kept_and_later_days_take_the_first():
    timetable = every(1, TimeUnit.DAYS, "2026-10-25 01:30", "Europe/Paris")  # 02:30 for the second time
    assert first(timetable, 2) == ["2026-10-25 01:30", "2026-10-26 01:30"]
    weekly = every(52, TimeUnit.WEEKS, "2025-10-26 01:30", "Europe/Paris")
    assert first(weekly, 2) == ["2025-10-26 01:30", "2026-10-25 00:30"]


def test_a_day_that_the_date_line_swallowed_counts_once():
    timetable = every(1, TimeUnit.DAYS, "2011-12-28 19:00", "Pacific/Apia")  # 09:00; 30 December was skipped
    assert first(timetable, 3) == ["2011-12-28 19:00", "2011-12-29 19:00", "2011-12-30 19:00"]


def test_a_month_s_end_that_the_date_line_swallowed_is_found_from_the_days_after():
    timetable = every(1, TimeUnit.MONTHS, "1994-10-31 19:00", "Pacific/Kiritimati")  # 09:00; 31 December was skipped
    assert first(timetable, 4)[2:] == ["1994-12-31 19:00", "1995-01-30 19:00"]
    assert next_nominal_time(timetable, utc("1994-12-31 10:30")) == utc("1994-12-31 19:00")


def test_the_end_is_exclusive():
    assert first(every(1, TimeUnit.HOURS, "2026-11-21 09:00", end="2026-11-21 11:00"), 9) == [
        "2026-11-21 09:00",
        "2026-11-21 10:00",
    ]
    daily = Timetable(NOW, utc("2026-11-22 09:30"), "UTC", cron_expression="30 9 * * *")
    assert [*nominal_times(daily, NOW, NOW + 9 * DAY)] == [utc("2026-11-21 09:30")]


def test_a_cron_expression_ignores_the_start():
    timetable = Timetable(utc("2030-01-01"), None, "UTC", cron_expression="30 9 * * *")
    assert next_nominal_time(timetable, NOW) == utc("2026-11-21 09:30")


def test_nominal_times_are_those_after_the_one_moment_until_the_other():
    timetable = every(1, TimeUnit.HOURS, "2026-11-21 09:00")
    found = nominal_times(timetable, utc("2026-11-21 10:00"), utc("2026-11-21 12:00"))
    assert [*found] == [utc("2026-11-21 11:00"), utc("2026-11-21 12:00")]


def test_steps_beyond_the_calendar_are_no_nominal_times():
    for unit in TimeUnit:
        timetable = Timetable(NOW, None, "America/New_York", 10**12, unit)
        assert next_nominal_time(timetable, NOW) is None
    end_of_time = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
    assert next_nominal_time(Timetable(NOW, None, "Asia/Tokyo", 1, TimeUnit.DAYS), end_of_time) is None
    assert next_nominal_time(Timetable(NOW, None, "UTC", cron_expression="0 9 * * *"), end_of_time) is None


def test_a_start_long_ago_takes_no_more_steps_than_one_of_yesterday(monkeypatch):
    taken = []

    def counted(*args):
        taken.append(args)
        return shift(*args)

    monkeypatch.setattr("svc_jupyter.service.schedules.timetable.shift", counted)
    steps = {}
    for unit in (TimeUnit.DAYS, TimeUnit.WEEKS, TimeUnit.MONTHS):
        for start in ("1926-01-31 03:30", "2026-11-20 03:30"):
            taken.clear()
            assert next_nominal_time(every(1, unit, start, "Europe/Paris"), NOW) > NOW
            steps[unit, start] = len(taken)
    assert {each: count for each, count in steps.items() if count > 4} == {}


changes = st.deferred(lambda: st.sampled_from(all_changes()))
calendar_units = st.sampled_from([TimeUnit.DAYS, TimeUnit.WEEKS, TimeUnit.MONTHS])


def test_every_change_of_the_clock_in_ten_zones_goes_as_read_minute_by_minute():
    """Daily from two days before each change, at hours about it."""
    for change in all_changes():
        clock = change.clock(around=5 * HOUR)
        for offset in (-60, -30, 0, 15, 60):
            wall = change.wall + offset * MINUTE - 2 * DAY
            start = steps_back(wall, 0, TimeUnit.DAYS, change.zone)
            timetable = Timetable(start, None, change.zone, 1, TimeUnit.DAYS)
            found = [*nominal_times(timetable, clock[0][0] - MINUTE, clock[-1][0])]
            expected = firings_of_steps({wall + n * DAY for n in range(1, 5)}, clock)
            assert found == expected, (change, offset)
            for after in edges(change):
                later = [instant for instant in expected if instant > after]
                assert not later or next_nominal_time(timetable, after) == later[0]


@given(
    change=changes,
    offset=st.integers(-180, 180),
    unit=calendar_units,
    size=st.integers(1, 60),
    k=st.integers(1, 40),
)
def test_any_step_from_any_start_goes_as_read_minute_by_minute(change, offset, unit, size, k):
    """The start is chosen so that its step `k` falls about the change."""
    around = change.wall + offset * MINUTE
    start = steps_back(around, k * size, unit, change.zone)
    timetable = Timetable(start, None, change.zone, size, unit)
    clock = change.clock(around=30 * HOUR)
    walls = walls_of_steps(start, unit, size, change.zone, until=clock[-1][1] + DAY)
    assert [*nominal_times(timetable, clock[0][0] - MINUTE, clock[-1][0])] == firings_of_steps(walls, clock)


@given(
    start=st.datetimes(datetime(1970, 1, 1), datetime(2035, 1, 1)),  # noqa: DTZ001
    later=st.timedeltas(timedelta(-400), timedelta(30_000)),
    size=st.integers(1, 5000),
    unit=st.sampled_from(TimeUnit),
    zone=st.sampled_from(["UTC", "Pacific/Apia", "Australia/Lord_Howe", "America/Santiago", "Africa/Casablanca"]),
)
def test_the_next_nominal_time_is_the_first_after_the_moment(start, later, size, unit, zone):
    timetable = Timetable(start.replace(tzinfo=UTC), None, zone, size, unit)
    steps, after = timetable.steps, timetable.start + later
    found = next_nominal_time(timetable, after)
    assert steps is not None
    if found is None:
        return
    assert found > after
    assert found >= timetable.start
    k = steps.first_after(after) if after >= timetable.start else 0
    assert found == steps.at(k)
    assert k == 0 or steps.at(k - 1) <= after


@given(
    change=changes,
    offset=st.integers(-180, 180),
    unit=st.sampled_from(TimeUnit),
    count=st.integers(-100, 100),
)
def test_a_shift_keeps_the_wall_clock_or_counts_elapsed_time(change, offset, unit, count):
    moment = change.at + offset * MINUTE
    shifted = shift(moment, unit, count, change.zone)
    assert shifted.utcoffset() == timedelta(0)
    if unit in (TimeUnit.MINUTES, TimeUnit.HOURS):
        assert shifted - moment == count * (MINUTE if unit is TimeUnit.MINUTES else HOUR)
        return
    assert count != 0 or shifted == moment
    if unit is not TimeUnit.MONTHS and count:
        days = count * (7 if unit is TimeUnit.WEEKS else 1)
        assert abs(shifted - moment - days * DAY) <= 2 * abs(change.after - change.before) + HOUR


ONE_OF_BOTH = "give exactly one of frequency and cron_expression"
HOURS = "it takes 0 to 23, also as lists (1,2), ranges (1-3) and steps (*/2)"
NEVER_FIRE = {
    Timetable(NOW, None, "UTC"): ONE_OF_BOTH,
    Timetable(NOW, None, "UTC", 1, TimeUnit.DAYS, "* * * * *"): ONE_OF_BOTH,
    Timetable(NOW, None, "Mars/Olympus", 1): (
        "time_zone 'Mars/Olympus' is not known; give a name such as UTC or Europe/Paris"
    ),
    Timetable(NOW, None, "UTC", 0): "frequency must be at least 1",
    Timetable(NOW, NOW, "UTC", 1): "end_time must be later than start_time",
    Timetable(NOW, NOW - DAY, "UTC", 1): "end_time must be later than start_time",
    Timetable(NOW, None, "UTC", cron_expression="0 25 * * *"): (
        f"cron_expression: the hour field '25' is wrong; {HOURS}"
    ),
    Timetable(NOW, None, "UTC", cron_expression="0 0 31 2 *"): (
        "cron_expression '0 0 31 2 *' never fires: no such day is still to come"
    ),
    Timetable(NOW, None, "UTC", cron_expression="0 0 0 1 1 ? 2020"): (
        "cron_expression '0 0 0 1 1 ? 2020' never fires: no such day is still to come"
    ),
    Timetable(NOW, NOW, "UTC", cron_expression="* * * * *"): "end_time must be later than now",
    Timetable(NOW, NOW + HOUR, "Europe/Paris", cron_expression="0 9 * * *"): (
        "end_time must be later than the next time of cron_expression, 2026-11-22 09:00 (Europe/Paris)"
    ),
}


def test_a_timetable_that_could_never_do_anything_is_refused():
    def refusal(timetable: Timetable) -> str:
        with pytest.raises(ValueError, match=r"frequency|_time|time_zone|cron_expression") as refused:
            check_timetable(timetable, NOW)
        return str(refused.value)

    assert {timetable: refusal(timetable) for timetable in NEVER_FIRE} == NEVER_FIRE


def test_a_timetable_that_fires_at_least_once_is_accepted():
    check_timetable(Timetable(NOW, NOW + MINUTE, "UTC", 1, TimeUnit.MONTHS), NOW)
    check_timetable(Timetable(NOW, None, "UTC", cron_expression="0 0 29 2 *"), NOW)


def test_a_timetable_that_was_over_before_now_is_accepted_as_what_was_missed_is_caught_up():
    check_timetable(Timetable(NOW - 9 * DAY, NOW - 8 * DAY, "UTC", 1), NOW)


def test_the_start_of_a_cron_expression_may_be_after_its_end():
    check_timetable(Timetable(NOW + DAY, NOW + HOUR, "UTC", cron_expression="30 9 * * *"), NOW)
