from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svc_jupyter.service.macros.macros import MACRO_LIMIT, MacroError, resolve
from svc_jupyter.service.macros.sandbox import MacroSandbox

NOMINAL_TIME = datetime(2024, 3, 5, 7, 8, 9, 123_000, tzinfo=UTC)
ValueOf = Callable[..., Any]


VALUES = {
    "1 + 1": 2,
    "0.1 + 0.2": 0.30000000000000004,
    "\"a\" + 'b'": "ab",
    "`${1}é𝄞`": "1é𝄞",
    "1 < 2": True,
    "[1, 'a', {b: null}]": [1, "a", {"b": None}],
    "{a: 1}": {"a": 1},
    "'a;' ; ; \n": "a;",
    "1 // one": 1,
    "/[0-9]+/.exec('ab12')[0]": "12",
    "other = 5": 5,
    "'x'.repeat(60000) + 'y'": "x" * 60_000 + "y",
    "moment.duration(7, 'days')": "P7D",
    "new Date(0)": "1970-01-01T00:00:00.000Z",
    "new Date(2024, 0, 1).toISOString()": "2024-01-01T00:00:00.000Z",
    "moment.version": "2.31.0",
}


def test_an_expression_gives_its_json_value(value_of: ValueOf) -> None:
    assert {expression: value_of(expression) for expression in VALUES} == VALUES


def test_later_macros_use_earlier_ones_and_the_form_is_kept(sandbox: MacroSandbox) -> None:
    macros = [
        {"day": "Service_nominal_time.format('YYYY-MM-DD')", "table": "'sales_' + day"},
        {},
        {"both": "[day, table].join('/')"},
        {"day": "'again ' + day"},
    ]
    assert resolve(macros, NOMINAL_TIME, sandbox=sandbox) == [
        {"day": "2024-03-05", "table": "sales_2024-03-05"},
        {},
        {"both": "2024-03-05/sales_2024-03-05"},
        {"day": "again 2024-03-05"},
    ]


def test_a_macro_may_hold_a_moment_for_later_ones(sandbox: MacroSandbox) -> None:
    macros = [{"then": "Service_nominal_time.subtract(1, 'months')"}, {"text": "then.format('MMMM')"}]
    assert resolve(macros, NOMINAL_TIME, sandbox=sandbox) == [
        {"then": "2024-02-05T07:08:09.123Z"},
        {"text": "February"},
    ]


def test_no_macros_cost_nothing() -> None:
    class Untouchable(MacroSandbox):
        def evaluate(self, *_: object) -> dict[str, Any]:
            raise AssertionError("the engine was asked")

    assert resolve([], NOMINAL_TIME, sandbox=Untouchable()) == []
    assert resolve([{}], NOMINAL_TIME, sandbox=Untouchable()) == [{}]


def test_both_orders_of_arguments_subtract_and_add(value_of: ValueOf) -> None:
    durations = ("'days', 7", "7, 'days'", "'days', '7'", "{days: 7}", "moment.duration(1, 'weeks')")
    day = "strftime('%Y-%m-%d')"
    earlier = {duration: value_of(f"Service_nominal_time.subtract({duration}).{day}") for duration in durations}
    assert earlier == dict.fromkeys(durations, "2024-02-27")
    later = {duration: value_of(f"Service_nominal_time.add({duration}).{day}") for duration in durations}
    assert later == dict.fromkeys(durations, "2024-03-12")


def test_moving_the_nominal_time_in_one_macro_leaves_it_for_the_next(sandbox: MacroSandbox) -> None:
    macros = [
        {"a": "Service_nominal_time.subtract(7, 'days').format('DD')"},
        {"b": "Service_nominal_time.format('DD')"},
    ]
    assert resolve(macros, NOMINAL_TIME, sandbox=sandbox) == [{"a": "27"}, {"b": "05"}]


def test_a_command_starts_from_a_clean_realm(sandbox: MacroSandbox) -> None:
    polluting = "(Array.prototype.join = () => 'gone', moment.fn.format = () => 'gone', globalThis.kept = 1, 'done')"
    macros = [{"a": polluting}, {"b": "[1, 2].join() + moment().format()"}]
    assert resolve(macros, NOMINAL_TIME, sandbox=sandbox)[1] == {"b": "gonegone"}
    macros = [{"a": "typeof kept"}, {"b": "[1, 2].join()"}, {"c": "Service_nominal_time.format('YYYY')"}]
    assert resolve(macros, NOMINAL_TIME, sandbox=sandbox) == [{"a": "undefined"}, {"b": "1,2"}, {"c": "2024"}]


def test_the_iso_string_is_utc_whatever_the_zone(value_of: ValueOf) -> None:
    in_tokyo = NOMINAL_TIME.astimezone(timezone(timedelta(hours=9)))
    assert value_of("Service_nominal_time_iso", in_tokyo, "America/New_York") == "2024-03-05T07:08:09.123Z"
    assert value_of("Service_nominal_time", in_tokyo, "America/New_York") == "2024-03-05T07:08:09.123Z"


