from __future__ import annotations

import math
import uuid
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest

from svc_jupyter.service.db_taps.intervals import interval_text
from svc_jupyter.service.db_taps.times import NOT_UTF_8
from svc_jupyter.service.db_taps.values import (
    DIGITS,
    ZONES,
    LosesDigitsError,
    array_of,
    cast,
    common_type,
    record_batch,
)

D = pa.decimal128
EAST = timezone(timedelta(hours=2))
LOCAL = datetime(2013, 1, 2)  # noqa: DTZ001  what has no zone
MAP = pa.map_(pa.string(), D(19, 2))
KEYED = pa.map_(D(19, 2), pa.int64())
INSTANTS = pa.list_(pa.timestamp("us", "UTC"))


def no_reason(_column, reason):
    pytest.fail(reason)


def test_values_take_the_narrowest_type_that_holds_them_all():
    narrowest = [
        ([1, None, -3], pa.int64(), [1, None, -3]),
        ([1, 2.5], pa.float64(), [1.0, 2.5]),
        ([9007199254740993, None, 2.5], pa.string(), ["9007199254740993", None, "2.5"]),
        ([Decimal("12345678901234567.89"), math.nan], pa.string(), ["12345678901234567.89", "NaN"]),
        ([Decimal("1.50"), 2.25], pa.float64(), [1.5, 2.25]),
        ([10**400, 0.5], pa.string(), [str(10**400), "0.5"]),
        ([Decimal("Infinity"), Decimal("-1.5"), None], pa.float64(), [math.inf, -1.5, None]),
        ([Decimal("NaN"), Decimal("12345678901234567.89")], pa.string(), ["NaN", "12345678901234567.89"]),
        ([1, "a", 2.5], pa.string(), ["1", "a", "2.5"]),
        (["a", b"\xff"], pa.binary(), [b"a", b"\xff"]),
        ([None, None], pa.null(), [None, None]),
        ([True, False], pa.bool_(), [True, False]),
        ([True, 2], pa.string(), ["True", "2"]),
        ([Decimal("1.50"), Decimal("22.1")], D(4, 2), [Decimal("1.50"), Decimal("22.10")]),
        ([2**64 - 1, None, -1], D(20, 0), [Decimal(2**64 - 1), None, Decimal(-1)]),
        ([2**70, Decimal("0.5")], D(23, 1), [Decimal(2**70), Decimal("0.5")]),
        ([10**80], pa.string(), [str(10**80)]),
        ([date(2013, 1, 2)], pa.date32(), [date(2013, 1, 2)]),
        ([time(1, 2, 3)], pa.time64("us"), [time(1, 2, 3)]),
        ([timedelta(hours=5)], pa.duration("us"), [timedelta(hours=5)]),
        ([datetime(2013, 1, 2, tzinfo=UTC)], pa.timestamp("us", "UTC"), [datetime(2013, 1, 2, tzinfo=UTC)]),
        ([datetime(2013, 1, 2, tzinfo=EAST)], pa.timestamp("us", "UTC"), [datetime(2013, 1, 1, 22, tzinfo=UTC)]),
        ([[datetime(2013, 1, 2, tzinfo=EAST)]], INSTANTS, [[datetime(2013, 1, 1, 22, tzinfo=UTC)]]),
        ([datetime(2013, 1, 2, tzinfo=EAST), LOCAL], pa.string(), ["2013-01-02 00:00:00+02:00", "2013-01-02 00:00:00"]),
        ([LOCAL, None], pa.timestamp("us"), [LOCAL, None]),
        ([time(1, 2, tzinfo=EAST), time(1, 2)], pa.string(), ["01:02:00+02:00", "01:02:00"]),
        ([[time(1, 2, tzinfo=EAST)], None], pa.string(), ['["01:02:00+02:00"]', None]),
        ([[LOCAL], [datetime(2013, 1, 2, tzinfo=UTC)]], pa.string(), [f'["{LOCAL}"]', f'["{LOCAL}+00:00"]']),
        (["a\ud800b", "ü", None], pa.string(), ["a\N{REPLACEMENT CHARACTER}b", "ü", None]),
        ([["\ud800"]], pa.string(), ['["\\ud800"]']),
        ([b"a", "\ud800"], pa.binary(), [b"a", "\N{REPLACEMENT CHARACTER}".encode()]),
        ([{"a": [1]}, None], pa.string(), ['{"a": [1]}', None]),
        (
            [[{"a": 1}], [{"b": Decimal("1.50")}, {"c": b"x"}]],
            pa.string(),
            ['[{"a": 1}]', '[{"b": "1.50"}, {"c": "x"}]'],
        ),
        ([[(1, 2)]], pa.string(), ["[[1, 2]]"]),
        ([[(1, 2)], [[("a", None)]]], pa.string(), ["[[1, 2]]", '[[["a", null]]]']),
        ([{date(2020, 1, 31): (1, {None: 2})}], pa.string(), ['{"2020-01-31": [1, {"null": 2}]}']),
        ([[1, 2], [3]], pa.list_(pa.int64()), [[1, 2], [3]]),
        ([[1, "a"]], pa.string(), ['[1, "a"]']),
        ([memoryview(b"x"), bytearray(b"y")], pa.binary(), [b"x", b"y"]),
        ([uuid.UUID(int=1)], pa.string(), [str(uuid.UUID(int=1))]),
    ]
    arrays = [(values, array_of(values)[0]) for values, _, _ in narrowest]
    assert [(values, array.type, array.to_pylist()) for values, array in arrays] == narrowest


