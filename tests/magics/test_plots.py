"""`%svc_plot`: a picture of the rows that the service stores, of which none comes into the kernel."""

from __future__ import annotations

import io
import sqlite3
import struct
from typing import Any

import matplotlib.dates as dates
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from svc_jupyter.api.result_rows import ChartPoints, ColumnSummary
from svc_jupyter.magics.display.chart import chart_of_points, chart_of_summary
from svc_jupyter.magics.display.errors import SvcMagicError, SvcUsageError
from svc_jupyter.magics.plots import condition

QUERY = "SELECT hour, origin, delay FROM plotted"


@pytest.fixture
def tap(at_work: Any, workplace: Any) -> str:
    """A table of delays: two airports, six hours, one row without a delay."""
    file = workplace.service.data_dir / "storage" / f"{workplace.name}.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE plotted (hour INTEGER, origin TEXT, delay REAL)")
        rows = [(number // 2, "JFK" if number % 3 else "LGA", number * 2.5) for number in range(12)]
        database.executemany("INSERT INTO plotted VALUES (?, ?, ?)", [*rows, (5, "EWR", None)])
    database.close()
    workplace.post("/db_taps", {"name": workplace.name, "db_type": "sqlite", "db_name": str(file)})
    at_work.value(f"%svc_config default_tap '{workplace.name}'")
    return str(workplace.name)


def test_the_last_result_is_drawn_and_kept_as_a_picture(at_work: Any, tap: str) -> None:
    at_work.value(f"%%svc_db -o delays\n{QUERY}")
    shown = at_work.displayed("%svc_plot -x hour -y delay -o chart")
    words = "mean of delay over hour, in a band from the least to the largest · 12 of 13 rows"
    assert shown["text/plain"] == words
    width, height = struct.unpack(">II", shown["image/png"][16:24])
    assert (width, height) == (1152, 460)
    chart = at_work.shell.user_ns["chart"]
    assert isinstance(chart.figure, Figure)
    [line] = chart.figure.axes[0].lines
    assert line.get_xdata().tolist() == [0, 1, 2, 3, 4, 5]
    assert line.get_ydata().tolist() == [1.25, 6.25, 11.25, 16.25, 21.25, 26.25]


def test_a_variable_or_a_command_names_the_result(at_work: Any, tap: str) -> None:
    at_work.value(f"%%svc_db -o delays\n{QUERY}")
    at_work.value("%%svc_db -o other\nSELECT 1 AS one")
    bars = "mean of delay for each origin · 12 of 13 rows"
    assert at_work.value("%svc_plot delays -x origin -y delay").words == bars
    at_work.run("alias = delays")
    assert at_work.value("%svc_plot alias -x origin -y delay").words == bars
    handle = at_work.value(f"%%svc_db --no-wait -o later\n{QUERY}")
    handle.result()
    assert at_work.value("%svc_plot later -x origin -y delay").words == bars
    assert at_work.value(f"%svc_plot {handle.id} -x delay").words == "histogram of delay · 12 of 13 rows"


def test_rows_are_chosen_and_bars_ordered(at_work: Any, tap: str) -> None:
    at_work.value(f"%%svc_db\n{QUERY}")
    chosen = "--where 'hour > 1' --where 'delay is_null false' --search jfk"
    chart = at_work.value(f"%svc_plot -x hour -y delay --chart bar {chosen}")
    assert chart.words == "mean of delay for each hour · all 6 rows"
    [axes] = chart.figure.axes
    assert [bar.get_height() for bar in axes.patches] == [11.25, 17.5, 20.0, 26.25]
    ordered = at_work.value("%svc_plot -x origin -y delay --sort=-delay")
    assert [text.get_text() for text in ordered.figure.axes[0].get_xticklabels()] == ["JFK", "LGA", "EWR"]
    assert at_work.value("%svc_plot -x hour -y delay --chart scatter").words == "delay against hour · 12 of 13 rows"


def test_a_chart_that_cannot_be_drawn_is_refused(at_work: Any, tap: str) -> None:
    assert "this kernel has no result yet" in str(at_work.error("%svc_plot -x hour"))
    at_work.value(f"%%svc_db -o delays\n{QUERY}")
    at_work.run("late = delays[delays.delay > 5]")
    for line, words in (
        ("late -x hour", "late is not the stored result of a command"),
        ("delay -x hour", "there is no variable delay. Did you mean delays?"),
        ("-x hour --chart bar", "a bar chart needs -y"),
        ("-x hour -y delay --chart histogram", "a histogram is of -x alone"),
        ("-x hour --where 'hour five'", "--where takes 'COLUMN OPERATOR VALUE'"),
    ):
        error = at_work.error(f"%svc_plot {line}")
        assert isinstance(error, SvcUsageError)
        assert words in str(error)
    for line, words in (
        ("-x origin -y delay --chart line", "x: column origin holds text values"),
        ("-x hour -y delays", "y: there is no column 'delays'; there is hour, origin, delay"),
        ("999999 -x hour", "999999"),
    ):
        error = at_work.error(f"%svc_plot {line}")
        assert isinstance(error, SvcMagicError)
        assert words in str(error)


def test_a_result_that_is_too_large_for_the_kernel_is_drawn(at_work: Any, tap: str) -> None:
    at_work.value("%config SvcMagics.load_limit = 1")
    at_work.value(f"%%svc_db -o delays\n{QUERY}")
    assert not hasattr(at_work.shell.user_ns["delays"], "columns")  # it is no DataFrame
    assert at_work.value("%svc_plot delays -x delay").words == "histogram of delay · 12 of 13 rows"


def test_without_matplotlib_it_says_what_to_install(unconnected: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svc_jupyter.magics.plots.find_spec", lambda _name: None)
    assert "%pip install 'svc-jupyter[plot]'" in str(unconnected.error("%svc_plot 1 -x hour"))


def test_a_result_of_the_service_before_is_none_of_this_one(at_work: Any, tap: str, workplace: Any) -> None:
    at_work.value(f"%%svc_db -o delays\n{QUERY}")
    at_work.value(f"%svc_config base_url {workplace.service.base_url}/")
    assert "this kernel has no result yet" in str(at_work.error("%svc_plot -x hour"))
    assert "delays is not the stored result of a command" in str(at_work.error("%svc_plot delays -x hour"))


def test_another_service_makes_no_charts(bare_service: Any, notebook_of: Any) -> None:
    notebook = notebook_of(bare_service)
    notebook.value("%%svc_shell\necho a")
    assert "this service makes no charts" in str(notebook.error("%svc_plot -x line"))


CONDITIONS = {
    " origin = JFK": ["origin", "=", "JFK"],
    "dep delay >= 30": ["dep delay", ">=", "30"],
    "note contains  two  spaces ": ["note", "contains", " two  spaces "],
    "note = ": ["note", "=", ""],
    "gate is_null": ["gate", "is_null", True],
    "gate is_null false": ["gate", "is_null", False],
    '["a = b", "=", "c"]': ["a = b", "=", "c"],
}


def test_a_condition_is_read_from_words_or_json() -> None:
    assert {text: condition(text) for text in CONDITIONS} == CONDITIONS


def points(chart: str, x: str, *points: dict[str, Any], is_cut: bool = False) -> ChartPoints:
    """Points of a column of this type, each of one row."""
    whole = [{"low": point["y"], "high": point["y"], "count": 1, **point} for point in points]
    columns = {"x": {"name": "$\\frac$", "type": x}, "y": {"name": "<b>", "type": "number"}}
    return ChartPoints.model_validate(
        {"chart": chart, **columns, "points": whole, "is_cut": is_cut, "total": len(points)}
    )


def test_times_stand_where_they_are_written() -> None:
    written = ["2026-03-29T02:30:00", "2026-03-29T02:30:00.5Z", "2026-03-29", "10000-01-01", None]
    chart = chart_of_points(points("line", "timestamp", *({"x": text, "y": 1} for text in written)))
    places = chart.figure.axes[0].lines[0].get_xdata()
    assert [dates.num2date(place).isoformat()[:22] for place in places[:3]] == [
        "2026-03-29T02:30:00+00",
        "2026-03-29T02:30:00.50",
        "2026-03-29T00:00:00+00",
    ]
    assert str(places[3:]) == "[nan nan]"
    chart._repr_mimebundle_()


def is_drawn(chart: str, x: str, heights: list[Any]) -> bool:
    value = {"timestamp": "0001-01-01T00:00:00", "number": "9007199254740993", "text": "🦆 $\\frac$\n"}[x]
    data, _ = chart_of_points(points(chart, x, *({"x": value, "y": height} for height in heights)))._repr_mimebundle_()
    return bool(data["image/png"].startswith(b"\x89PNG"))


@pytest.mark.parametrize("chart", ["line", "bar", "scatter"])
def test_every_chart_has_a_picture_of_any_heights(chart: str) -> None:
    heights = ([], ["Infinity"], [None], ["1e308", -1e308], [0])
    assert [whole for whole in heights if not is_drawn(chart, "number", whole)] == []


def test_every_chart_has_a_picture_of_times_and_bars_have_one_of_texts() -> None:
    columns = [("line", "timestamp"), ("scatter", "timestamp"), ("bar", "timestamp"), ("bar", "text")]
    cases = [(*column, heights) for column in columns for heights in ([], [0])]
    assert [case for case in cases if not is_drawn(*case)] == []


def test_bars_of_ranges_are_as_wide_as_these() -> None:
    bars = [{"x": "2026-01-01", "to": "2026-01-03", "y": 1}, {"x": "2026-01-03", "to": "2026-01-05", "y": 2}]
    chart = chart_of_points(points("bar", "date", *bars))
    assert chart.words == "<b> in ranges of $\\frac$ · all 2 rows"
    assert isinstance(chart.figure.axes[0].xaxis.get_major_formatter(), dates.ConciseDateFormatter)
    assert [bar.get_width() for bar in chart.figure.axes[0].patches] == [2, 2]


def test_bars_of_a_few_times_have_their_names() -> None:
    chart = chart_of_points(points("bar", "date", {"x": "2026-01-01", "y": 1, "count": 2}))
    assert [text.get_text() for text in chart.figure.axes[0].get_xticklabels()] == ["2026-01-01"]


def test_bars_of_the_first_values_say_so() -> None:
    bars = [{"x": "JFK", "y": 1}, {"x": "LGA", "y": 2}]
    chart = chart_of_points(points("bar", "text", *bars, is_cut=True))
    assert chart.words == "<b> for the first 2 values of $\\frac$ · all 2 rows"


def test_a_point_of_several_rows_is_one_of_them() -> None:
    chart = chart_of_points(points("scatter", "number", {"x": 1, "y": 1, "count": 2}, {"x": 2, "y": 1}))
    assert chart.figure.axes[0].get_ylabel() == "<b>"


def test_the_page_is_seen_behind_a_picture() -> None:
    data, _ = chart_of_points(points("line", "number", {"x": 1, "y": 1}))._repr_mimebundle_()
    assert imread(io.BytesIO(data["image/png"]))[0, -1, 3] == 0


def test_a_histogram_has_numbers_or_words() -> None:
    column = {"name": "hour", "type": "integer", "count": 3, "nulls": 0, "distinct": 2}
    whole = [{"from": 4, "to": 5, "count": 2}, {"from": 5, "to": 5, "count": 1}]
    chart = chart_of_summary(ColumnSummary.model_validate({**column, "histogram": whole}))
    assert [bar.get_height() for bar in chart.figure.axes[0].patches] == [2, 1]
    assert [text.get_text() for text in chart.figure.axes[0].get_xticklabels()] == ["4", "5"]
    days = [("2026-01-01", "2026-01-02"), ("2026-01-02", "2026-01-03"), ("2026-01-03", "2026-01-03")]
    whole = [{"from": start, "to": end, "count": 1} for start, end in days]
    chart = chart_of_summary(ColumnSummary.model_validate({**column, "type": "date", "histogram": whole}))
    assert [text.get_text() for text in chart.figure.axes[0].get_xticklabels()] == [start for start, _ in days]
    top = [{"value": "JFK", "count": 2}, {"value": None, "count": 1}]
    chart = chart_of_summary(ColumnSummary.model_validate({**column, "type": "text", "top": top}))
    assert chart.words == "the 2 most frequent values of hour · all 3 rows"
    assert [text.get_text() for text in chart.figure.axes[0].get_xticklabels()] == ["JFK", "null"]