MOMENTS = [
    # Spring: 02:00 does not exist in Berlin; a day is a wall-clock day, 24 hours are elapsed time.
    (
        "Europe/Berlin",
        datetime(2024, 3, 31, 1, tzinfo=UTC),
        "Service_nominal_time.format()",
        "2024-03-31T03:00:00+02:00",
    ),
    (
        "Europe/Berlin",
        datetime(2024, 3, 31, 10, tzinfo=UTC),
        "Service_nominal_time.subtract(1, 'days').format()",
        "2024-03-30T12:00:00+01:00",
    ),
    (
        "Europe/Berlin",
        datetime(2024, 3, 31, 10, tzinfo=UTC),
        "Service_nominal_time.subtract(24, 'hours').format()",
        "2024-03-30T11:00:00+01:00",
    ),
    # Autumn: 02:30 happens twice.
    (
        "Europe/Berlin",
        datetime(2024, 10, 27, 0, 30, tzinfo=UTC),
        "Service_nominal_time.strftime('%H:%M %z %Z')",
        "02:30 +0200 CEST",
    ),
    (
        "Europe/Berlin",
        datetime(2024, 10, 27, 1, 30, tzinfo=UTC),
        "Service_nominal_time.strftime('%H:%M %z %Z')",
        "02:30 +0100 CET",
    ),
    (
        "America/New_York",
        datetime(2024, 1, 1, 3, tzinfo=UTC),
        "Service_nominal_time.format('YYYY-MM-DD')",
        "2023-12-31",
    ),
    (
        "Asia/Kolkata",
        datetime(2024, 1, 1, tzinfo=UTC),
        "Service_nominal_time.strftime('%F %T')",
        "2024-01-01 05:30:00",
    ),
    # A wall clock without an offset is read in the command's zone, and other zones are at hand.
    (
        "Asia/Kolkata",
        datetime(2024, 1, 1, tzinfo=UTC),
        "moment('2024-06-01').format()",
        "2024-06-01T00:00:00+05:30",
    ),
    (
        "Asia/Kolkata",
        datetime(2024, 1, 1, tzinfo=UTC),
        "Service_nominal_time.tz('America/Lima').format()",
        "2023-12-31T19:00:00-05:00",
    ),
    # Beyond 32 bits of seconds, and before 1970.
    (
        "Europe/Berlin",
        datetime(2040, 7, 1, 12, tzinfo=UTC),
        "Service_nominal_time.format()",
        "2040-07-01T14:00:00+02:00",
    ),
    (
        "UTC",
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        "Service_nominal_time_iso",
        "1969-12-31T23:59:59.999Z",
    ),
]


def test_the_nominal_time_is_a_moment_in_the_zone(value_of: ValueOf) -> None:
    assert [(zone, utc, text, value_of(text, utc, zone)) for zone, utc, text, _ in MOMENTS] == MOMENTS


def test_moment_without_arguments_is_now(value_of: ValueOf) -> None:
    before = datetime.now(UTC)
    now = datetime.fromtimestamp(value_of("moment().valueOf()") / 1000, UTC)
    assert before - timedelta(milliseconds=1) <= now <= datetime.now(UTC)


DIRECTIVES = "a A b B c C d D e F g G h H I j k l m M n p r R S t T u U V w W x X y Y z %"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    # From 1990 to 2080; these zones have not moved since, so that two zone databases cannot differ about them.
    timestamp=st.integers(631_152_000, 3_471_292_800),
    zone=st.sampled_from(["UTC", "Asia/Kolkata", "Asia/Tokyo"]),
)
def test_strftime_agrees_with_the_platform(value_of: ValueOf, timestamp: int, zone: str) -> None:
    local = datetime.fromtimestamp(timestamp, ZoneInfo(zone))
    mask = "|".join(f"%{letter}" for letter in DIRECTIVES.split())
    expression = f"Service_nominal_time.strftime({mask!r} + '|%s')"
    assert value_of(expression, local, zone) == f"{local.strftime(mask)}|{timestamp}"


MASKS = {
    "%Y/%m/%d/%H%M": "2024/03/05/0708",
    "dt=%Y-%m-%d": "dt=2024-03-05",
    "%-d.%-m. %_H %0e %^b": "5.3.  7 05 MAR",
    "%S.%L %S.%f %P": "09.123 09.123000 am",
    "100%%": "100%",
    "": "",
    "$HOME é": "$HOME é",
}


def test_strftime_masks(value_of: ValueOf) -> None:
    assert {mask: value_of(f"Service_nominal_time.strftime('{mask}')") for mask in MASKS} == MASKS


