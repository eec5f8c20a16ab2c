"""Dates and times that Python does not have: which place becomes text, and what text."""

from __future__ import annotations

from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.db_taps.times import NOT_UTF_8, OUTSIDE, as_text, number, parsed, readable

DAY_10000 = 2_932_897
"""Days from 1970-01-01 to 10000-01-01."""
DAY, MICROSECOND = 86_400, 10**6


def column_of(numbers: list[Any], kind: Any) -> Any:
    return pa.array(numbers, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)


def is_left_alone(column: Any) -> bool:
    made, told = readable(column)
    return made is column and told is None


def test_a_column_with_a_time_that_python_does_not_have_is_text() -> None:
    columns: list[tuple[Any, list[Any], list[Any]]] = [
        (pa.date32(), [DAY_10000, None, 0], ["+10000-01-01", None, "1970-01-01"]),
        (pa.date32(), [-719_163, 0], ["0000-12-31", "1970-01-01"]),
        (pa.date32(), [-719_529, -719_894], ["-0001-12-31", "-0002-12-31"]),
        (pa.date32(), [2**31 - 1], ["+5881580-07-11"]),
        (pa.date64(), [DAY_10000 * DAY * 1000], ["+10000-01-01"]),
        (pa.timestamp("s"), [DAY_10000 * DAY + 3723], ["+10000-01-01T01:02:03"]),
        (
            pa.timestamp("us"),
            [DAY_10000 * DAY * MICROSECOND + 1, 0],
            ["+10000-01-01T00:00:00.000001", "1970-01-01T00:00:00"],
        ),
        (pa.timestamp("us", "UTC"), [DAY_10000 * DAY * MICROSECOND], ["+10000-01-01T00:00:00Z"]),
        (pa.time64("us"), [DAY * MICROSECOND, 3_723_500_000, None], ["24:00:00", "01:02:03.500000", None]),
        (pa.time32("s"), [DAY], ["24:00:00"]),
    ]
    found = [(kind, numbers, readable(column_of(numbers, kind))) for kind, numbers, _ in columns]
    assert [(kind, numbers, made.to_pylist()) for kind, numbers, (made, _) in found] == columns
    assert {told for _, _, (_, told) in found} == {OUTSIDE}


def test_other_columns_stay_as_they_are() -> None:
    columns = [
        column_of([-719_162, DAY_10000 - 1], pa.date32()),
        column_of([-62_135_596_800 * MICROSECOND, DAY_10000 * DAY * MICROSECOND - 1], pa.timestamp("us")),
        column_of([0, DAY * MICROSECOND - 1], pa.time64("us")),
        column_of([None], pa.date32()),
        column_of([2**62], pa.int64()),
    ]
    assert [column for column in columns if not is_left_alone(column)] == []
    assert [len(column.to_pylist()) for column in columns] == [2, 2, 2, 1, 1]


def test_types_keep_their_facts() -> None:
    kinds = [
        pa.map_(pa.string(), pa.field("value", pa.date32(), nullable=False), keys_sorted=True),
        pa.struct([pa.field("a", pa.list_(pa.field("element", pa.date32(), nullable=False)), nullable=False)]),
        *(pa.list_(pa.int32(), 2), pa.large_list(pa.int32()), pa.dictionary(pa.int8(), pa.string())),
    ]
    assert [kind for kind in kinds if not is_left_alone(pa.array([], kind))] == []


def test_an_instant_whose_clock_leaves_pythons_years_in_its_zone_is_text() -> None:
    first = pa.array([-62_135_596_800 * MICROSECOND], pa.timestamp("us", "America/New_York"))
    assert readable(first)[0].to_pylist() == ["0001-01-01T00:00:00Z"]


def test_only_the_place_that_needs_it_is_text() -> None:
    kind = pa.map_(pa.int32(), pa.struct([("far", pa.list_(pa.date32())), ("near", pa.date32())]))
    column = pa.array([[(1, {"far": [DAY_10000, None], "near": 1})], None, [], [(2, None)]], kind)
    made, _ = readable(column)
    made.validate(full=True)
    assert made.type == pa.map_(pa.int32(), pa.struct([("far", pa.list_(pa.string())), ("near", pa.date32())]))
    assert made.to_pylist() == [[(1, {"far": ["+10000-01-01", None], "near": date(1970, 1, 2)})], None, [], [(2, None)]]
    assert readable(column.slice(1))[0].to_pylist() == [None, [], [(2, None)]]
    rest = as_text(column.slice(3), made.type)
    rest.validate(full=True)
    assert (rest.type, rest.to_pylist()) == (made.type, [[(2, None)]])


def test_keys_of_maps_are_text_too() -> None:
    column = pa.array([[(DAY_10000, "x")]], pa.map_(pa.date32(), pa.string()))
    assert readable(column)[0].to_pylist() == [[("+10000-01-01", "x")]]


@given(st.integers(-(2**31), 2**31 - 1))
def test_the_text_of_a_date_says_that_date(day: int) -> None:
    [text] = as_text(pa.array([day], pa.int32()).cast(pa.date32()), pa.string()).to_pylist()
    assert number(text, pa.date32()) == day


def test_texts_are_times_of_any_year() -> None:
    days = parsed(pa.array(["10000-01-01", "+10000-01-02", None, "1970-01-02", "-0001-12-31"]), pa.date32())
    assert days.type == pa.date32()
    assert days.cast(pa.int32()).to_pylist() == [DAY_10000, DAY_10000 + 1, None, 1, -719_529]
    moments = parsed(pa.array(["10000-01-01 00:00:01.500", "1970-01-01 00:00:00"]), pa.timestamp("us"))
    assert moments.type == pa.timestamp("us")
    assert moments.cast(pa.int64()).to_pylist() == [DAY_10000 * DAY * MICROSECOND + 1_500_000, 0]


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("soon", pa.date32(), "soon"),
        ("400000-01-01 00:00:00", pa.timestamp("us"), "400000-01-01 00:00:00 is too far away"),
        ("123.45", pa.decimal128(4, 2), "does not fit in precision 4"),
    ],
)
def test_a_text_that_is_no_value_of_the_type_is_refused(text: str, kind: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parsed(pa.array([text]), kind)


def test_bytes_of_a_text_that_are_not_utf_8_are_replaced_at_every_depth() -> None:
    texts: Any = pa.array([b"\xffA", None, "ü".encode()]).view(pa.string())
    lists = pa.ListArray.from_arrays([0, 1, 1, 3], texts)
    maps = pa.MapArray.from_arrays([0, 1, 1, 2], texts.take([0, 2]), texts.take([0, 2]))
    struct = pa.StructArray.from_arrays([texts, lists, maps], names=["t", "l", "m"])
    made = [
        {"t": "\ufffdA", "l": ["\ufffdA"], "m": [("\ufffdA", "\ufffdA")]},
        {"t": None, "l": [], "m": []},
        {"t": "ü", "l": [None, "ü"], "m": [("ü", "ü")]},
    ]
    assert readable(struct)[0].to_pylist() == made
    assert readable(struct.slice(1))[0].to_pylist() == made[1:]
    assert readable(struct)[0].type == struct.type
    assert readable(struct)[1] == NOT_UTF_8
