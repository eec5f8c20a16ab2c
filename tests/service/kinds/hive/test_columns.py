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


def no_reason(column: str, reason: str) -> None:
    raise AssertionError(column, reason)


def nulls(where: list[bool]) -> bytes:
    """Java's BitSet: as many bytes as it needs, the lowest bit first."""
    return sum(1 << n for n, absent in enumerate(where) if absent).to_bytes(len(where) // 8 + 1, "little").rstrip(b"\0")


COLUMNS = [
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
]


def test_a_column_gets_its_type() -> None:
    def read(column: ColumnType, cells: Any) -> tuple[pa.DataType, list[Any]]:
        batch = record_batch([column.name], [arrow_type(column)], [(cells, b"")], {}, no_reason)
        [kind] = batch.schema.types
        return kind, batch.column(0).to_pylist()

    assert [(column, cells, *read(column, cells)) for column, cells, *_ in COLUMNS] == COLUMNS


def test_a_time_outside_pythons_years_is_one() -> None:
    batch = record_batch(["t"], [pa.timestamp("us")], [([b"+10000-01-01 00:00:00.5"], b"")], {}, no_reason)
    assert batch.column(0).type == pa.timestamp("us")
    assert batch.column(0).cast(pa.int64()).to_pylist() == [253_402_300_800_500_000]


@pytest.mark.parametrize(
    ("kind", "parser", "texts", "shown"),
    [
        (
            pa.date32(),
            None,
            [b"2020-01-02", b"soon", b"never"],
            "'soon' cannot be read as date32[day]",
        ),
        (pa.int64(), int, [b"1", b"x" * 200], f"'{'x' * 100}…' cannot be read as int64"),
    ],
)
def test_a_value_that_cannot_be_read_makes_the_column_text_and_is_named(
    kind: Any, parser: Any, texts: list[bytes], shown: str
) -> None:
    notes: list[tuple[str, str]] = []
    parsers = {} if parser is None else {0: parser}
    batch = record_batch(["d"], [kind], [(texts, b"")], parsers, lambda *told: notes.append(told))
    assert batch.column(0).to_pylist() == [text.decode() for text in texts]
    assert notes == [("d", shown)]


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=40))
def test_numbers_keep_their_places_among_those_that_are_missing(values: list[int | None]) -> None:
    cells = array("q", [value or 0 for value in values]), nulls([value is None for value in values])
    assert record_batch(["n"], [pa.int64()], [cells], {}, no_reason).column(0).to_pylist() == values


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), max_size=40))
def test_texts_keep_their_places_among_those_that_are_missing(values: list[str | None]) -> None:
    cells = [(value or "").encode() for value in values], nulls([value is None for value in values])
    assert record_batch(["s"], [pa.string()], [cells], {}, no_reason).column(0).to_pylist() == values
