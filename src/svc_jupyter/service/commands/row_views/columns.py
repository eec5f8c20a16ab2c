"""The columns of a result for readers: unique names, one word for each type, and values that JSON holds exactly."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from svc_jupyter.api.result_forms import shortest, unique_names

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_TEXT = 1000
"""A longer text in a page is cut to this many characters, followed by an ellipsis."""
_EXACT = 2**53
"""JavaScript holds whole numbers up to this one exactly."""
_TAKEN_AT_ONCE = 1 << 20
"""Bytes of texts; above, they are copied one by one, since each is cut at once."""


class ColumnType(StrEnum):
    """What readers need to know of a column's type."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"
    DATE = "date"
    TIME = "time"
    BINARY = "binary"
    NESTED = "nested"


NUMBERS = (ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DECIMAL)
MOMENTS = (ColumnType.TIMESTAMP, ColumnType.DATE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its unique name, its type for readers and in Arrow, and its position."""

    name: str
    type: ColumnType
    arrow_type: pa.DataType
    position: int

    def as_json(self) -> dict[str, str]:
        """Return the column as the answer describes it."""
        return {"name": self.name, "type": self.type.value}


def columns_of(schema: pa.Schema) -> list[Column]:
    """Return the columns with unique names."""
    names = unique_names(schema.names)
    return [
        Column(name, type_of(field.type), storage_type(field.type), position)
        for position, (name, field) in enumerate(zip(names, schema, strict=True))
    ]


def storage_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of an extension or dictionary type; of other types, the type itself."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return storage_type(kind.storage_type)
    return storage_type(kind.value_type) if isinstance(kind, pa.DictionaryType) else kind


def type_of(kind: pa.DataType) -> ColumnType:
    """Return the type for readers of an Arrow type."""
    import pyarrow.types as kinds

    kind = storage_type(kind)
    tests: Iterable[tuple[Callable[[pa.DataType], bool], ColumnType]] = (
        (kinds.is_integer, ColumnType.INTEGER),
        (kinds.is_floating, ColumnType.NUMBER),
        (kinds.is_decimal, ColumnType.DECIMAL),
        (kinds.is_boolean, ColumnType.BOOLEAN),
        (kinds.is_timestamp, ColumnType.TIMESTAMP),
        (kinds.is_date, ColumnType.DATE),
        (kinds.is_time, ColumnType.TIME),
        (_is_binary, ColumnType.BINARY),
        (kinds.is_nested, ColumnType.NESTED),
    )
    return next((name for test, name in tests if test(kind)), ColumnType.TEXT)


def plain(values: pa.Array[Any]) -> pa.Array[Any]:
    """Return values of an extension or dictionary type in the type of their storage, and views as plain texts."""
    import pyarrow as pa
    import pyarrow.types as kinds

    while True:
        if isinstance(values, pa.ExtensionArray):
            values = values.storage
        elif isinstance(values, pa.DictionaryArray):
            values = values.dictionary_decode()
        elif kinds.is_string_view(values.type):
            return values.cast(pa.large_string())
        elif kinds.is_binary_view(values.type):
            return values.cast(pa.large_binary())
        elif kinds.is_float16(values.type):
            return values.cast(pa.float32())
        else:
            return values


def as_text(values: pa.Array[Any], column: Column) -> pa.Array[Any]:
    """Return plain values of any type but binary and nested as texts, as readers see them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type is ColumnType.TIMESTAMP:
        return pc.replace_substring(_utc(values).cast(pa.string()), " ", "T", max_replacements=1)
    if _has_text_form(values.type):
        return values.cast(pa.large_string())
    return pa.array([None if value is None else _text(value) for value in values.to_pylist()], pa.large_string())


def json_values(
    values: pa.Array[Any], rows: Sequence[int], column: Column, *, longest: int = LONGEST_TEXT
) -> list[Any]:
    """Return the values at some positions as JSON holds them.

    Numbers that JavaScript does not hold exactly are texts, so are NaN and the infinities; times are ISO 8601, in UTC
    with a `Z` where they have a time zone; binary values are hexadecimal, lists and structures JSON. A text
    of more than `longest` characters is cut there, and an ellipsis follows.
    """
    import pyarrow as pa

    if isinstance(values, pa.DictionaryArray):
        return [json_values(plain(values.slice(row, 1)), [0], column, longest=longest)[0] for row in rows]
    values = plain(values)
    if column.type in (ColumnType.NESTED, ColumnType.BINARY) or _is_long(values, rows):
        return [_one(values, row, column, longest) for row in rows]
    taken = values.take(pa.array(rows, pa.int64()))
    if column.type is ColumnType.TIMESTAMP:
        return [_time_text(text, column) for text in as_text(taken, column).to_pylist()]
    if column.type in (ColumnType.DATE, ColumnType.TIME):
        return [None if text is None else _without_zeros(text) for text in as_text(taken, column).to_pylist()]
    if column.type in (ColumnType.TEXT, ColumnType.DECIMAL):
        return [_cut(text, longest) for text in as_text(taken, column).to_pylist()]
    return [json_number(value) for value in shortest(taken).to_pylist()]


def json_number(value: Any) -> Any:
    """Return a number as JSON that JavaScript reads exactly: itself, or a text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        return str(value)
    return value


def _cut(text: str | None, longest: int) -> str | None:
    return text if text is None or len(text) <= longest else f"{text[:longest]}…"


def _one(values: pa.Array[Any], row: int, column: Column, longest: int) -> str | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    value = values[row]
    if not value.is_valid:
        return None
    if column.type is ColumnType.NESTED:
        return _cut(_nested_text(values, row), longest)
    if column.type is ColumnType.BINARY:
        whole = memoryview(value.as_buffer())
        return _cut(bytes(whole[: longest // 2 + 1]).hex(), longest)
    short = pc.utf8_slice_codeunits(values.slice(row, 1), 0, longest + 1)
    assert isinstance(short, pa.Array)
    return _cut(short[0].as_py(), longest)


def _nested_text(values: pa.Array[Any], row: int) -> str:
    import pyarrow as pa

    try:
        value = shortest(values.slice(row, 1))[0].as_py()
    except (ValueError, OverflowError, pa.ArrowException):  # a time with nanoseconds, or before the year 1
        value = str(values[row])
    return json.dumps(value, ensure_ascii=False, default=_text)


def _time_text(text: str | None, column: Column) -> str | None:
    if text is None:
        return None
    if text.startswith("<"):  # a year of more than five digits, in Arrow's words
        return text.replace("T", " ", 1)
    zone = "Z" if getattr(column.arrow_type, "tz", None) else ""
    return f"{_without_zeros(text)}{zone}"


def _without_zeros(text: str) -> str:
    """Return a time of day without the zeros at the end of its fraction."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def ticks_of(values: pa.Array[Any] | pa.ChunkedArray[Any]) -> Any:
    """Return timestamps or dates as the whole numbers that Arrow holds."""
    import pyarrow as pa

    return (values.cast(pa.int32()) if pa.types.is_date32(values.type) else values).cast(pa.int64())


def moments_of(ticks: pa.Array[Any], kind: pa.DataType) -> pa.Array[Any]:
    """Return timestamps or dates of this type from what `ticks_of` returned."""
    import pyarrow as pa

    return (ticks.cast(pa.int32()) if pa.types.is_date32(kind) else ticks).cast(kind)


def joined(chunks: Sequence[pa.Array[Any]], kind: pa.DataType) -> Any:
    """Return the chunks as one column, which has this type where there is no chunk."""
    import pyarrow as pa

    return pa.chunked_array(list(chunks), None if chunks else kind)  # type: ignore[arg-type]


def _utc(values: pa.Array[Any]) -> pa.Array[Any]:
    """Return times without their time zone, in UTC."""
    import pyarrow as pa

    kind = values.type
    assert isinstance(kind, pa.TimestampType)
    return values if kind.tz is None else values.cast(pa.timestamp(kind.unit))


def _is_long(values: pa.Array[Any], rows: Sequence[int]) -> bool:
    """Return whether the texts at these positions take much memory together."""
    import numpy as np
    import pyarrow.types as kinds

    is_large = kinds.is_large_string(values.type)
    if not (is_large or kinds.is_string(values.type)) or not len(rows):
        return False
    buffer = values.buffers()[1]
    if buffer is None or not buffer.size:
        return False
    offsets: Any = np.frombuffer(memoryview(buffer), np.int64 if is_large else np.int32)
    at = np.asarray(rows, dtype=np.int64) + values.offset
    return int((offsets[at + 1] - offsets[at]).astype(np.int64).sum()) > _TAKEN_AT_ONCE


def _is_binary(kind: pa.DataType) -> bool:
    import pyarrow.types as kinds

    return (
        kinds.is_binary(kind)
        or kinds.is_large_binary(kind)
        or kinds.is_fixed_size_binary(kind)
        or kinds.is_binary_view(kind)
    )


def _has_text_form(kind: pa.DataType) -> bool:
    import pyarrow.types as kinds

    return not (kinds.is_interval(kind) or kinds.is_duration(kind))


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta | Decimal):
        return str(value)
    return str(tuple(value)) if isinstance(value, tuple) else str(value)