FAILING = {
    "": "the expression is empty",
    " ; ": "the expression is empty",
    "missing": "ReferenceError: missing is not defined",
    "1 +": "SyntaxError: unexpected token in expression: ')'",
    "while (true);": "SyntaxError: unexpected token in expression: 'while'",
    "null.x": "TypeError: cannot read property 'x' of null",
    "(() => { throw 'my\\nown' })()": "my own was thrown",
    "(() => { throw {toString() { throw 1 }} })()": "something was thrown that has no text",
    "null": "the value is null",
    "undefined": "the value is undefined",
    "0 / 0": "the value is NaN",
    "1 / 0": "the value is Infinity",
    "() => 1": "the value is a function",
    "Symbol()": "the value is a symbol",
    "Promise.resolve(1)": "the value is a promise",
    "moment('2024-13-45', 'YYYY-MM-DD')": "the date is invalid",
    "moment('2024-13-45', 'YYYY-MM-DD').format()": "the date is invalid",
    "moment.invalid().strftime('%Y')": "the date is invalid",
    "Service_nominal_time.strftime('%Q')": "RangeError: strftime: unknown directive %Q",
    "'\\0'": "the value holds a NUL character",
    "({'\\0': 1})": "the value holds a NUL character",
    "['\\ud834']": "the value holds half of a surrogate pair",
    "'\ud834'": "the expression holds half of a surrogate pair",
    "1 +" * 30_000 + "1": "expressions have at most 65536 characters, 1048576 in all",
}


def test_a_failing_macro_says_which_and_why(value_of: ValueOf) -> None:
    def failure_of(expression: str) -> tuple[int, str, str]:
        with pytest.raises(MacroError) as failure:
            value_of(expression)
        return failure.value.status, failure.value.reason, failure.value.message

    assert {expression: failure_of(expression) for expression in FAILING} == {
        expression: (422, reason, f"macro 'x': {reason}") for expression, reason in FAILING.items()
    }


def test_the_failing_macro_is_named_among_others(sandbox: MacroSandbox) -> None:
    with pytest.raises(MacroError, match=r"^macro 'second': ReferenceError: third is not defined$"):
        resolve([{"first": "1", "second": "third"}, {"third": "1"}], NOMINAL_TIME, sandbox=sandbox)


NO_VARIABLE = "the name is not a variable name (letters, digits and _, not first a digit)"
NAMES = {
    "1a": f"macro '1a': {NO_VARIABLE}",
    "a-b": f"macro 'a-b': {NO_VARIABLE}",
    "a\n": f"macro 'a\\n': {NO_VARIABLE}",
    "": f"macro '': {NO_VARIABLE}",
    "\ud834": f"macro '\\ud834': {NO_VARIABLE}",
    "Service_nominal_time": "macro 'Service_nominal_time': the name is the service's own",
    "Service_nominal_time_iso": "macro 'Service_nominal_time_iso': the name is the service's own",
    "undefined": "macro 'undefined': TypeError: property is not configurable",
}


def test_a_name_that_cannot_be_assigned_is_refused(sandbox: MacroSandbox) -> None:
    def refusal(name: str) -> str:
        with pytest.raises(MacroError) as failure:
            resolve([{name: "1"}], NOMINAL_TIME, sandbox=sandbox)
        return failure.value.message

    assert {name: refusal(name) for name in NAMES} == NAMES


def test_more_macros_than_allowed_are_refused(sandbox: MacroSandbox) -> None:
    macros = [{f"m{number}": str(number)} for number in range(MACRO_LIMIT)]
    assert resolve(macros, NOMINAL_TIME, sandbox=sandbox)[-1] == {f"m{MACRO_LIMIT - 1}": MACRO_LIMIT - 1}
    with pytest.raises(MacroError, match="at most 100 macros"):
        resolve([*macros, {"last": "1"}], NOMINAL_TIME, sandbox=sandbox)


ZONES = {
    "Mars/Olympus": "macro 'x': the time zone 'Mars/Olympus' is not known",
    "": "macro 'x': the time zone '' is not known",
    "constructor": "macro 'x': the time zone 'constructor' is not known",
    "__proto__": "macro 'x': the time zone '__proto__' is not known",
    "\0": "macro 'x': the time zone '\\x00' is not known",
    "\ud834": "macro 'x': the time zone '\\ud834' is not known",
}


def test_an_unknown_zone_is_an_error(value_of: ValueOf) -> None:
    def refusal(zone: str) -> str:
        with pytest.raises(MacroError) as failure:
            value_of("1", NOMINAL_TIME, zone)
        return failure.value.message

    assert {zone: refusal(zone) for zone in ZONES} == ZONES


def test_a_nominal_time_without_a_zone_is_a_mistake_of_the_caller(sandbox: MacroSandbox) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        resolve([{"a": "1"}], NOMINAL_TIME.replace(tzinfo=None), sandbox=sandbox)
