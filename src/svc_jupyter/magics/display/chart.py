"""A chart of a result as a picture, which a saved notebook keeps and both themes can show."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.display.values import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svc_jupyter.api.result_rows import ChartPoint, ChartPoints, ColumnSummary, RowColumn

_SIZE = (8.0, 3.2)
"""Width and height in inches."""
_DPI = 72
_PIXELS = 2
"""Pixels of the picture for each of the page: sharp on a dense screen."""
_COLOUR, _INK = "#4c78a8", "#808080"
"""The ink is grey: read on a light page and on a dark one."""
_FEW_POINTS = 30
_UPRIGHT_BARS = 12
_LONGEST_NAME = 20
_MEASURES = ("integer", "number", "decimal")
_MOMENTS = ("timestamp", "date")
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""The days of the years 1 and 9999, counted from 1970, which an axis of matplotlib's ends with."""
_LARGEST = 1e300
"""A larger number has no place: the axis is longer than its numbers, and may not exceed a float."""
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d(?:T[\d:.]+)?)Z?")


class Chart:
    """A chart of a result: a picture in a notebook, and matplotlib's `figure` to be changed and saved."""

    def __init__(self, figure: Figure, words: str) -> None:
        self.figure = figure
        self.words = words

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, **_chosen: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the picture, at its size on the page."""
        picture = io.BytesIO()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a box stands for a letter that the font lacks
            self.figure.savefig(picture, format="png", dpi=_DPI * _PIXELS, transparent=True)
        width, height = (round(inches * _DPI) for inches in self.figure.get_size_inches())
        data = {"image/png": picture.getvalue(), "text/plain": self.words}
        return data, {"image/png": {"width": width, "height": height}}


def chart_of_points(found: ChartPoints) -> Chart:
    """Return a line, bar or scatter chart."""
    points, x, y = found.points, found.x, found.y
    is_mean = found.chart != "scatter" and any(point.count > 1 for point in points)
    up = f"mean of {y.name}" if is_mean else y.name
    figure, axes = _figure(x.name, up)
    heights = [_number(point.y) for point in points]
    if found.chart == "bar":
        what = _bars(axes, found, heights, up)
    elif found.chart == "line":
        what = f"{up} over {x.name}"
        places = [_place(point.x, x) for point in points]
        axes.plot(places, heights, color=_COLOUR, marker="." if len(points) <= _FEW_POINTS else "")
        if is_mean:
            low, high = ([_number(getattr(point, edge)) for point in points] for edge in ("low", "high"))
            axes.fill_between(places, low, high, color=_COLOUR, alpha=0.4, linewidth=0)
            what += ", in a band from the least to the largest"
    else:
        what = f"{up} against {x.name}"
        axes.scatter(
            [_place(point.x, x) for point in points],
            heights,
            s=8,
            c=[(_COLOUR, min(1.0, 0.6 + 0.1 * math.log10(point.count))) for point in points],
        )
    if x.type in _MOMENTS and (found.chart != "bar" or _is_of_ranges(points)):
        _dated(axes)
    return _finished(figure, what, sum(point.count for point in points), found.total)


def chart_of_summary(found: ColumnSummary) -> Chart:
    """Return a histogram, or bars of the most frequent values."""
    x = found
    figure, axes = _figure(x.name, "rows")
    if found.histogram:
        heights = [part.count for part in found.histogram]
        if found.histogram[-1].start == found.histogram[-1].to:  # then each bin is a single number or day
            _named_bars(axes, [part.start for part in found.histogram], heights)
        else:
            _ranges(axes, [(_place(part.start, x), _place(part.to, x)) for part in found.histogram], heights)
            if x.type in _MOMENTS:
                _dated(axes)
        what = f"histogram of {x.name}"
    else:
        top = found.top or []
        heights = [part.count for part in top]
        _named_bars(axes, [part.value for part in top], heights)
        what = f"the {len(heights)} most frequent values of {x.name}"
    return _finished(figure, what, sum(heights), found.count)


def _bars(axes: Axes, found: ChartPoints, heights: Sequence[float], up: str) -> str:
    points, x = found.points, found.x
    if _is_of_ranges(points):
        _ranges(axes, [(_place(point.x, x), _place(point.to, x)) for point in points], heights)
        return f"{up} in ranges of {x.name}"
    _named_bars(axes, [point.x for point in points], heights)
    return f"{up} for the first {len(points)} values of {x.name}" if found.is_cut else f"{up} for each {x.name}"


def _is_of_ranges(points: Sequence[ChartPoint]) -> bool:
    return any(point.to is not None for point in points)


def _ranges(axes: Axes, edges: Sequence[tuple[float, float]], heights: Sequence[float]) -> None:
    starts, widths = [start for start, _ in edges], [end - start for start, end in edges]
    axes.bar(starts, heights, widths, align="edge", color=_COLOUR, edgecolor=_INK, linewidth=0.3)


def _named_bars(axes: Axes, values: Sequence[Any], heights: Sequence[float]) -> None:
    axes.bar(range(len(values)), heights, color=_COLOUR)
    names = ["null" if value is None else one_line(str(value), _LONGEST_NAME) for value in values]
    slope: dict[str, Any] = {} if len(names) <= _UPRIGHT_BARS else {"rotation": 45, "ha": "right"}
    axes.set_xticks(range(len(names)), names, parse_math=False, **slope)


def _figure(across: str, up: str) -> tuple[Figure, Axes]:
    """Return a picture with empty axes; of pyplot, which shows each figure by itself, nothing is used."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    # Names are no formulas, whatever dollars they have.
    axes.set_xlabel(across, color=_INK, parse_math=False)
    axes.set_ylabel(up, color=_INK, parse_math=False)
    axes.tick_params(colors=_INK)
    axes.spines[:].set_color(_INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, axis="y", color=_INK, alpha=0.3)
    axes.set_axisbelow(True)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:,.10g}"))
    return figure, axes


def _dated(axes: Axes) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    low, high = axes.get_xlim()
    axes.set_xlim(max(low, _FIRST_DAY), min(high, _LAST_DAY))
    axes.xaxis.get_offset_text().set_color(_INK)


def _finished(figure: Figure, what: str, drawn: int, total: int) -> Chart:
    """Return the chart with its first line: what it shows, and of how many rows."""
    rows = "1 row" if total == 1 else f"all {total:,} rows"
    words = f"{what} · {rows if drawn == total else f'{drawn:,} of {total:,} rows'}"
    figure.suptitle(words, color=_INK, fontsize="medium", x=0.01, ha="left", parse_math=False)
    return Chart(figure, words)


def _place(value: Any, column: RowColumn | ColumnSummary) -> float:
    """Return where a number or a time stands; NaN where the axis has no place for it."""
    if column.type in _MEASURES:
        return _number(value)
    moment = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if moment is None:
        return math.nan
    from matplotlib.dates import date2num

    return float(date2num(datetime.fromisoformat(moment[1])))  # type: ignore[no-untyped-call]


def _number(value: float | str | None) -> float:
    number = math.nan if value is None else float(value)
    return number if abs(number) <= _LARGEST else math.nan
