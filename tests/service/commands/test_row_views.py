"""Pages of rows in an order are parts of one whole order, however much of it was made for each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from svc_jupyter.service.commands.row_views.columns import columns_of, json_values
from svc_jupyter.service.commands.row_views.job import Ask, Condition, Operator, Question, Wanted
from svc_jupyter.service.commands.row_views.process import RowsView

COUNT = 20_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Return rows with equal values, rows without one, and a number for each."""
    numbers = np.random.default_rng(1).integers(0, COUNT // 4, COUNT)
    prices: Any = pa.array(np.where(numbers % 11 == 0, np.nan, numbers / 7), mask=numbers % 13 == 0)
    return pa.table({"price": prices, "text": [f"article {number}" for number in numbers], "id": range(COUNT)})


@pytest.fixture
def view(table: pa.Table, tmp_path: Path) -> RowsView:
    file = tmp_path / "result.arrow"
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=3000)
    return RowsView(file, is_text=False)


Page = tuple[list[int], int]


def pages(
    view: RowsView, table: pa.Table, sort: str, where: tuple[Condition, ...] = ()
) -> tuple[list[Page], list[Page]]:
    """Return pages of the view in an order, and those of the table: the ids and how many rows there are."""
    order: Any = [(sort.removeprefix("-"), "descending" if sort.startswith("-") else "ascending")]
    expected = table.take(pc.sort_indices(table, sort_keys=order))["id"].to_pylist()
    found, wanted = [], []
    for offset in (0, 900, 950, 12_000, 0, len(expected) - 50):
        question = Question(Ask.PAGE, Wanted(where=where), sort=[sort], columns=["id"], offset=offset)
        page = json.loads(view.answer(question))
        found.append(([number for (number,) in page["rows"]], page["total"]))
        wanted.append((expected[offset : offset + 100], len(expected)))
    return found, wanted


@pytest.mark.parametrize("sort", ["price", "-price", "text", "-text"])
def test_the_first_and_the_later_pages_are_of_one_order(view: RowsView, table: pa.Table, sort: str) -> None:
    found, wanted = pages(view, table, sort)
    assert found == wanted


def test_the_pages_of_some_rows_are_of_one_order(view: RowsView, table: pa.Table) -> None:
    found, wanted = pages(view, table.slice(100), "-price", (Condition("id", Operator.AT_LEAST, 100),))
    assert found == wanted


def test_floats_of_32_bits_are_shown_as_they_print() -> None:
    struct = pa.struct([("f", pa.float32()), ("l", pa.list_(pa.float32()))])
    schema = pa.schema([("real", pa.float32()), ("struct", struct)])
    real, within = columns_of(schema)
    assert json_values(pa.array([0.1, None], pa.float32()), [0, 1], real) == [0.1, None]
    assert json_values(pa.array([{"f": 0.1, "l": [0.2]}], struct), [0], within) == ['{"f": 0.1, "l": [0.2]}']
