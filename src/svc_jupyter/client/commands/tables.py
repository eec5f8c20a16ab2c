"""Convert lines, tab-separated text and Arrow streams to Arrow tables and DataFrames.

pandas and pyarrow are imported when a function runs. `split_blocks` does not help (4.0 instead of 3.7 ms for a million
rows) and leaves single-batch frames read-only.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from svc_jupyter.api import paths
from svc_jupyter.api.result_forms import csv_batch, csv_schema, field_text, parquet_batch, parquet_schema, shortest
from svc_jupyter.client.errors import UnexpectedAnswer

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Dtypes = Literal["nullable", "numpy"]
"""What a column of integers or booleans with a NULL becomes: `Int64` and `boolean`, or floats and objects."""
LINE_COLUMN = "line"
"""The column of a text result."""
ROW_END = "\r\n"
FORMATS: Mapping[str, str] = {"arrow": paths.ARROW_STREAM, "parquet": paths.PARQUET, "csv": paths.CSV}
"""Formats of a saved result and their media types; `text` is the inline form."""
_NULLS = frozenset({"NULL", "\\N"})
_DECIMAL = re.compile(r"(?:decimal|numeric|decimal128)\((\d+), ?(\d+)\)")
_INTEGERS = frozenset(
    {
        *("tinyint", "smallint", "int", "integer", "bigint", "serial", "bigserial", "int2", "int4"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    }
)
_FLOATS = frozenset({"float", "float4", "float8", "real", "double", "double precision", "halffloat"})
_DECIMALS = frozenset({"decimal", "numeric", "number"})
"""Names of types of exact numbers; not each comes with its digits."""
_TIMESTAMPS = ("timestamp", "datetime")
_TRUE, _FALSE = frozenset({"true", "t", "1", "yes"}), frozenset({"false", "f", "0", "no"})


def lines_of(text: str) -> list[str]:
    """Return the rows of an inline result: each ends with CRLF, which the last one may lack."""
    lines = text.split(ROW_END)
    if not lines[-1]:
        lines.pop()
    return lines


def lines_table(lines: list[str]) -> pa.Table:
    """Return lines of text as a table of one column, `line`."""
    import pyarrow as pa

    return pa.table({LINE_COLUMN: pa.array(lines, pa.string())})


def lines_frame(lines: list[str]) -> pd.DataFrame:
    """Return lines of text as a DataFrame; for a few lines this takes a third of the time of the Arrow path."""
    import pandas as pd

    return pd.DataFrame({LINE_COLUMN: pd.Series(lines, dtype="str")})


def frame(table: pa.Table, dtypes: Dtypes = "nullable") -> pd.DataFrame:
    """Return an Arrow table as a DataFrame.

    With "nullable", a column of integers or booleans with a NULL gets pandas' `Int64`, `UInt8`, `boolean` and so on;
    integers beside a NULL in arrays, maps and structs are Python's. With "numpy", such integers become floats, which
    hold no more than 15 digits of them, and such booleans objects.

    Within arrays, maps and structs, instants have their zone, and times in nanoseconds are pandas'; an array beside the
    latter is a list.
    """
    import pyarrow as pa

    is_nullable = dtypes == "nullable"
    own = {place: made for place, column in enumerate(table.columns) if (made := _own(column, is_nullable)) is not None}
    for place in own:  # by position: names may be equal
        table = table.set_column(place, table.field(place).name, pa.nulls(len(table)))
    result: pd.DataFrame = table.to_pandas(integer_object_nulls=is_nullable)
    for place, values in own.items():
        result.isetitem(place, values.array)
    return result


def growth(table: pa.Table, dtypes: Dtypes) -> float:
    """Return how many times as many bytes the rows take as a DataFrame; 1 without rows."""
    import pandas as pd

    if not table.nbytes:
        return 1.0
    rows = frame(table, dtypes)
    held: float = rows.memory_usage(index=False).sum()
    for place, kind in enumerate(rows.dtypes):
        if pd.api.types.is_object_dtype(kind):
            held += sum(_held(value) for value in rows.iloc[:, place])
    return held / table.nbytes


def _held(value: Any) -> int:
    """Return the bytes of a Python object with its parts."""
    parts: Iterable[Any] = ()
    if isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, list | tuple) or str(getattr(value, "dtype", "")) == "object":
        parts = value
    return sys.getsizeof(value) + sum(map(_held, parts))


def polars_frame(table: pa.Table) -> Any:
    """Return an Arrow table as a polars DataFrame. Raises ModuleNotFoundError, which says what to install."""
    try:
        polars = import_module("polars")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("to_polars needs the package polars: pip install polars", name=error.name) from None
    return polars.from_arrow(table)


def _own(column: pa.ChunkedArray[Any], is_nullable: bool) -> pd.Series[Any] | None:
    """Return the values of a column that pyarrow would change on its way to pandas; None for any other."""
    import pandas as pd
    import pyarrow as pa

    kind = column.type
    made: pd.Series[Any] | None = None
    if pa.types.is_nested(kind):
        times = [each for each in _leaves(kind) if pa.types.is_timestamp(each) or pa.types.is_duration(each)]
        if any(each.unit == "ns" for each in times):  # in structs they would be integers
            return pd.Series(column.to_pylist(), dtype="object")
        if any(getattr(each, "tz", None) for each in times):  # in arrays they would be without it
            made = column.to_pandas(timestamp_as_object=True, integer_object_nulls=is_nullable)
    elif is_nullable and column.null_count and (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        made = column.to_pandas(types_mapper=_nullable_dtype)
    return made


def _leaves(kind: Any) -> Iterator[Any]:
    """Yield the types of the values in an Arrow type of arrays, maps and structs."""
    for place in range(kind.num_fields):
        yield from _leaves(kind.field(place).type)
    if not kind.num_fields:
        yield kind


def _nullable_dtype(kind: pa.DataType) -> Any:
    """Return pandas' nullable type for a type of integers or booleans."""
    import pandas as pd
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return pd.BooleanDtype()
    return pd.api.types.pandas_dtype(str(kind).replace("uint", "UInt").replace("int", "Int"))


