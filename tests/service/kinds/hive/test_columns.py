"""HiveServer2's columns as Arrow's."""

from __future__ import annotations

from array import array
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.kinds.hive.columns import arrow_type, record_batch
from svc_jupyter.service.runtimes.hive_server.client import ColumnType


def nulls(where: list[bool]) -> bytes:
    """Java's BitSet: as many bytes as it needs, the lowest bit first."""
    return sum(1 << n for n, absent in enumerate(where) if absent).to_bytes(len(where) // 8 + 1, "little").rstrip(b"\0")


@pytest.mark.parametrize(
    ("column", "cells", "kind", "values"),
    [
        (ColumnType("d", 15, 10, 2), [b"1.50"], pa.decimal128(10, 2), [Decimal("1.50")]),
        (ColumnType("d", 17), [b"2020-02-29"], pa.date32(), [date(2020, 2, 29)]),
        (
            ColumnType("t", 8),
            [b"2020-01-02 03:04:05.678901"],
            pa.timestamp("us"),
            [datetime(2020, 1, 2, 3, 4, 5, 678901)],  # noqa: DTZ001
        ),
        (ColumnType("b", 9), [b"\x00\xff"], pa.binary(), [b"\x00\xff"]),
        (ColumnType("s", 7), ["ü".encode()], pa.string(), ["ü"]),
        (ColumnType("b", 0), array("b", [1]), pa.bool_(), [True]),
        (ColumnType("i", 1), array("b", [-3]), pa.int8(), [-3]),
        (ColumnType("f", 5), array("d", [1.5]), pa.float32(), [1.5]),
        (ColumnType("n", 16), [b""], pa.null(), [None]),
        (ColumnType("i", 21), [b"1 00:00:00.000000000"], pa.string(), ["1 00:00:00.000000000"]),
    ],
)
def test_a_column_gets_its_type(column: ColumnType, cells: Any, kind: pa.DataType, values: list[Any]) -> None:
    batch = record_batch([column.name], [arrow_type(column)], [(cells, b"")], {})
    assert batch.schema.types == [kind]
    assert batch.column(0).to_pylist() == values


def test_a_value_that_its_type_does_not_hold_makes_the_column_text() -> None:
    batch = record_batch(["t"], [pa.timestamp("us")], [([b"+12345-01-01 00:00:00"], b"")], {})
    assert batch.column(0).to_pylist() == ["+12345-01-01 00:00:00"]


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=40))
def test_numbers_keep_their_places_among_those_that_are_missing(values: list[int | None]) -> None:
    cells = array("q", [value or 0 for value in values]), nulls([value is None for value in values])
    assert record_batch(["n"], [pa.int64()], [cells], {}).column(0).to_pylist() == values


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), max_size=40))
def test_texts_keep_their_places_among_those_that_are_missing(values: list[str | None]) -> None:
    cells = [(value or "").encode() for value in values], nulls([value is None for value in values])
    assert record_batch(["s"], [pa.string()], [cells], {}).column(0).to_pylist() == values
