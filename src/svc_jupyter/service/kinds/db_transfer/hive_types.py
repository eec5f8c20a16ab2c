"""Maps Arrow types to Hive column types, and converts rows to types that both support."""

from __future__ import annotations

import json
from typing import Final

import pyarrow as pa

from svc_jupyter.service.db_taps.arrow import Column, Kind

_MOST_DIGITS: Final = 38
_NAMES: Final[dict[Kind, str]] = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
}
_WIDER: Final[dict[Kind, Kind]] = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.large_string(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.date64(): pa.date32(),
}


def storable(kind: Kind) -> Kind:
    """Return the lossless type that Hive can store for this one; text where there is none.

    A timestamp with a zone becomes a UTC time.
    """
    if kind in _NAMES:
        return kind
    if pa.types.is_decimal(kind):
        fits = kind.precision <= _MOST_DIGITS and 0 <= kind.scale <= kind.precision
        return pa.decimal128(kind.precision, kind.scale) if fits else pa.string()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us")
    return _WIDER.get(kind, pa.string())


def hive_name(kind: Kind) -> str:
    """Return Hive's name for a `storable` type."""
    return f"decimal({kind.precision},{kind.scale})" if pa.types.is_decimal(kind) else _NAMES[kind]


def stored(column: Column, kind: Kind) -> Column:
    """Return a column in its `storable` type; lists and structs become JSON."""
    if column.type.equals(kind):
        return column
    if pa.types.is_nested(column.type):
        texts = (None if value is None else json.dumps(value, default=str) for value in column.to_pylist())
        return pa.array(texts, pa.string())
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return column.cast(pa.timestamp("us", "UTC"), safe=False).cast(kind)
    if pa.types.is_string(kind) and (pa.types.is_time(column.type) or pa.types.is_duration(column.type)):
        return pa.array((None if value is None else str(value) for value in column.to_pylist()), pa.string())
    return column.cast(kind, safe=not pa.types.is_timestamp(kind))