def column_types(qlog: Any) -> list[str]:
    """Return the column types in a record's `qlog`, in order; none when it has none."""
    try:
        content = json.loads(qlog) if isinstance(qlog, str) else qlog
        schemas = content["QUERY-SCHEMA"]
        columns = schemas.get("-1") or next(iter(schemas.values()))
        return [str(column["ColumnType"]) for column in columns]
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return []


def messages(qlog: Any) -> list[str]:
    """Return the texts that a record's `qlog` has about the rows; none when it has none."""
    try:
        content = json.loads(qlog) if isinstance(qlog, str) else qlog
        return [text for text in content["messages"] if isinstance(text, str)]
    except (ValueError, KeyError, TypeError):
        return []


def tsv_table(text: str, types: list[str]) -> pa.Table:
    """Return an inline result with headers as a table, typed when `types` gives the column types, else of strings.

    A column with values that do not fit its type stays text. Raises UnexpectedAnswer when rows differ in length.
    """
    import pyarrow as pa

    rows = [line.split("\t") for line in lines_of(text)]
    if not rows:
        return pa.table({})
    names, rows = rows[0], rows[1:]
    if any(len(row) != len(names) for row in rows):
        raise UnexpectedAnswer(f"the result's rows do not all have {len(names)} fields")
    known = types if len(types) == len(names) else [""] * len(names)
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    arrays = [_typed(list(column), kind) for column, kind in zip(columns, known, strict=True)]
    return pa.Table.from_arrays(arrays, names=names)


def _typed(values: list[str], kind: str) -> pa.Array[Any]:
    import pyarrow as pa

    wanted = arrow_type(kind)
    if wanted is None or pa.types.is_string(wanted):
        return pa.array([None if value in _NULLS else value for value in values], pa.string())
    texts = pa.array([None if value in _NULLS or not value else value for value in values], pa.string())
    try:
        if pa.types.is_decimal(wanted) and not _DECIMAL.fullmatch(kind.strip().lower()):
            return pa.array([None if value is None else Decimal(value) for value in texts.to_pylist()])
        if pa.types.is_boolean(wanted):
            return pa.array([_boolean(value) for value in texts.to_pylist()], pa.bool_())
        return texts.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, InvalidOperation):
        return texts


def _boolean(value: str | None) -> bool | None:
    if value is None:
        return None
    if value.lower() in _TRUE:
        return True
    if value.lower() in _FALSE:
        return False
    raise ValueError(value)


def arrow_type(kind: str) -> pa.DataType | None:
    """Return the Arrow type for a database's or engine's column type; None for an unknown one.

    A decimal type without its digits gets some: `tsv_table` takes those of the values.
    """
    import pyarrow as pa

    word = kind.strip().lower()
    if match := _DECIMAL.fullmatch(word):
        return pa.decimal128(min(int(match[1]), 38), int(match[2]))
    base = word.split("(")[0].strip()
    if base in _INTEGERS:
        return pa.int64()
    if base in _DECIMALS:
        return pa.decimal128(38, 9)
    if base in _FLOATS:
        return pa.float64()
    if base in ("bool", "boolean"):
        return pa.bool_()
    if base in ("date", "date32"):
        return pa.date32()
    if base.startswith(_TIMESTAMPS):
        return pa.timestamp("us", "UTC") if "with time zone" in word or base == "timestamptz" else pa.timestamp("us")
    return pa.string() if base in ("string", "text", "varchar", "char", "large_string") else None


def is_integer(kind: str) -> bool:
    """Return whether a database's or engine's column type is one of integers."""
    return kind.strip().lower().split("(")[0].strip() in _INTEGERS


def write(batches: Iterable[pa.RecordBatch], schema: pa.Schema, path: Path, form: str) -> None:
    """Write rows to a file in one of `FORMATS`, a batch at a time."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    written = schema
    if form == "csv":
        written = csv_schema(schema)
        batches = (csv_batch(batch, written) for batch in batches)
    elif form == "parquet":
        written = parquet_schema(schema)
        batches = (parquet_batch(batch, written) for batch in batches)
    openers: dict[str, Callable[[], Any]] = {
        "arrow": lambda: pa.ipc.new_stream(str(path), written),
        "parquet": lambda: pq.ParquetWriter(str(path), written),
        "csv": lambda: pa_csv.CSVWriter(str(path), written),
    }
    with openers[form]() as writer:
        for batch in batches:
            writer.write_batch(batch)


def limited(batches: Iterable[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    """Yield batches up to a number of rows; reads no more than needed."""
    left = limit
    for batch in batches:
        if left is None:
            yield batch
            continue
        if left > 0:
            yield batch.slice(0, left)
        left -= batch.num_rows
        if left <= 0:
            return


def as_text(table: pa.Table, *, typed: bool) -> str:
    """Return a table in the inline form: tabs between fields, CRLF after each row, headers first; lines unchanged."""
    if not typed:
        return "".join(f"{line}{ROW_END}" for line in table[LINE_COLUMN].to_pylist())

    rows = zip(*(shortest(column).to_pylist() for column in table.columns), strict=True)
    lines = ["\t".join(map(field_text, row)) for row in (table.column_names, *rows)]
    return "".join(f"{line}{ROW_END}" for line in lines)
