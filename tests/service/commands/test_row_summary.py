"""What a column holds, type by type: counts, extremes, and a histogram or the most frequent values."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from svc_jupyter.api.result_rows import ColumnSummary
from svc_jupyter.service.commands.row_views import summary as summaries
from svc_jupyter.service.commands.row_views.columns import columns_of
from svc_jupyter.service.commands.row_views.summary import summary

LARGE = 2**60
"""Floats beside it stand 256 apart."""
FEW = 3
"""Values that are counted one by one, where a test has so few."""


def summary_of(values: Sequence[Any], kind: pa.DataType) -> dict[str, Any]:
    """Return what a column of two chunks holds, less its name and its type."""
    (column,) = columns_of(pa.schema([pa.field("c", kind)]))
    chunks: Any = [pa.array(values[:1], kind), pa.array(values[1:], kind)]
    found = summary(pa.chunked_array(chunks, kind), column)
    ColumnSummary.model_validate(found)
    return {name: value for name, value in found.items() if name not in ("name", "type")}


def bins(*parts: tuple[Any, Any, int]) -> list[dict[str, Any]]:
    return [{"from": start, "to": end, "count": count} for start, end, count in parts]


def tops(*parts: tuple[Any, int]) -> list[dict[str, Any]]:
    return [{"value": value, "count": count} for value, count in parts]


SUMMARIES: dict[str, tuple[pa.DataType, list[Any], dict[str, Any]]] = {
    "integers": (
        pa.int8(),
        [127, 125, None, 125],
        {"distinct": 2, "min": 125, "max": 127, "mean": 377 / 3}
        | {"histogram": bins((125, 126, 2), (126, 127, 0), (127, 127, 1))},
    ),
    "integers that a float does not hold": (
        pa.int64(),
        [LARGE, LARGE + 1, LARGE + 1],
        {"distinct": 2, "min": str(LARGE), "max": str(LARGE + 1), "mean": float(LARGE)}
        | {"histogram": bins((str(LARGE), str(LARGE + 1), 1), (str(LARGE + 1), str(LARGE + 1), 2))},
    ),
    "the largest integer": (
        pa.uint64(),
        [2**64 - 1],
        {"distinct": 1, "min": str(2**64 - 1), "max": str(2**64 - 1), "mean": 2.0**64}
        | {"histogram": bins((str(2**64 - 1), str(2**64 - 1), 1))},
    ),
    "numbers that are none": (
        pa.float64(),
        [1.5, float("nan"), float("inf")],
        {"distinct": 3, "min": 1.5, "max": "Infinity", "mean": "NaN", "histogram": bins((1.5, 1.5, 1))},
    ),
    "floats of 32 bits": (
        pa.float32(),
        [0.1, 0.1],
        {"distinct": 1, "min": 0.1, "max": 0.1, "mean": 0.1, "histogram": bins((0.1, 0.1, 2))},
    ),
    "decimals": (
        pa.decimal128(4, 2),
        [Decimal("1.10"), Decimal("1.10")],
        {"distinct": 1, "min": "1.10", "max": "1.10", "mean": 1.1, "histogram": bins((1.1, 1.1, 2))},
    ),
    "dates": (
        pa.date32(),
        [date(1492, 10, 12), date(1492, 10, 13)],
        {"distinct": 2, "min": "1492-10-12", "max": "1492-10-13"}
        | {"histogram": bins(("1492-10-12", "1492-10-13", 1), ("1492-10-13", "1492-10-13", 1))},
    ),
    "times with a zone": (
        pa.timestamp("s", "Europe/Berlin"),
        [datetime(2026, 1, 1, 12, tzinfo=UTC)],
        {"distinct": 1, "min": "2026-01-01T12:00:00Z", "max": "2026-01-01T12:00:00Z"}
        | {"histogram": bins(("2026-01-01T12:00:00Z", "2026-01-01T12:00:00Z", 1))},
    ),
    "times of day": (
        pa.time64("us"),
        [time(9), time(8), time(8)],
        {"distinct": 2, "min": "08:00:00", "max": "09:00:00", "top": tops(("08:00:00", 2), ("09:00:00", 1))},
    ),
    "texts": (
        pa.string(),
        ["b", "a", None, "a"],
        {"distinct": 2, "min": "a", "max": "b", "top": tops(("a", 2), ("b", 1))},
    ),
    "booleans": (
        pa.bool_(),
        [True, False, True],
        {"distinct": 2, "min": False, "max": True, "top": tops((True, 2), (False, 1))},
    ),
    "binary": (pa.binary(), [b"a", b"b", b"b"], {"distinct": 2, "top": tops(("62", 2), ("61", 1))}),
    "lists": (pa.list_(pa.int64()), [[1], None], {}),
    "durations": (pa.duration("s"), [1, 2], {}),
    "no integers": (pa.int64(), [None], {"distinct": 0, "histogram": []}),
    "no dates": (pa.date32(), [None], {"distinct": 0, "histogram": []}),
    "no texts": (pa.string(), [None], {"distinct": 0, "top": []}),
    "nothing": (pa.null(), [None, None], {"distinct": 0, "top": []}),
}


@pytest.mark.parametrize(("kind", "values", "expected"), SUMMARIES.values(), ids=SUMMARIES)
def test_what_a_type_does_not_have_is_null(kind: pa.DataType, values: list[Any], expected: dict[str, Any]) -> None:
    none = dict.fromkeys(("distinct", "min", "max", "mean", "histogram", "top"))
    counts = {"count": len(values), "nulls": values.count(None)}
    assert summary_of(values, kind) == none | counts | expected


def test_the_bins_of_many_integers_are_whole_and_equally_wide() -> None:
    histogram = summary_of(list(range(100)), pa.int64())["histogram"]
    assert histogram == bins(*((start, start + 5, 5) for start in range(0, 95, 5)), (95, 99, 5))


def test_the_bins_of_other_numbers_go_from_the_least_to_the_largest() -> None:
    histogram = summary_of([-1e308, 1e308, 1e308, 0.0], pa.float64())["histogram"]
    assert [part["count"] for part in histogram] == [1, *[0] * 9, 1, *[0] * 8, 2]
    assert (histogram[0]["from"], histogram[-1]["to"]) == (-1e308, 1e308)
    histogram = summary_of([0.1, 0.7], pa.float32())["histogram"]
    assert [part["count"] for part in histogram] == [1, *[0] * 18, 1]
    assert (histogram[0]["from"], histogram[-1]["to"]) == (0.1, 0.7)


def test_too_many_values_are_not_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "_MOST_COUNTED", FEW)
    assert summary_of(["a"] * FEW, pa.string())["top"] == tops(("a", FEW))
    found = summary_of(["a"] * (FEW + 1), pa.string())
    assert (found["distinct"], found["top"], found["max"]) == (None, None, "a")
    found = summary_of([7] * (FEW + 1), pa.int64())
    assert (found["distinct"], found["histogram"]) == (None, bins((7, 7, FEW + 1)))
