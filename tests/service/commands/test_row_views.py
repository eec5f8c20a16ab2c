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
from svc_jupyter.service.commands.row_views.job import Ask, Condition, Operator, Question, Refused, Wanted
from svc_jupyter.service.commands.row_views.process import LONGEST_VALUE, RowsView

COUNT = 20_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Return rows with equal values, rows without one, and a number for each."""
    numbers = np.random.default_rng(1).integers(0, COUNT // 4, COUNT)
    prices: Any = pa.array(np.where(numbers % 11 == 0, np.nan, numbers / 7), mask=numbers % 13 == 0)
    return pa.table({"price": prices, "text": [f"article {number}" for number in numbers], "id": range(COUNT)})


@pytest.fixture
def view(table: pa.Table, tmp_path: Path) -> RowsView:
    return view_of(table, tmp_path)


def view_of(table: pa.Table, folder: Path) -> RowsView:
    file = folder / "result.arrow"
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


LONG = "Zürich 🚂 " * 1000


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (pa.array(["short", None, LONG]), LONG),
        (pa.array(["short", None, LONG]).dictionary_encode(), LONG),
        (pa.array([b"", None, b"\0\xff" * 900], pa.binary()), "00ff" * 900),
        (pa.array([[], None, [{"station": LONG}]]), f'[{{"station": "{LONG}"}}]'),
        (pa.array([0, None, 2**53 + 1]), "9007199254740993"),
        (pa.array([0.5, None, float("nan")]), "NaN"),
    ],
    ids=["text", "dictionary", "binary", "nested", "integer", "number"],
)
def test_a_value_is_whole_where_a_page_cuts_it(values: pa.Array[Any], shown: str, tmp_path: Path) -> None:
    view = view_of(pa.table({"id": [0, 1, 2], "v": values}), tmp_path)
    last = Question(Ask.VALUE, sort=["-id"], column="v", offset=0)
    found = json.loads(view.answer(last))
    assert (found["column"]["name"], found["value"], found["is_cut"]) == ("v", shown, False)
    (in_page,) = json.loads(view.answer(Question(Ask.PAGE, sort=["-id"], columns=["v"], limit=1)))["rows"][0]
    assert in_page == (shown if len(shown) <= 1000 else f"{shown[:1000]}…")
    second = Question(Ask.VALUE, Wanted(where=(Condition("id", Operator.AT_LEAST, 1),)), column="v", offset=0)
    assert json.loads(view.answer(second))["value"] is None


def test_a_value_of_more_characters_than_a_page_can_show_is_cut_and_says_so(tmp_path: Path) -> None:
    view = view_of(pa.table({"v": ["x" * LONGEST_VALUE, "é" * (LONGEST_VALUE + 1)]}), tmp_path)
    first, second = (json.loads(view.answer(Question(Ask.VALUE, column="v", offset=row))) for row in (0, 1))
    assert (first["value"], first["is_cut"]) == ("x" * LONGEST_VALUE, False)
    assert (second["value"], second["is_cut"]) == ("é" * LONGEST_VALUE + "…", True)


def test_a_value_of_a_row_that_is_not_there_is_refused(tmp_path: Path) -> None:
    view = view_of(pa.table({"v": [1, 2]}), tmp_path)
    with pytest.raises(Refused, match=r"row: there is no row 2; there are 2 rows"):
        view.answer(Question(Ask.VALUE, column="v", offset=2))
    with pytest.raises(Refused, match="column: there is no column 'w'; there is v"):
        view.answer(Question(Ask.VALUE, column="w", offset=0))
