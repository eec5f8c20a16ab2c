"""The order of rows is Arrow's, whatever the columns hold and however they are cut into batches."""

from __future__ import annotations

import itertools
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.commands.row_views.ordering import Key, leading, order_of

INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)
VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): INTEGERS,
    pa.int8(): st.integers(-128, 127),
    pa.float64(): st.floats() | st.sampled_from([0.0, -0.0, 1.5]),
    pa.float32(): st.floats(width=32),
    pa.date32(): st.dates(date(1, 1, 1)),
    pa.timestamp("us", "UTC"): INTEGERS,
    # Texts that are equal for more than 48 bytes are left to Arrow.
    pa.string(): st.text(max_size=12),
    pa.large_string(): st.text("ab", max_size=48)
    | st.text("ab", max_size=2).map("a start that all of them have ".__add__),
}


@st.composite
def columns(draw: st.DrawFn) -> list[pa.ChunkedArray[Any]]:
    """Return one to three columns of as many rows, each in batches."""
    count = draw(st.integers(1, 40))
    cuts = sorted({0, *draw(st.lists(st.integers(0, count - 1), max_size=3)), count})
    made = []
    for kind in draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3)):
        values = draw(st.lists(st.none() | VALUES[kind], min_size=count, max_size=count))
        whole = pa.array(values, pa.int64() if pa.types.is_timestamp(kind) else kind).cast(kind)
        made.append(pa.chunked_array([whole.slice(start, end - start) for start, end in itertools.pairwise(cuts)]))
    return made


@given(columns=columns(), data=st.data())
def test_rows_have_the_order_that_arrow_gives_them(columns: list[pa.ChunkedArray[Any]], data: st.DataObject) -> None:
    downwards = [data.draw(st.booleans()) for _ in columns]
    table = pa.Table.from_arrays(columns, [str(number) for number in range(len(columns))])
    ways = [(str(number), "descending" if is_down else "ascending") for number, is_down in enumerate(downwards)]
    order = order_of([Key(column.chunks, way) for column, way in zip(columns, downwards, strict=True)], len(columns[0]))
    has_zeros = any("\0" in (text or "") for column in columns if is_text(column) for text in column.to_pylist())
    if not has_zeros or order is not None:
        assert order is not None
        assert order.tolist() == pc.sort_indices(table, sort_keys=ways).to_pylist()  # type: ignore[arg-type]


def test_texts_that_are_equal_for_long_are_left_to_arrow() -> None:
    texts = pa.array(["a" * 49 + "x", "a" * 49 + "y", "b"])
    assert order_of([Key([texts], is_descending=False)], 3) is None


@given(columns=columns(), is_descending=st.booleans(), count=st.integers(1, 4))
def test_the_first_rows_are_among_those_that_lead(
    columns: list[pa.ChunkedArray[Any]], is_descending: bool, count: int
) -> None:
    values = columns[0]
    found = leading(values, count, is_descending=is_descending)
    if found is not None:
        order = pc.sort_indices(values, sort_keys=[("", "descending" if is_descending else "ascending")]).to_pylist()
        assert set(order[: len(found)]) == set(found.tolist())
        assert found.tolist() == sorted(found.tolist())
        assert count <= len(found) <= len(values) / 10


def test_rows_that_are_equal_to_the_last_of_the_first_ones_lead_too() -> None:
    def first(way: int) -> Any:
        numbers = [way * 7.0, None, way * 2, way, float("nan"), way * 2] + [way * 9] * 60
        return leading(pa.chunked_array([pa.array(numbers)]), 2, is_descending=way < 0)

    assert [first(way).tolist() for way in (1, -1)] == [[2, 3, 5]] * 2


def test_a_value_shared_by_most_rows_gives_no_leading_rows() -> None:
    shared: list[list[float | None]] = [[1.0] * 50, [float("nan")] * 49 + [1.0], [None] * 49 + [1.0]]
    first = [leading(pa.chunked_array([pa.array(values)]), 2, is_descending=False) is None for values in shared]
    assert first == [True, True, True]


def is_text(column: pa.ChunkedArray[Any]) -> bool:
    return pa.types.is_string(column.type) or pa.types.is_large_string(column.type)


def test_values_that_are_slow_or_unsupported_to_order_are_left_to_arrow() -> None:
    values: dict[str, pa.Array[Any]] = {
        "texts that are long the same": pa.array(
            [f"{'the same ' * 9}{number % 3}{'and on ' * 9}{number}" for number in range(40)]
        ),
        "texts with a byte 0": pa.array(["a\0", "a", "a\0\0"]),
        "decimals": pa.array([1, 2], pa.decimal128(10)),
    }
    left = [name for name, array in values.items() if order_of([Key([array], is_descending=False)], len(array)) is None]
    assert left == list(values)


def test_few_texts_of_many_rows_are_in_the_order_of_their_bytes() -> None:
    texts = ["é", "z", None, "a", "A"] * 20
    order = order_of([Key([pa.array(texts[:30]), pa.array(texts[30:])], is_descending=True)], len(texts))
    assert order is not None
    assert [texts[place] for place in order.tolist()] == [
        text for text in ("é", "z", "a", "A", None) for _ in range(20)
    ]
