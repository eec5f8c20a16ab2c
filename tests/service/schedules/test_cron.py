"""What cron expressions mean and which are refused; when they fire where clocks change is in test_cron_times.py."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.schedules.cron import parse_cron
from svc_jupyter.service.schedules.timetable import Timetable, check_timetable

MONDAY = datetime(2026, 11, 23)  # noqa: DTZ001
START = datetime(2026, 11, 23, tzinfo=UTC)


def next_walls(expression: str, count: int = 3, since: datetime = MONDAY) -> list[str]:
    cron, walls, wall = parse_cron(expression), [], since - timedelta(seconds=1)
    for _ in range(count):
        wall = cron.next_wall(wall)
        if wall is None:
            break
        walls.append(f"{wall:%Y-%m-%d %H:%M:%S}")
    return walls


def days(expression: str, count: int = 3) -> list[str]:
    return [datetime.fromisoformat(wall).strftime("%a %d %b %Y") for wall in next_walls(expression, count)]


def test_five_fields_start_with_the_minute():
    assert next_walls("30 9 * * *", 2) == ["2026-11-23 09:30:00", "2026-11-24 09:30:00"]


def test_six_fields_start_with_the_second_and_seven_end_with_the_year():
    assert next_walls("15 30 9 * * ?", 1) == ["2026-11-23 09:30:15"]
    assert next_walls("15 30 9 1 1 ? 2028", 2) == ["2028-01-01 09:30:15"]


def test_in_five_fields_0_and_7_are_sunday():
    names = ("0", "7", "SUN", "sun")
    assert {name: days(f"0 0 * * {name}", 1) for name in names} == {name: ["Sun 29 Nov 2026"] for name in names}


def test_in_six_and_seven_fields_1_is_sunday():
    sunday = ["Sun 29 Nov 2026"]
    assert days("0 0 0 ? * 1", 1) == days("0 0 0 ? * 1 2026", 1) == sunday
    assert days("0 0 0 ? * SUN", 1) == days("0 0 0 ? * SUN 2026", 1) == sunday


def test_day_numbers_in_ranges_steps_and_lists_count_as_in_their_form():
    assert days("0 0 * * 1-3") == days("0 0 0 ? * 2-4") == ["Mon 23 Nov 2026", "Tue 24 Nov 2026", "Wed 25 Nov 2026"]
    assert days("0 0 0 ? * 2/2", 4) == ["Mon 23 Nov 2026", "Wed 25 Nov 2026", "Fri 27 Nov 2026", "Mon 30 Nov 2026"]
    assert days("0 0 * * 1-5/2") == days("0 0 0 ? * 2-6/2") == ["Mon 23 Nov 2026", "Wed 25 Nov 2026", "Fri 27 Nov 2026"]
    assert days("0 0 * * 2,5", 2) == days("0 0 0 ? * 3,FRI", 2) == ["Tue 24 Nov 2026", "Fri 27 Nov 2026"]
    assert days("0 0 * * 5-7") == ["Fri 27 Nov 2026", "Sat 28 Nov 2026", "Sun 29 Nov 2026"]
    assert len(set(days("0 0 * * 0-7", 7))) == 7


def test_a_range_of_days_may_run_over_the_weekend():
    ranges = ("0 0 * * SAT-MON", "0 0 * * 6-1", "0 0 0 ? * SAT-MON", "0 0 0 ? * 7-2")
    weekend = ["Mon 23 Nov 2026", "Sat 28 Nov 2026", "Sun 29 Nov 2026", "Mon 30 Nov 2026"]
    assert {expression: days(expression, 4) for expression in ranges} == dict.fromkeys(ranges, weekend)


def test_last_days():
    assert days("0 0 L * *", 4) == ["Mon 30 Nov 2026", "Thu 31 Dec 2026", "Sun 31 Jan 2027", "Sun 28 Feb 2027"]
    assert days("0 0 0 L * ?", 1) == ["Mon 30 Nov 2026"]
    assert days("0 0 LW 1,2 *", 2) == ["Fri 29 Jan 2027", "Fri 26 Feb 2027"]
    assert days("0 0 * * 5L", 2) == days("0 0 0 ? * 6L", 2) == days("0 0 0 ? * FRIL", 2)
    assert days("0 0 * * 5L", 2) == ["Fri 27 Nov 2026", "Fri 25 Dec 2026"]
    assert days("0 0 0 ? * L", 1) == ["Sat 28 Nov 2026"]


def test_the_nth_weekday_of_the_month():
    assert days("0 0 * * 1#2", 2) == days("0 0 0 ? * 2#2", 2) == days("0 0 0 ? * MON#2", 2)
    assert days("0 0 * * 1#2", 2) == ["Mon 14 Dec 2026", "Mon 11 Jan 2027"]
    assert days("0 0 * * MON#5", 2) == ["Mon 30 Nov 2026", "Mon 29 Mar 2027"]


def test_a_day_that_both_fields_restrict_matches_either_and_with_a_star_both():
    assert days("0 0 24 * WED", 2) == ["Tue 24 Nov 2026", "Wed 25 Nov 2026"]
    assert days("0 0 */6 * WED", 1) == ["Wed 25 Nov 2026"]
    assert days("0 0 ? * WED", 1) == ["Wed 25 Nov 2026"]


def test_years_as_lists_ranges_and_steps():
    new_year = "0 0 0 1 1 ?"
    assert days(f"{new_year} 2028,2030") == ["Sat 01 Jan 2028", "Tue 01 Jan 2030"]
    assert days(f"{new_year} 2028-2029", 9) == ["Sat 01 Jan 2028", "Mon 01 Jan 2029"]
    assert days(f"{new_year} 2020/10", 2) == days(f"{new_year} 2020-2050/10", 2)
    assert days(f"{new_year} 2020/10", 2) == ["Tue 01 Jan 2030", "Sun 01 Jan 2040"]
    assert days(f"{new_year} *", 1) == days(new_year, 1) == ["Fri 01 Jan 2027"]
    assert days(f"{new_year} */2", 1) == ["Sat 01 Jan 2028"]
    assert days("0 0 0 29 2 ? 2027-2033", 9) == ["Tue 29 Feb 2028", "Sun 29 Feb 2032"]


def test_a_year_that_is_over_and_a_day_that_the_years_have_not_never_come():
    assert next_walls("0 0 0 1 1 ? 2025") == []
    assert next_walls("0 0 0 29 2 ? 2027/2") == []


ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    " @Monthly ": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


def test_aliases():
    assert {alias: next_walls(alias) for alias in ALIASES} == {
        alias: next_walls(meaning) for alias, meaning in ALIASES.items()
    }


def test_the_rarest_day_is_found_and_the_search_for_one_that_never_comes_ends():
    assert days("0 0 0 ? 2 2#5", 2) == ["Mon 29 Feb 2044", "Mon 29 Feb 2072"]
    after_2072 = datetime(2072, 3, 1)  # noqa: DTZ001
    assert next_walls("0 0 0 ? 2 2#5", 1, after_2072) == ["2112-02-29 00:00:00"]  # 2100 is not a leap year
    assert next_walls("0 0 0 ? 2 2#5 2045-2071") == []


def refusal(expression: str) -> str:
    with pytest.raises(ValueError, match="cron_expression") as refused:
        parse_cron(expression)
    return str(refused.value)


WRONG_FIELDS = {
    "61 * * * *": "minute field '61'",
    "* 24 * * *": "hour field '24'",
    "* 9-8 * * *": "hour field '9-8'",
    "* * 0 * *": "day-of-month field '0'",
    "* * 15W * *": "day-of-month field '15W'",
    "* * L-3 * *": "day-of-month field 'L-3'",
    "* * * 13 *": "month field '13'",
    "* * * FOO *": "month field 'FOO'",
    "* ? * * *": "hour field '?'",
    "* * * * 8": "day-of-week field '8'",
    "* * * * MONDAY": "day-of-week field 'MONDAY'",
    "* * * * L": "day-of-week field 'L'",
    "* * * * 1,": "day-of-week field '1,'",
    "* * * * MON#6": "day-of-week field 'MON#6'",
    "* * * * 1/0": "day-of-week field '1/0'",
    "60 * * * * ?": "second field '60'",
    "*/0 * * * * ?": "second field '*/0'",
    "0 * * ? * 0": "day-of-week field '0'",
    "0 * * ? * 1-8": "day-of-week field '1-8'",
    "0 0 0 ? * 1 1969": "year field '1969'",
    "0 0 0 ? * 1 2100": "year field '2100'",
    "0 0 0 ? * 1 2030-2029": "year field '2030-2029'",
    "0 0 0 ? * 1 2030/0": "year field '2030/0'",
    "0 0 0 ? * 1 ?": "year field '?'",
    "٣ * * * *": "minute field '٣'",
    "0 0 ? * ٣": "day-of-week field '٣'",
}


def test_a_wrong_field_is_named():
    assert {expression: refusal(expression).partition("; it takes ")[0] for expression in WRONG_FIELDS} == {
        expression: f"cron_expression: the {field} is wrong" for expression, field in WRONG_FIELDS.items()
    }


NEVER = {
    "0 0 30 2 *": "cron_expression '0 0 30 2 *' never fires: no such day is still to come",
    "0 0 31 2,4,6 *": "cron_expression '0 0 31 2,4,6 *' never fires: no such day is still to come",
    "0 0 0 31 FEB ?": "cron_expression '0 0 0 31 FEB ?' never fires: no such day is still to come",
    "0 0 30 2 ? ": "cron_expression '0 0 30 2 ?' never fires: no such day is still to come",
}


def test_a_day_that_no_month_has_is_refused_as_such():
    assert {expression: refusal(expression) for expression in NEVER} == NEVER


WRONG_NUMBERS = {
    "": "cron_expression has 0 fields",
    "* * * *": "cron_expression has 4 fields",
    "0 0 0 ? * 1 2030 9": "cron_expression has 8 fields",
    "* * * * * * * *": "cron_expression has 8 fields",
}


def test_a_wrong_number_of_fields_is_reported():
    assert {expression: refusal(expression).partition("; give 5 ")[0] for expression in WRONG_NUMBERS} == WRONG_NUMBERS


def test_an_unknown_alias_and_a_text_too_long_are_refused():
    with pytest.raises(ValueError, match="'@reboot' is not known; known are @yearly"):
        parse_cron("@reboot")
    with pytest.raises(ValueError, match="longer than 255"):
        parse_cron("1," * 200 + "1 * * * *")


WORDS = {
    "30 9 * * 1-5": "at 09:30 on Monday through Friday",
    "0 30 9 ? * 2-6": "at 09:30 on Monday through Friday",
    "*/10 * * * *": "every 10th minute of every hour",
    "@daily": "at 00:00 every day",
    "0 0 12 L * ?": "at 12:00 on the last day of every month",
    "0 0 1-31 * 4": "at 00:00 every day",
    "0 0 15 * 0-6": "at 00:00 every day",
    "0 0 15 * 4": "at 00:00 on the 15th day of month and on Thursday",
    "0 0 */2 * 4": "at 00:00 on every second day of month if it's on Thursday",
    "0 0 0/1 1/1 * ? *": "at the start of every hour",
    "0 0 31 1-12 *": "at 00:00 on the 31st day of every month",
    "0 0 21,22,23 * *": "at 00:00 on every day of month from 21 through 23",
    "0 8,10,12,14 * * *": "at 08:00, 10:00, 12:00, and 14:00 every day",
    "0 8-22/2 * * *": "at minute 0 past every second hour from 8 through 22",
    "0 9 * * MON,WED,FRI": "at 09:00 on Monday, Wednesday, and Friday",
    "0 9 1,11,21 * *": "at 09:00 on the first, the 11th, and the 21st day of month",
    "0 */6 * * *": "at minute 0 past every sixth hour",
    "0 0 12 1 1 ? 2027": "at 12:00 on January 1, in 2027",
    "0 0 12 1 1 ? 2027-2030": "at 12:00 on January 1, in 2027 to 2030",
    "0 0 12 1 1 ? 2028/4": "at 12:00 on January 1, in 2028, 2032, 2036, 2040, 2044, 2048, …",
}


def test_expressions_in_words():
    assert {expression: parse_cron(expression).explain() for expression in WORDS} == WORDS


SAME_TIMES = [
    ("0 * * * *", "0 0 0/1 1/1 * ? *"),
    ("0 */2 * * *", "0 0-23/2 * * *"),
    ("0 */2 * * *", "0 0,2,4,6,8,10,12,14,16,18,20,22 * * *"),
    ("5,1,1-3 0 * JAN SUN", "1,2,3,5 0 * 1 7"),
    ("0 0 1-31 * 4", "0 0 * * *"),
    ("0 0 1-31/10 * 4", "0 0 1,11,21,31 * 4"),
]


def test_expressions_of_the_same_times_are_the_same():
    read = [(parse_cron(one).fields, parse_cron(other).fields) for one, other in SAME_TIMES]
    assert [one for one, _ in read] == [other for _, other in read]


def test_a_star_in_the_day_of_month_asks_for_the_weekday_too():
    assert days("0 0 */10 * 4", 1) != days("0 0 1-31/10 * 4", 1)
    assert parse_cron("0 0 */10 * 4").fields == "0 0 0 */10 * 4"
    assert parse_cron("0 0 1,11,21,31 * 4").fields == "0 0 0 1,11,21,31 * 4"


STEPS = {
    "*/90 * * * *": (
        "the minute field '*/90' has a step of 90, but only 60 values; "
        "for a run every 90 minutes give frequency 90 and time_unit minutes"
    ),
    "0 0/24 * * *": (
        "the hour field '0/24' has a step of 24, but only 24 values; "
        "for a run every 24 hours give frequency 24 and time_unit hours"
    ),
    "0 0 */31 * *": (
        "the day-of-month field '*/31' has a step of 31, but only 31 values; "
        "for a run every 31 days give frequency 31 and time_unit days"
    ),
    "0 0 1 */12 *": (
        "the month field '*/12' has a step of 12, but only 12 values; "
        "for a run every 12 months give frequency 12 and time_unit months"
    ),
    "0/60 * * * * ?": "the second field '0/60' has a step of 60, but only 60 values",
}


def test_a_step_that_is_longer_than_its_field_is_refused_with_what_was_probably_meant():
    def refusal_of_a_new_one(expression: str) -> str:
        with pytest.raises(ValueError, match=r"^cron_expression: ") as refused:
            check_timetable(Timetable(START, None, "UTC", cron_expression=expression), START)
        return str(refused.value).removeprefix("cron_expression: ")

    assert {expression: refusal_of_a_new_one(expression) for expression in STEPS} == STEPS


def test_a_stored_expression_with_such_a_step_goes_on():
    assert next_walls("*/90 * * * *", 2) == ["2026-11-23 00:00:00", "2026-11-23 01:00:00"]
    assert parse_cron("*/90 * * * *").explain() == "at the start of every hour"


_TERMS = st.from_regex(r"(\*|\?|L|LW|[0-9]{1,4}|[A-Z]{3})([-/#L][0-9A-Z]{0,4})?(/[0-9]{1,2})?", fullmatch=True)
_FIELDS = st.lists(_TERMS, min_size=1, max_size=3).map(",".join)


@given(text=st.lists(_FIELDS | st.just("*"), min_size=4, max_size=8).map(" ".join) | st.text(max_size=300))
def test_any_text_is_either_refused_in_words_or_can_be_searched_and_explained(text):
    cron, refusal = None, ""
    try:
        cron = parse_cron(text)
    except ValueError as error:
        refusal = str(error)
    if cron is None:
        assert "cron_expression" in refusal
        return
    wall = cron.next_wall(MONDAY)
    assert wall is None or wall > MONDAY
    assert cron.explain()


@given(
    minute=st.sampled_from(["*", "0-59", "0/7", "*/30", "3,1,2", "59"]),
    hour=st.sampled_from(["*", "0/1", "*/5", "8-18/2", "0,12", "23"]),
    day=st.sampled_from(["*", "1-31", "*/2", "1/2", "1-5", "31", "L", "15,LW"]),
    month=st.sampled_from(["*", "1-12", "*/3", "5,JUL", "1,2,3,12"]),
    weekday=st.sampled_from(["*", "0-6", "1-7", "*/2", "MON", "1,3,5", "5L", "1#2"]),
)
def test_times_are_those_of_the_expression_as_it_was_written(minute, hour, day, month, weekday):
    written = f"{minute} {hour} {day} {month} {weekday}"
    simulated = CronSim(written, MONDAY)
    cron, wall = parse_cron(written), MONDAY
    for expected in itertools.islice(simulated, 5):
        wall = cron.next_wall(wall)
        assert wall == expected
