"""Presto's types and values as Arrow's."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from svc_jupyter.service.kinds.presto.types import RepeatedHour, column, column_type, in_utc

POINT = pa.struct([("x", pa.int32()), ("a b", pa.float64())])
UNNAMED = pa.struct([("field0", pa.int32()), ("field1", pa.string())])


COLUMNS = [
    ("boolean", [True, None], pa.bool_(), [True, None]),
    ("bigint", [2**63 - 1], pa.int64(), [2**63 - 1]),
    ("real", [1.5], pa.float32(), [1.5]),
    ("decimal(5,2)", ["1.50", None], pa.decimal128(5, 2), [Decimal("1.50"), None]),
    ("varchar(3)", ["ü"], pa.string(), ["ü"]),
    ("varbinary", ["AP8="], pa.binary(), [b"\x00\xff"]),
    ("date", ["2020-02-29"], pa.date32(), [date(2020, 2, 29)]),
    ("time", ["01:02:03.004"], pa.time64("us"), [time(1, 2, 3, 4000)]),
    ("timestamp", ["2020-01-02 03:04:05.678"], pa.timestamp("us"), [datetime(2020, 1, 2, 3, 4, 5, 678000)]),  # noqa: DTZ001
    (
        "timestamp with time zone",
        ["2020-07-01 12:00:00.000 Europe/Berlin", "2020-07-01 12:00:00.000 +05:30", "2020-07-01 12:00:00.000 UTC"],
        pa.timestamp("us", tz="UTC"),
        [datetime(2020, 7, 1, *clock, tzinfo=UTC) for clock in ((10, 0), (6, 30), (12, 0))],
    ),
    ("unknown", [None], pa.null(), [None]),
    ("json", ['{"a":1}'], pa.string(), ['{"a":1}']),
    ("interval day to second", ["1 00:00:00.000"], pa.string(), ["1 00:00:00.000"]),
    ("array(date)", [["2020-02-29", None], None], pa.list_(pa.date32()), [[date(2020, 2, 29), None], None]),
    ("map(integer,array(varchar))", [{"1": ["a"]}], pa.map_(pa.int32(), pa.list_(pa.string())), [[(1, ["a"])]]),
    ("map(unknown,unknown)", [{}], pa.map_(pa.string(), pa.null()), [[]]),
    (
        "row(a integer,a varchar)",
        [[1, "x"]],
        pa.struct([("a_0", pa.int32()), ("a_1", pa.string())]),
        [{"a_0": 1, "a_1": "x"}],
    ),
    (
        'row(x integer,"a b" double)',
        [[1, "Infinity"]],
        POINT,
        [{"x": 1, "a b": math.inf}],
    ),
    (
        "map(integer,row(integer,varchar(1)))",
        ['{ "1" : "[ 1, \\"x\\" ]" }'],
        pa.map_(pa.int32(), UNNAMED),
        [[(1, {"field0": 1, "field1": "x"})]],
    ),
    ("array(array(integer))", ['[ "[ 1 ]", null ]'], pa.list_(pa.list_(pa.int32())), [[[1], None]]),
    ("row(integer,varchar(1))", [[1, "a"]], UNNAMED, [{"field0": 1, "field1": "a"}]),
    (
        "row(t timestamp with time zone)",
        [["2020-07-01 12:00:00.000 UTC"]],
        pa.struct([("t", pa.timestamp("us", tz="UTC"))]),
        [{"t": datetime(2020, 7, 1, 12, tzinfo=UTC)}],
    ),
]


def test_a_column_gets_its_type():
    def read(name: str, values: list[Any]) -> tuple[pa.DataType, list[Any]]:
        told = column_type(name)
        made = column(told, values)
        assert made.type == told.kind
        return made.type, made.to_pylist()

    assert [(name, values, *read(name, values)) for name, values, *_ in COLUMNS] == COLUMNS


def test_fields_may_be_named_or_not_and_of_types_of_several_words():
    assert column_type("row(timestamp with time zone,interval day to second)").kind == pa.struct(
        [("field0", pa.timestamp("us", tz="UTC")), ("field1", pa.string())]
    )
    named = column_type('row("say ""hi""" map(varchar(2),row(a integer)),b decimal(3,1))').kind
    assert [field.name for field in named] == ['say "hi"', "b"]


def test_numbers_that_are_none_are_numbers():
    read = column(column_type("double"), ["NaN", "-Infinity", 1.5]).to_pylist()
    assert math.isnan(read[0])
    assert read[1:] == [-math.inf, 1.5]
    [nested] = column(column_type("array(double)"), [["NaN"]]).to_pylist()
    assert math.isnan(nested[0])


MICROSECONDS = 10**6
FAR = 253_402_300_800 * MICROSECONDS
"""10000-01-01 00:00 UTC."""


