"""Tables in the memory of a program, as results."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from svc_jupyter.service.runtimes.spark.driver.tables import table_of, write_table

TWO = pd.Index([3, 7], name="at")


FRAMES: list[tuple[Any, list[str], list[Any]]] = [
    (pd.DataFrame({"n": [1, 2], 7: ["x", None]}), ["n", "7"], [(1, "x"), (2, None)]),
    (pd.DataFrame({"n": [1, None]}, dtype="Int64"), ["n"], [(1,), (None,)]),
    (pd.DataFrame({"f": [0.5, np.nan]}), ["f"], [(0.5,), (None,)]),
    (
        pd.DataFrame({"mixed": [1, "x", None, date(2020, 1, 31)]}),
        ["mixed"],
        [("1",), ("x",), (None,), ("2020-01-31",)],
    ),
    (
        pd.DataFrame(
            {"t": ["a\ud800", None], "d": [Decimal("Infinity"), Decimal("1.5")], "n": [2**70, 1]}, dtype="object"
        ),
        ["t", "d", "n"],
        [("a\N{REPLACEMENT CHARACTER}", "Infinity", str(2**70)), (None, "1.5", "1")],
    ),
    (
        pd.DataFrame({"d": [date(2020, 1, 31)], "p": [Decimal("1.50")]}),
        ["d", "p"],
        [(date(2020, 1, 31), Decimal("1.50"))],
    ),
    (
        pd.DataFrame({"t": pd.to_datetime(["2020-01-31T01:00+01:00"], utc=True)}),
        ["t"],
        [(datetime(2020, 1, 31, tzinfo=UTC),)],
    ),
    (
        pd.DataFrame({"l": [[1, 2], None], "s": [{"a": 1}, {"a": 2}]}),
        ["l", "s"],
        [([1, 2], {"a": 1}), (None, {"a": 2})],
    ),
    (pd.DataFrame({"n": [1, 2]}, index=TWO), ["at", "n"], [(3, 1), (7, 2)]),
    (pd.DataFrame({"n": [1]}, index=["a"]), ["index", "n"], [("a", 1)]),
    (pd.DataFrame({"at": [1, 2]}, index=TWO), ["at", "at"], [(3, 1), (7, 2)]),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), ["a", "a"], [(1, 2)]),
    (pd.Series([1, 2], index=TWO, name="n"), ["at", "n"], [(3, 1), (7, 2)]),
    (pd.Series([1]), ["0"], [(1,)]),
    (pd.DataFrame({"n": pd.Series([], dtype="int64")}), ["n"], []),
    (
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])),
        ["('a', 'x')", "('a', 'y')"],
        [(1, 2)],
    ),
]


def test_a_frame_of_pandas_is_a_table() -> None:
    def read(value: Any) -> tuple[list[str], list[Any]]:
        table = table_of(value)
        assert table is not None
        return table.column_names, list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    assert [read(value) for value, _, _ in FRAMES] == [(names, rows) for _, names, rows in FRAMES]


def test_other_values_are_none() -> None:
    values = (None, 1, "x", [1], np.array([1]), pd.Timestamp("2020-01-31"), pd.Index([1]))
    assert [value for value in values if table_of(value) is not None] == []


def test_a_table_is_written_with_marks_for_bytes_that_are_not_utf_8(tmp_path: Path) -> None:
    odd: Any = pa.array([b"\xffA"]).view(pa.string())
    written, told = write_table(pa.table({"t": odd, "n": [1]}), tmp_path / "rows")
    assert written.to_pylist() == [{"t": "\N{REPLACEMENT CHARACTER}A", "n": 1}]
    assert told == ["column t is text: bytes that are not UTF-8 stand as U+FFFD"]


def test_a_table_is_written_with_text_for_times_that_python_does_not_have(tmp_path: Path) -> None:
    far = pa.array([2_932_897], pa.int32()).cast(pa.date32())
    written, told = write_table(pa.table({"d": far, "n": [1]}), tmp_path / "rows")
    assert pa.ipc.open_stream((tmp_path / "rows").read_bytes()).read_all() == written
    assert written.to_pylist() == [{"d": "+10000-01-01", "n": 1}]
    assert told == ["column d is text: not all times are within the years 1 to 9999 and a day's 24 hours"]
