"""Tables in the memory of a program: pandas' DataFrames as Arrow tables, and Arrow tables on disk."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

from .times import notes, readable


def table_of(value: Any) -> pa.Table | None:
    """Return a DataFrame or Series of pandas as a table, None for any other value.

    An index other than the rows' numbers becomes columns; a column with values of several types becomes text.
    """
    pandas: Any = sys.modules.get("pandas")
    if pandas is None or not isinstance(value, (pandas.DataFrame, pandas.Series)):
        return None
    frame: Any = value if isinstance(value, pandas.DataFrame) else value.to_frame()
    if not isinstance(frame.index, pandas.RangeIndex):
        frame = frame.reset_index(allow_duplicates=True)
    columns = [_column(frame.iloc[:, place]) for place in range(frame.shape[1])]
    return pa.Table.from_arrays(columns, names=[str(name) for name in frame.columns])


def _column(values: Any) -> Any:
    try:
        return pa.Array.from_pandas(values)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return pa.array([None if missing else _text(one) for one, missing in zip(values, values.isna(), strict=True)])


def _text(value: Any) -> str:
    return str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def write_table(table: pa.Table, path: Path) -> tuple[pa.Table, list[str]]:
    """Write a table to a file as an Arrow stream; return it as written, and the lines on columns that became text."""
    made = [readable(column.combine_chunks()) for column in table.columns]
    written = pa.Table.from_arrays([column for column, _ in made], names=table.column_names)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, written.schema) as writer:
        writer.write_table(written)
    told = zip(table.column_names, (reason for _, reason in made), strict=True)
    return written, notes({name: reason for name, reason in told if reason is not None})