def number(name: str, value: Any) -> int:
    """Return the number that stands for the one date or time in a value."""
    made = column(column_type(name), [value])
    leaf = made.flatten() if name.startswith("array") else made.field(0) if name.startswith("row") else made
    [found] = leaf.cast(pa.int32() if "date" in name else pa.int64()).to_pylist()
    return found


INSTANTS = {
    "10000-01-01 00:00:00.001 UTC": FAR + 1000,
    "10000-01-01 00:00:00.000 +05:30": FAR - 5.5 * 3600 * MICROSECONDS,
    "10000-01-01 00:00:00.000 Europe/Berlin": FAR - 3600 * MICROSECONDS,
    "10000-07-01 00:00:00.000 Europe/Berlin": FAR + (182 * 24 - 2) * 3600 * MICROSECONDS,
    "9999-12-31 23:00:00.000 America/New_York": FAR + 4 * 3600 * MICROSECONDS,
    "0000-12-31 00:00:00.000 UTC": -62_135_683_200 * MICROSECONDS,
    "-0001-12-31 00:00:00.000 UTC": -62_167_305_600 * MICROSECONDS,
}


def test_instants_outside_pythons_years_are_right():
    kind = "timestamp with time zone"
    plain = {clock: number(kind, clock) for clock in INSTANTS}
    in_arrays = {clock: number(f"array({kind})", [clock]) for clock in INSTANTS}
    in_rows = {clock: number(f"row({kind})", [clock]) for clock in INSTANTS}
    assert (plain, in_arrays, in_rows) == (INSTANTS, INSTANTS, INSTANTS)


DATES = [
    ("date", "10000-01-01", 2_932_897),
    ("array(date)", ["10000-01-01"], 2_932_897),
    ("row(date)", ["-0001-12-31"], -719_529),
    ("timestamp", "10000-01-01 00:00:00.001", FAR + 1000),
    ("array(timestamp)", ["10000-01-01 00:00:00.001"], FAR + 1000),
]


def test_dates_outside_pythons_years_are_right():
    assert [(name, value, number(name, value)) for name, value, _ in DATES] == DATES


NO_VALUES = [
    *(("date", "soon"), ("time", "25:00:00.000"), ("decimal(3,2)", "123.45"), ("tinyint", 300)),
    ("timestamp with time zone", "2020-13-45 00:00:00.000 UTC"),
    ("timestamp with time zone", "2020-01-01 00:00:00.000 Mars/Base"),
    *(("array(date)", ["soon"]), ("map(integer,integer)", {"x": 1}), ("row(integer,integer)", [1])),
]


def test_a_value_that_is_none_of_its_type_is_an_error_of_the_value():
    def refusal(name: str, value: Any) -> str:
        try:
            column(column_type(name), [value])
        except (ValueError, KeyError) as error:
            return str(error)
        return ""

    assert [(name, value) for name, value in NO_VALUES if not refusal(name, value)] == []


def test_the_hours_beside_a_repeated_one_are_read():
    clocks = ["2020-10-25 01:59:59.999 Europe/Berlin", "2020-10-25 03:00:00.000 Europe/Berlin"]
    read = column(column_type("timestamp with time zone"), clocks).to_pylist()
    assert [instant.hour for instant in read] == [23, 2]


def test_a_clock_that_was_shown_twice_is_no_instant():
    clock = "2020-10-25 02:30:00.000 Europe/Berlin"

    def refusal(name: str, value: Any) -> str:
        with pytest.raises(RepeatedHour) as refused:
            column(column_type(name), [value])
        return str(refused.value)

    assert {
        refusal("timestamp with time zone", clock),
        refusal("array(timestamp with time zone)", [clock]),
        refusal("map(timestamp with time zone,integer)", {clock: 1}),
        refusal("row(t timestamp with time zone)", [clock]),
    } == {f"the clock showed {clock} twice, and Presto does not say which one it is"}


EXPRESSIONS = {
    "bigint": "c",
    "array(varchar)": "c",
    "timestamp with time zone": "at_timezone(c, 'UTC')",
    "array(timestamp with time zone)": "transform(c, v0 -> at_timezone(v0, 'UTC'))",
    "map(varchar(3),timestamp with time zone)": (
        "transform_keys(transform_values(c, (w0, v0) -> at_timezone(v0, 'UTC')), (v0, w0) -> v0)"
    ),
    'row(n integer,"a b" timestamp with time zone)': "IF(c IS NULL, NULL, ROW(c[1], at_timezone(c[2], 'UTC')))",
}


def test_instants_are_asked_for_in_utc_at_every_depth():
    assert {name: in_utc(name, "c") for name in EXPRESSIONS} == EXPRESSIONS