def test_the_reason_is_told_why_numbers_and_times_are_text():
    def reasons(values: list[object]) -> list[tuple[str, str]]:
        found = []
        record_batch(["n", "value"], [(1, value) for value in values], lambda *column: found.append(column))
        return found

    told = [
        ([2**53 + 1, 0.5], [("value", DIGITS)]),
        ([Decimal("12345678901234567.89"), Decimal("NaN")], [("value", DIGITS)]),
        ([2**53, 0.5], []),
        ([Decimal("1.50"), Decimal("Infinity"), Decimal("NaN")], []),
        ([time(1, tzinfo=EAST)], [("value", ZONES)]),
        ([LOCAL, datetime(2013, 1, 2, tzinfo=UTC)], [("value", ZONES)]),
        ([datetime(2013, 1, 2, tzinfo=EAST), datetime(2013, 1, 2, tzinfo=UTC)], []),
        ([LOCAL, time(1)], []),
        ([1, "a"], []),
        (["a", "\ud800"], [("value", NOT_UTF_8)]),
        ([1, "\ud800"], [("value", NOT_UTF_8)]),
    ]
    assert [(values, reasons(values)) for values, _ in told] == told


def test_rows_may_have_columns_of_one_name():
    batch = record_batch(["a", "a"], [(1, "x"), (2, "y")], no_reason)
    assert batch.schema.names == ["a", "a"]
    assert [column.to_pylist() for column in batch.columns] == [[1, 2], ["x", "y"]]


def test_no_rows_are_columns_without_a_type():
    assert record_batch(["a"], [], no_reason).schema == pa.schema([("a", pa.null())])


