"""The points of a chart of two columns: every row counts, however few points a chart has room for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from svc_jupyter.service.commands.row_views.columns import (
    MOMENTS,
    NUMBERS,
    Column,
    ColumnType,
    json_number,
    json_values,
    moments_of,
    ticks_of,
)
from svc_jupyter.service.commands.row_views.job import Chart, Refused

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]

LINE_POINTS = 400
BARS = 50
PLACES = (120, 60)
"""Places across and up that a scatter chart can distinguish."""

Parts = Callable[[], Iterable[Sequence["pa.Array[Any]"]]]
"""Begins to read the plain values of the two columns, some rows at a time."""


def is_measure(column: Column) -> bool:
    """Return whether the values of a column have places on an axis."""
    return column.type in NUMBERS + MOMENTS


def points(parts: Parts, x: Column, y: Column, chart: Chart) -> tuple[list[dict[str, Any]], bool]:
    """Return points of the form of the API's `ChartPoint`, and whether x has more values than there are bars.

    The points of a line or of ranges go from the least x to the largest.

    Raises `Refused` for columns that such a chart cannot show.
    """
    if y.type not in NUMBERS:
        raise Refused(f"y: column {y.name} holds {y.type} values; a chart needs numbers there")
    if x.type is ColumnType.NESTED:
        raise Refused(f"x: column {x.name} holds nested values, which have no place on an axis")
    if chart is not Chart.BAR and not is_measure(x):
        raise Refused(f"x: column {x.name} holds {x.type} values; a {chart} needs numbers or times there")
    if chart is Chart.SCATTER:
        return _scattered(parts, x, y), False
    most = BARS if chart is Chart.BAR else LINE_POINTS
    values = _first_values(parts, x, most)
    if not is_measure(x) or len(values) <= most:
        return _of_values(parts, values[:most], x), len(values) > most
    return _of_ranges(parts, x, most, as_ranges=chart is Chart.BAR), False


def _first_values(parts: Parts, x: Column, most: int) -> pa.Array[Any]:
    """Return the different values, in the order in which they come, and no more than tells that they exceed `most`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known: Any = None
    for values, _ in parts():
        found: Any = pc.unique(values)
        if is_measure(x):
            found = found.drop_null()
        if x.type is ColumnType.NUMBER:
            found = found.filter(pc.is_finite(found))
        if known is not None:
            found = pa.concat_arrays([known, found.filter(pc.invert(pc.is_in(found, value_set=known)))])
        known = found[: most + 1]
        if len(known) > most:
            break
    return pa.array([], x.arrow_type) if known is None else known


def _of_values(parts: Parts, known: pa.Array[Any], x: Column) -> list[dict[str, Any]]:
    """Return a point for each of these values of x."""
    import pyarrow.compute as pc

    if is_measure(x):
        known = known.take(pc.array_sort_indices(known))
    sums = _Sums(len(known))
    for values, heights in parts():
        places = pc.index_in(values, value_set=known)
        is_known = places.is_valid().to_numpy(zero_copy_only=False)
        sums.add(places.drop_null().to_numpy().astype("int64"), _numbers(heights)[is_known])
    names = json_values(known, range(len(known)), x)
    return [{"x": name, **sums.at(place)} for place, name in enumerate(names)]


def _of_ranges(parts: Parts, x: Column, most: int, *, as_ranges: bool) -> list[dict[str, Any]]:
    """Return a point for each of some ranges of x that are equally wide and have rows.

    It stands in the middle of its rows or, with `as_ranges`, for the whole range.
    """
    import numpy as np

    scale = _Scale(parts, 0, most)
    sums = _Sums(most)
    shares: Numbers = np.zeros(most)
    for values, heights in parts():
        numbers = _numbers(values)
        is_placed = ~np.isnan(numbers)
        places, share = scale.places(numbers[is_placed])
        sums.add(places, _numbers(heights)[is_placed])
        shares += np.bincount(places, share, most)
    found = np.flatnonzero(sums.rows)
    if not as_ranges:
        middles = _written(scale.values(shares[found] / sums.rows[found]), x)
        return [{"x": middle, **sums.at(place)} for middle, place in zip(middles, found.tolist(), strict=True)]
    edges = _written(scale.values(np.arange(most + 1) / most), x)
    return [{"x": edges[place], "to": edges[place + 1], **sums.at(place)} for place in found.tolist()]


