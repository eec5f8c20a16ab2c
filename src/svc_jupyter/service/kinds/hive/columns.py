"""Converts HiveServer2's columns to Arrow. Values sent as text (decimals, dates, timestamps) regain their type."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import pyarrow as pa

from svc_jupyter.service.db_taps.arrow import Column, Kind
from svc_jupyter.service.db_taps.times import parsed
from svc_jupyter.service.db_taps.values import decimal_type, read_or_texts
from svc_jupyter.service.runtimes.hive_server.client import ColumnType

_INVERTED: Final = bytes(255 - value for value in range(256))
_DECIMAL_TYPE: Final = 15
_DEFAULT_DIGITS: Final = (38, 18)
_TYPES: Final[Mapping[int, Kind]] = {
    0: pa.bool_(),
    1: pa.int8(),
    2: pa.int16(),
    3: pa.int32(),
    4: pa.int64(),
    5: pa.float32(),
    6: pa.float64(),
    8: pa.timestamp("us"),
    9: pa.binary(),
    16: pa.null(),
    17: pa.date32(),
}
"""By Thrift's `TTypeId`; any other type is text."""
_WIRE: Final[Mapping[str, Kind]] = {
    "b": pa.int8(),
    "h": pa.int16(),
    "i": pa.int32(),
    "q": pa.int64(),
    "d": pa.float64(),
}

Cells = tuple[Any, bytes]
"""A column as received: its values, and a bitmap with a bit set per null."""


def arrow_type(column: ColumnType) -> Kind:
    """Return the type of a column that is not nested."""
    if column.type_id == _DECIMAL_TYPE:
        precision, scale = column.precision, column.scale
        if precision is None:
            precision, scale = _DEFAULT_DIGITS
        return decimal_type(precision, scale or 0)
    return _TYPES.get(column.type_id, pa.string())


def record_batch(
    names: Sequence[str],
    kinds: Sequence[Kind],
    columns: Sequence[Cells],
    parsers: Mapping[int, Callable[[str], Any]],
    became_text: Callable[[str, str], None],
) -> pa.RecordBatch:
    """Return fetched rows in these types; `parsers` convert the columns that came as JSON documents.

    A column with a value that cannot be read is text, as it was sent; `became_text` gets its name and why.
    """
    arrays = []
    for place, (name, kind, cells) in enumerate(zip(names, kinds, columns, strict=True)):
        sent = _sent(kind, cells)
        if sent.type.equals(kind):
            made, reason = sent, None
        else:
            made, reason = read_or_texts(str(kind), sent, partial(_read, kind, parsers.get(place)))
        if reason is not None:
            became_text(name, reason)
        arrays.append(made)
    schema = pa.schema([pa.field(name, made.type) for name, made in zip(names, arrays, strict=True)])
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _sent(kind: Kind, cells: Cells) -> Column:
    """Return a column that came as text as such, and any other one in its type."""
    values, absent = cells
    count = len(values)
    if pa.types.is_null(kind):
        return pa.nulls(count)
    if isinstance(values, array):
        wire = _WIRE[values.typecode]
        made = pa.Array.from_buffers(wire, count, [_validity(absent, count), pa.py_buffer(values)])
        return made.cast(kind, safe=False)
    texts = _binary(values, absent)
    return texts if pa.types.is_binary(kind) else texts.cast(pa.string(), safe=False)


def _read(kind: Kind, parser: Callable[[str], Any] | None, texts: Column) -> Column:
    if parser is None:
        return parsed(texts, kind)
    return pa.array([None if text is None else parser(text) for text in texts.to_pylist()], kind)


def _binary(values: Sequence[bytes], absent: bytes) -> Column:
    if not absent.strip(b"\0"):
        return pa.array(values, pa.binary())
    return pa.array([None if _is_absent(absent, number) else value for number, value in enumerate(values)], pa.binary())


def _is_absent(absent: bytes, number: int) -> bool:
    place, bit = number >> 3, number & 7
    return place < len(absent) and bool(absent[place] >> bit & 1)


def _validity(absent: bytes, count: int) -> pa.Buffer | None:
    """Return Arrow's validity bitmap: a bit is set where there is a value."""
    if not absent.strip(b"\0"):
        return None
    size = (count + 7) // 8
    return pa.py_buffer(absent[:size].ljust(size, b"\0").translate(_INVERTED))
