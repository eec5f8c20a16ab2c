"""What a column holds: counts, extremes, and a histogram or the most frequent values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svc_jupyter.api.result_forms import shortest
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

if TYPE_CHECKING:
    import pyarrow as pa

_BINS = 20
_TOP = 10
_MOST_COUNTED = 5_000_000
"""Above this many values, the different ones are not counted: each needs memory."""


def summary(values: pa.ChunkedArray[Any], column: Column) -> dict[str, Any]:
    """Return what plain values are, in the form of the API's `ColumnSummary`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    answer: dict[str, Any] = {
        **column.as_json(),
        "count": len(values),
        "nulls": values.null_count,
        "distinct": None,
        "min": None,
        "max": None,
        "mean": None,
        "histogram": None,
        "top": None,
    }
    values = values.drop_null()
    if column.type is ColumnType.NESTED or pa.types.is_interval(values.type) or pa.types.is_duration(values.type):
        return answer
    has_bins = column.type in NUMBERS + MOMENTS
    if not len(values):
        return {**answer, "distinct": 0, "histogram" if has_bins else "top": []}
    if len(values) <= _MOST_COUNTED:
        answer["distinct"] = pc.count_distinct(values).as_py()
    if column.type is not ColumnType.BINARY:
        least, most = pc.min_max(values).values()
        answer["min"], answer["max"] = (_shown(value, column) for value in (least, most))
    if column.type in NUMBERS:
        numbers = values.cast(pa.float64(), safe=False)
        (mean,) = _as_printed([pc.mean(numbers).as_py()], values.type)
        answer["mean"] = json_number(mean)
    if column.type is ColumnType.INTEGER or column.type in MOMENTS:
        answer["histogram"] = _of_whole_numbers(values, column)
    elif has_bins:
        answer["histogram"] = _of_fractions(numbers, values.type)
    elif answer["distinct"] is not None:
        answer["top"] = _top(values, column)
    return answer


def _of_whole_numbers(values: pa.ChunkedArray[Any], column: Column) -> list[dict[str, Any]]:
    """Return the bins of integers or moments, whose ends are exact; a bin for each number if those are few."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = ticks_of(values) if column.type in MOMENTS else values
    least, most = (end.as_py() for end in pc.min_max(numbers).values())
    bins = min(_BINS, most - least + 1)
    starts = [least + (most - least + 1) * number // bins for number in range(bins)]
    counts = _counts(numbers, np.array(starts[1:], numbers.type.to_pandas_dtype()), bins)
    ends: Any = pa.array([*starts, most], numbers.type)
    shown = json_values(moments_of(ends, values.type) if column.type in MOMENTS else ends, range(bins + 1), column)
    return [_bin(shown[at], shown[at + 1], counts[at]) for at in range(bins)]


def _of_fractions(numbers: pa.ChunkedArray[Any], kind: pa.DataType) -> list[dict[str, Any]]:
    """Return the bins of the finite numbers of a column of floats or decimals."""
    import numpy as np
    import pyarrow.compute as pc

    numbers = numbers.filter(pc.is_finite(numbers))
    if not len(numbers):
        return []
    least, most = _as_printed([end.as_py() for end in pc.min_max(numbers).values()], kind)
    if most == least:
        return [_bin(least, most, len(numbers))]
    # Halves: the difference of the extremes may exceed a number's range.
    ends = np.linspace(least / 2, most / 2, _BINS + 1) * 2
    counts = _counts(numbers, ends[1:-1], _BINS)
    return [_bin(float(ends[at]), float(ends[at + 1]), counts[at]) for at in range(_BINS)]


def _counts(numbers: pa.ChunkedArray[Any], inner: Any, bins: int) -> Any:
    """Return how many of the numbers are in each bin; `inner` has the starts of all but the first."""
    import numpy as np

    counts = np.zeros(bins, np.int64)
    for part in numbers.chunks:
        counts += np.bincount(np.searchsorted(inner, part.to_numpy(), side="right"), minlength=bins)
    return counts


def _as_printed(numbers: list[float], kind: pa.DataType) -> list[float]:
    """Return numbers of a column of 32-bit floats as those print: 0.1; other numbers as they are."""
    import pyarrow as pa

    return shortest(pa.array(numbers, kind)).to_pylist() if pa.types.is_float32(kind) else numbers


def _bin(start: Any, end: Any, count: Any) -> dict[str, Any]:
    return {"from": start, "to": end, "count": int(count)}


def _top(values: pa.ChunkedArray[Any], column: Column) -> list[dict[str, Any]]:
    """Return the most frequent values, of equally frequent ones the first."""
    import pyarrow.compute as pc

    counted = pc.value_counts(values)
    order = pc.sort_indices(counted.field("counts"), sort_keys=[("", "descending")])[:_TOP].to_numpy()
    shown = json_values(counted.field("values"), order.tolist(), column)
    counts = counted.field("counts").take(order).to_pylist()
    return [{"value": value, "count": count} for value, count in zip(shown, counts, strict=True)]


def _shown(value: pa.Scalar[Any], column: Column) -> Any:
    import pyarrow as pa

    values: Any = pa.repeat(value, 1)  # type: ignore[call-overload]
    return json_values(values, [0], column)[0]
