"""What a column holds: counts, extremes, and a histogram or the most frequent values."""

from __future__ import annotations

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

if TYPE_CHECKING:
    import pyarrow as pa

_BINS = 20
_TOP = 10
_MOST_COUNTED = 5_000_000
"""Above this many values, the different ones are not counted: each needs memory."""


def statistics(values: pa.ChunkedArray[Any], column: Column) -> dict[str, Any]:
    """Return the statistics of plain values, which has the form of the API's `ColumnStatistics`."""
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
        "histogram": [],
        "top": [],
    }
    values = values.drop_null()
    if column.type is ColumnType.NESTED or pa.types.is_interval(values.type) or pa.types.is_duration(values.type):
        return answer
    if len(values) > _MOST_COUNTED or not len(values):
        answer["distinct"] = None if len(values) else 0
    else:
        answer["distinct"] = pc.count_distinct(values).as_py()
    if not len(values):
        return answer
    if column.type is not ColumnType.BINARY:
        least, most = pc.min_max(values).values()
        answer["min"], answer["max"] = (_shown(value, column) for value in (least, most))
    if column.type in NUMBERS:
        numbers = values.cast(pa.float64(), safe=False)
        answer["mean"] = json_number(pc.mean(numbers).as_py())
        answer["histogram"] = _of_numbers(numbers.to_numpy(), column)
    elif column.type in MOMENTS:
        answer["histogram"] = _of_moments(values, column)
    elif answer["distinct"] is not None:
        answer["top"] = _top(values, column)
    return answer


def _of_numbers(numbers: Any, column: Column) -> list[dict[str, Any]]:
    import numpy as np

    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return []
    least, most = float(numbers.min()), float(numbers.max())
    if column.type is ColumnType.INTEGER and most - least < _BINS:
        edges = np.arange(least, most + 2)
        counts, _ = np.histogram(numbers, edges)
        return [_bin(int(low), int(low), count) for low, count in zip(edges[:-1], counts, strict=True)]
    # Halves: the difference of the extremes may exceed a number's range.
    edges = (np.linspace(least / 2, most / 2, (_BINS if most > least else 1) + 1)) * 2
    if most == least:
        return [_bin(least, most, len(numbers))]
    places = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, _BINS - 1)
    counts = np.bincount(places, minlength=_BINS)
    return [_bin(float(edges[at]), float(edges[at + 1]), counts[at]) for at in range(_BINS)]


def _of_moments(values: pa.ChunkedArray[Any], column: Column) -> list[dict[str, Any]]:
    import numpy as np
    import pyarrow as pa

    numbers = ticks_of(values).to_numpy()
    least, most = int(numbers.min()), int(numbers.max())
    bins = min(_BINS, most - least + 1)
    edges = [least + (most - least + 1) * number // bins for number in range(bins + 1)]
    counts = np.bincount(np.searchsorted(np.array(edges[1:-1], np.int64), numbers, side="right"), minlength=bins)
    ends = [*edges[:-1], most]
    texts = json_values(moments_of(pa.array(ends, pa.int64()), values.type), range(len(ends)), column)
    return [_bin(texts[at], texts[at + 1], counts[at]) for at in range(bins)]


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
