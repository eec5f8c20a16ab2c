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


@pytest.mark.parametrize(
    ("name", "values", "kind", "read"),
    [
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
        ("row(a integer,a varchar)", [[1, "x"]], None, [{"a_0": 1, "a_1": "x"}]),
        ('row(x integer,"a b" double)', [[1, "NaN"]], POINT, None),
        (
            "map(integer,row(integer,varchar(1)))",
            ['{ "1" : "[ 1, \\"x\\" ]" }'],
            None,
            [[(1, {"field0": 1, "field1": "x"})]],
        ),
        ("array(array(integer))", ['[ "[ 1 ]", null ]'], pa.list_(pa.list_(pa.int32())), [[[1], None]]),
        ("row(integer,varchar(1))", [[1, "a"]], None, [{"field0": 1, "field1": "a"}]),
        ("row(t timestamp with time zone)", [["2020-07-01 12:00:00.000 UTC"]], None, None),
    ],
)
def test_a_column_gets_its_type(name: str, values: list[Any], kind: pa.DataType | None, read: list[Any] | None):
    told = column_type(name)
    made = column(told, values)
    assert made.type == told.kind
    assert kind is None or told.kind == kind
    assert read is None or made.to_pylist() == read


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


def test_a_value_that_its_type_does_not_hold_makes_the_column_text():
    made = column(column_type("date"), ["+12345-01-01", None])
    assert made.to_pylist() == ["+12345-01-01", None]


@pytest.mark.parametrize(
    ("clock", "utc"),
    [("2020-10-25 01:59:59.999 Europe/Berlin", 23), ("2020-10-25 03:00:00.000 Europe/Berlin", 2)],
)
def test_the_hours_beside_a_repeated_one_are_read(clock: str, utc: int):
    [read] = column(column_type("timestamp with time zone"), [clock]).to_pylist()
    assert read.hour == utc


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("timestamp with time zone", "2020-10-25 02:30:00.000 Europe/Berlin"),
        ("array(timestamp with time zone)", ["2020-10-25 02:30:00.000 Europe/Berlin"]),
        ("map(timestamp with time zone,integer)", {"2020-10-25 02:30:00.000 Europe/Berlin": 1}),
        ("row(t timestamp with time zone)", ["2020-10-25 02:30:00.000 Europe/Berlin"]),
    ],
)
def test_a_clock_that_was_shown_twice_is_no_instant(name: str, value: Any):
    with pytest.raises(RepeatedHour, match=r"showed 2020-10-25 02:30:00.000 Europe/Berlin twice"):
        column(column_type(name), [value])


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("bigint", "c"),
        ("array(varchar)", "c"),
        ("timestamp with time zone", "at_timezone(c, 'UTC')"),
        ("array(timestamp with time zone)", "transform(c, v0 -> at_timezone(v0, 'UTC'))"),
        (
            "map(varchar(3),timestamp with time zone)",
            "transform_keys(transform_values(c, (w0, v0) -> at_timezone(v0, 'UTC')), (v0, w0) -> v0)",
        ),
        (
            'row(n integer,"a b" timestamp with time zone)',
            "IF(c IS NULL, NULL, ROW(c[1], at_timezone(c[2], 'UTC')))",
        ),
    ],
)
def test_instants_are_asked_for_in_utc_at_every_depth(name: str, expression: str):
    assert in_utc(name, "c") == expression