def _scattered(parts: Parts, x: Column, y: Column) -> list[dict[str, Any]]:
    """Return the first row of each place that has rows."""
    import numpy as np

    across, up = PLACES
    scales = _Scale(parts, 0, across), _Scale(parts, 1, up)
    counts: Places = np.zeros(across * up, np.int64)
    firsts: Numbers = np.full((2, across * up), np.nan)
    for values, heights in parts():
        both = np.stack([_numbers(values), _numbers(heights)])
        both = both[:, ~np.isnan(both).any(axis=0)]
        places = scales[0].places(both[0])[0] * up + scales[1].places(both[1])[0]
        fresh, first = np.unique(places, return_index=True)
        is_new = counts[fresh] == 0
        firsts[:, fresh[is_new]] = both[:, first[is_new]]
        counts += np.bincount(places, minlength=across * up)
    found = np.flatnonzero(counts)
    shown = zip(_written(firsts[0, found], x), _written(firsts[1, found], y), counts[found], strict=True)
    return [{"x": value, "y": height, "count": int(count)} for value, height, count in shown]


class _Scale:
    """Equal steps from the least value of a column, at 0, to the largest one, at 1."""

    def __init__(self, parts: Parts, column: int, steps: int) -> None:
        import numpy as np

        self._least, self._most, self._steps = math.inf, -math.inf, steps
        for part in parts():
            numbers = _numbers(part[column])
            if not np.isnan(numbers).all():
                self._least = min(self._least, float(np.nanmin(numbers)))
                self._most = max(self._most, float(np.nanmax(numbers)))

    def places(self, numbers: Numbers) -> tuple[Places, Numbers]:
        """Return the step of each number, and its share of the whole way."""
        # Halves: the difference of the extremes may exceed a number's range.
        half = self._most / 2 - self._least / 2
        shares = (numbers / 2 - self._least / 2) / (half or 1)
        return (shares * self._steps).astype("int64").clip(0, self._steps - 1), shares

    def values(self, shares: Numbers) -> Numbers:
        """Return the numbers at some shares of the way."""
        return self._least * (1 - shares) + self._most * shares


class _Sums:
    """What the rows at each place add up to."""

    def __init__(self, size: int) -> None:
        import numpy as np

        self.rows: Places = np.zeros(size, np.int64)
        self._counts: Places = np.zeros(size, np.int64)
        self._sums: Numbers = np.zeros(size)
        self._low: Numbers = np.full(size, np.inf)
        self._high: Numbers = np.full(size, -np.inf)

    def add(self, places: Places, heights: Numbers) -> None:
        """Add rows, whose height is NaN where they have none."""
        import numpy as np

        size = len(self.rows)
        self.rows += np.bincount(places, minlength=size)
        is_high = ~np.isnan(heights)
        places, heights = places[is_high], heights[is_high]
        self._counts += np.bincount(places, minlength=size)
        self._sums += np.bincount(places, heights, size)
        np.minimum.at(self._low, places, heights)
        np.maximum.at(self._high, places, heights)

    def at(self, place: int) -> dict[str, Any]:
        """Return the mean height of the rows at a place, the extremes, and how many have one."""
        count = int(self._counts[place])
        if not count:
            return {"y": None, "low": None, "high": None, "count": 0}
        heights = (self._sums[place] / count, self._low[place], self._high[place])
        mean, low, high = (json_number(float(height)) for height in heights)
        return {"y": mean, "low": low, "high": high, "count": count}


def _numbers(values: pa.Array[Any]) -> Numbers:
    """Return plain values as numbers, NaN where there is none."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_temporal(values.type):
        values = ticks_of(values)
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _written(numbers: Numbers, column: Column) -> list[Any]:
    """Return numbers of `_numbers` as JSON holds values of the column."""
    import pyarrow as pa

    if column.type in MOMENTS:
        moments = moments_of(pa.array(numbers.round().astype("int64")), column.arrow_type)
        return json_values(moments, range(len(numbers)), column)
    return [json_number(number) for number in numbers.tolist()]
