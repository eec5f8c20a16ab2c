"""The points of a chart: each row counts, each value is where the row has it, and their number is bounded."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from svc_jupyter.service.commands.row_views.job import Ask, Chart, Condition, Operator, Question, Refused, Wanted
from svc_jupyter.service.commands.row_views.points import BARS, LINE_POINTS, PLACES
from svc_jupyter.service.commands.row_views.process import RowsView

SPARSE = [1.0, 2.0, None, float("nan"), float("inf"), 6.0]


class Drawing:
    """A result on disk of which charts are made."""

    def __init__(self, folder: Path, **columns: Any) -> None:
        table = pa.table(columns)
        with pa.ipc.new_stream(folder / "result.arrow", table.schema) as writer:
            writer.write_table(table, max_chunksize=max(1, len(table) // 3))
        self.view = RowsView(folder / "result.arrow", is_text=False)

    def answer(self, chart: Chart | None, x: str = "x", y: str = "y", **more: Any) -> dict[str, Any]:
        return dict(json.loads(self.view.answer(Question(Ask.POINTS, column=x, y=y, chart=chart, **more))))

    def points(self, chart: Chart, **more: Any) -> list[dict[str, Any]]:
        return list(self.answer(chart, **more)["points"])

    def pairs(self, chart: Chart, **more: Any) -> list[tuple[Any, Any]]:
        return [(point["x"], point["y"]) for point in self.points(chart, **more)]


def test_a_line_has_the_mean_and_the_extremes_of_each_value_of_x(tmp_path: Path) -> None:
    drawing = Drawing(tmp_path, x=[3, 1, None, 3, 1, 2], y=[5.0, 1.0, 9.0, 10.0, 2.0, None])
    assert drawing.points(Chart.LINE) == [
        {"x": 1, "y": 1.5, "low": 1, "high": 2, "count": 2},
        {"x": 2, "y": None, "low": None, "high": None, "count": 0},
        {"x": 3, "y": 7.5, "low": 5, "high": 10, "count": 2},
    ]


def test_a_long_line_keeps_each_extreme_and_counts_each_row(tmp_path: Path) -> None:
    count = 200_000
    heights = np.sin(np.arange(count) / 10_000)
    heights[123_456] = 50
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times = [start + timedelta(seconds=number) for number in range(count)]
    points = Drawing(tmp_path, x=pa.array(times, pa.timestamp("us", "UTC")), y=heights).points(Chart.LINE)
    assert len(points) == LINE_POINTS
    assert sum(point["count"] for point in points) == count
    assert {point["count"] for point in points} == {count // LINE_POINTS}
    (peak,) = [place for place, point in enumerate(points) if point["high"] == 50]
    assert peak == 123_456 // 500
    assert points[0]["x"] == "2026-01-01T00:04:09.5Z"  # the middle of its rows
    assert points[0]["y"] == pytest.approx(np.sin(np.arange(500) / 10_000).mean())


FEW_VALUES: dict[str, tuple[pa.Array[Any], list[Any]]] = {
    "date": (pa.array([date(2026, 3, 29), date(1492, 10, 12)]), ["1492-10-12", "2026-03-29"]),
    "integer": (pa.array([1, 2**62], pa.int64()), [1, "4611686018427387904"]),
    "decimal": (pa.array([Decimal("0.10"), Decimal("-2.00")]), ["-2.00", "0.10"]),
    "number": (pa.array([1e308, -1e308]), [-1e308, 1e308]),
    "timestamp": (
        pa.array([1, 0], pa.timestamp("ns")),
        ["1970-01-01T00:00:00", "1970-01-01T00:00:00.000000001"],
    ),
}


def test_a_few_values_of_x_are_exact(tmp_path: Path) -> None:
    drawn = {name: Drawing(tmp_path, x=x, y=[1, 1]).pairs(Chart.LINE) for name, (x, _) in FEW_VALUES.items()}
    assert drawn == {name: [(value, 1) for value in written] for name, (_, written) in FEW_VALUES.items()}


@pytest.mark.parametrize("x", [range(-500, 500), np.linspace(-1, 1, 1000) * 1e308], ids=["integers", "largest"])
def test_bars_of_many_numbers_are_of_equal_ranges(tmp_path: Path, x: Any) -> None:
    points = Drawing(tmp_path, x=pa.array(x), y=range(1000)).points(Chart.BAR)
    assert len(points) == BARS
    assert (points[0]["x"], points[-1]["to"]) == (x[0], x[-1])
    assert [before["to"] for before in points[:-1]] == [after["x"] for after in points[1:]]
    assert sum(point["count"] for point in points) == 1000
    assert points[0]["y"] == pytest.approx(9.5)


def test_rows_without_a_number_are_in_no_range(tmp_path: Path) -> None:
    x = [*range(1000), None, float("nan"), float("inf")]
    points = Drawing(tmp_path, x=pa.array(x, pa.float64(), from_pandas=False), y=[1] * 1003).points(Chart.LINE)
    assert sum(point["count"] for point in points) == 1000
    assert {point["count"] for point in points} == {2, 3}


def test_bars_of_dates_begin_and_end_with_days(tmp_path: Path) -> None:
    days = [date(2026, 1, 1) + timedelta(days=number) for number in range(101)]
    points = Drawing(tmp_path, x=days, y=range(101)).points(Chart.BAR)
    assert (points[0]["x"], points[0]["to"], points[-1]["to"]) == ("2026-01-01", "2026-01-03", "2026-04-11")


def test_bars_of_words_come_in_the_order_of_the_result_or_in_that_of_the_reader(tmp_path: Path) -> None:
    drawing = Drawing(tmp_path, x=["b", "a", None, "b", "", "a"], y=[1, 2, 3, 4, 5, 7])
    assert drawing.pairs(Chart.BAR) == [("b", 2.5), ("a", 4.5), (None, 3), ("", 5)]
    assert drawing.pairs(Chart.BAR, sort=["-y"]) == [("a", 4.5), ("", 5), ("b", 2.5), (None, 3)]
    wanted = Wanted("a", (Condition("y", Operator.MORE, 2),))
    assert drawing.answer(None, wanted=wanted) == {
        "chart": "bar",
        "x": {"name": "x", "type": "text"},
        "y": {"name": "y", "type": "integer"},
        "points": [{"x": "a", "y": 7, "low": 7, "high": 7, "count": 1}],
        "is_cut": False,
        "total": 1,
    }


def test_the_first_bars_of_many_words_are_whole(tmp_path: Path) -> None:
    words = [f"word {number % 30_000}" for number in range(90_000)]
    answer = Drawing(tmp_path, x=words, y=range(90_000)).answer(Chart.BAR)
    points = answer["points"]
    assert answer["is_cut"]
    assert [(point["x"], point["count"]) for point in points] == [(f"word {number}", 3) for number in range(BARS)]
    assert points[1]["y"] == 30_001
    all_shown = Drawing(tmp_path, x=words[:BARS] * 2, y=range(2 * BARS)).answer(Chart.BAR)
    assert (len(all_shown["points"]), all_shown["is_cut"]) == (BARS, False)


VALUES_OF_EVERY_TYPE: dict[str, tuple[pa.Array[Any], list[Any]]] = {
    "boolean": (pa.array([True, False]), [True, False]),
    "binary": (pa.array([b"\xff", b""]), ["ff", ""]),
    "category": (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
    "duration": (pa.array([timedelta(seconds=1), timedelta(0)]), ["0:00:01", "0:00:00"]),
    "time": (pa.array([1, 2], pa.time32("s")), ["00:00:01", "00:00:02"]),
    "interval": (pa.array([pa.MonthDayNano([1, 2, 0]), pa.MonthDayNano([0, 2, 0])]), ["(1, 2, 0)", "(0, 2, 0)"]),
    "null": (pa.nulls(2), [None]),
}


def test_bars_are_of_values_of_every_type(tmp_path: Path) -> None:
    def bars(x: pa.Array[Any]) -> list[Any]:
        return [value for value, _ in Drawing(tmp_path, x=x, y=[1, 1]).pairs(Chart.BAR)]

    assert {name: bars(x) for name, (x, _) in VALUES_OF_EVERY_TYPE.items()} == {
        name: written for name, (_, written) in VALUES_OF_EVERY_TYPE.items()
    }


def test_a_scatter_chart_has_each_place_with_a_row(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    x, y = random.normal(0, 1, 100_000), random.normal(0, 1, 100_000)
    x[77_777], y[77_777] = 40, -40  # alone, far from all others
    points = Drawing(tmp_path, x=x, y=y).points(Chart.SCATTER)
    assert len(points) <= PLACES[0] * PLACES[1]
    assert sum(point["count"] for point in points) == 100_000
    assert {"x": 40, "y": -40, "count": 1} in points
    rows = set(zip(x.tolist(), y.tolist(), strict=True))
    assert {(point["x"], point["y"]) for point in points} <= rows


def test_the_first_row_of_a_place_is_its_point(tmp_path: Path) -> None:
    drawing = Drawing(tmp_path, x=[0.001, 0, 1], y=[0, 0, 0], same=[5, 5, 5], z=[0, 1, 2])
    assert drawing.points(Chart.SCATTER) == [{"x": 0.001, "y": 0, "count": 2}, {"x": 1, "y": 0, "count": 1}]
    assert drawing.pairs(Chart.SCATTER, x="same", y="z") == [(5, 0), (5, 1), (5, 2)]


def test_rows_without_a_number_are_no_points(tmp_path: Path) -> None:
    drawing = Drawing(tmp_path, x=SPARSE, y=[10, 20, 30, 40, 50, 60], z=SPARSE)
    assert drawing.pairs(Chart.LINE) == [(1, 10), (2, 20), (6, 60)]
    assert drawing.pairs(Chart.SCATTER) == [(1, 10), (2, 20), (6, 60)]
    assert drawing.pairs(Chart.SCATTER, x="y", y="z") == [(10, 1), (20, 2), (60, 6)]
    assert drawing.pairs(Chart.LINE, x="y", y="z") == [(10, 1), (20, 2), (30, None), (40, None), (50, None), (60, 6)]


def test_nothing_has_no_points(tmp_path: Path) -> None:
    no_rows = Drawing(tmp_path, x=pa.array([], pa.int64()), y=pa.array([], pa.float64()))
    assert {chart: no_rows.points(chart) for chart in Chart} == {chart: [] for chart in Chart}
    no_values = Drawing(tmp_path, x=pa.array([None, None], pa.float64()), y=[1.0, 1.0])
    assert {chart: no_values.points(chart) for chart in Chart} == {chart: [] for chart in Chart}


def test_columns_that_a_chart_cannot_show_are_named(tmp_path: Path) -> None:
    drawing = Drawing(tmp_path, word=["a"], number=[1], list=[[1]])

    def refusal(chart: Chart, x: str, y: str) -> str:
        with pytest.raises(Refused) as refused:
            drawing.points(chart, x=x, y=y)
        return str(refused.value)

    refused = {
        (Chart.LINE, "word", "number"): "x: column word holds text values; a line needs numbers or times there",
        (Chart.SCATTER, "word", "number"): "x: column word holds text values; a scatter needs numbers or times there",
        (Chart.BAR, "list", "number"): "x: column list holds nested values, which have no place on an axis",
        (Chart.BAR, "word", "word"): "y: column word holds text values; a chart needs numbers there",
        (Chart.BAR, "worse", "number"): "x: there is no column 'worse'; there is word, number, list",
        (Chart.BAR, "word", "worse"): "y: there is no column 'worse'; there is word, number, list",
    }
    assert {asked: refusal(*asked) for asked in refused} == refused