def test_two_batches_agree_on_a_type_whichever_comes_first():
    agreed = [
        (pa.null(), pa.date32(), pa.date32()),
        (pa.int32(), pa.int64(), pa.int64()),
        (pa.int64(), pa.float64(), pa.float64()),
        (pa.int64(), pa.string(), pa.string()),
        (pa.int64(), pa.uint64(), D(20, 0)),
        (pa.string(), pa.binary(), pa.binary()),
        (D(4, 2), D(10, 1), D(11, 2)),
        (D(38, 2), D(38, 20), pa.decimal256(56, 20)),
        (D(4, 2), pa.int64(), D(22, 2)),
        (D(4, 2), pa.float64(), pa.float64()),
        (pa.decimal256(76, 0), pa.decimal256(76, 70), pa.string()),
        (pa.date32(), pa.string(), pa.string()),
        (pa.bool_(), pa.int64(), pa.string()),
        (pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("us")),
        (pa.list_(D(4, 2)), pa.list_(D(6, 3)), pa.list_(D(6, 3))),
        (pa.list_(pa.null()), pa.list_(pa.list_(pa.int32())), pa.list_(pa.list_(pa.int32()))),
        (pa.list_(pa.int32()), pa.list_(pa.list_(pa.int32())), pa.string()),
        (pa.list_(pa.list_(pa.int32())), pa.list_(pa.list_(pa.list_(pa.int32()))), pa.string()),
    ]
    assert [(first, second, common_type(first, second)) for first, second, _ in agreed] == agreed
    assert [(first, second, common_type(second, first)) for first, second, _ in agreed] == agreed


def test_a_column_can_be_brought_to_the_common_type():
    brought = [
        (pa.array([1, None]), pa.string(), ["1", None]),
        (pa.array([1, -(2**53)]), pa.float64(), [1.0, float(-(2**53))]),
        (pa.array([1.5], pa.float32()), pa.float64(), [1.5]),
        (pa.array([Decimal("1.50")]), pa.float64(), [1.5]),
        (pa.array([[[Decimal("1.50")], None]]), pa.list_(pa.list_(pa.float64())), [[[1.5], None]]),
        (pa.array([Decimal("12345678901234567.5")]), D(21, 3), [Decimal("12345678901234567.500")]),
        (pa.array([0.1, 1e22, math.nan, -math.inf]), pa.string(), ["0.1", "1e+22", "NaN", "-Infinity"]),
        (pa.array([Decimal("0.0000000")]), pa.string(), ["0.0000000"]),
        (pa.array([timedelta(days=1, hours=2)]), pa.string(), ["1 day 02:00:00"]),
        (pa.array([b"\xff", b"a"]), pa.string(), ["\N{REPLACEMENT CHARACTER}", "a"]),
        (pa.array(["a"]), pa.binary(), [b"a"]),
        (pa.array([1]), pa.binary(), [b"1"]),
        (pa.array([[1]]), pa.string(), ["[1]"]),
    ]
    assert [(column, kind, cast(column, kind).to_pylist()) for column, kind, _ in brought] == brought


def test_digits_that_a_floating_number_does_not_have_are_not_lost():
    def is_refused(column: pa.Array, kind: pa.DataType) -> bool:
        try:
            cast(column, kind)
        except LosesDigitsError:
            return True
        return False

    losing = [
        (pa.array([1, 2**53 + 1]), pa.float64()),
        (pa.array([Decimal("12345678901234567.89")]), pa.float64()),
        (pa.array([[2**53 + 1]]), pa.list_(pa.float64())),
        (pa.array([[Decimal("12345678901234567.89")]]), pa.list_(pa.float64())),
        (pa.array([{"a": Decimal("12345678901234567.89")}]), pa.struct({"a": pa.float64()})),
        (pa.array([[("k", Decimal("12345678901234567.89"))]], MAP), pa.map_(pa.string(), pa.float64())),
        (pa.array([[(Decimal("12345678901234567.89"), 1)]], KEYED), pa.map_(pa.float64(), pa.int64())),
    ]
    assert [(column, kind) for column, kind in losing if not is_refused(column, kind)] == []


def test_an_interval_reads_as_postgresql_writes_it():
    texts = {
        (0, 0, 0): "00:00:00",
        (14, 2, 10_800_000_000): "1 year 2 mons 2 days 03:00:00",
        (-14, 1, 0): "-1 years -2 mons 1 day",
        (0, 0, -1_500_000): "-00:00:01.5",
        (12, 0, 1): "1 year 00:00:00.000001",
    }
    assert {interval: interval_text(*interval) for interval in texts} == texts
