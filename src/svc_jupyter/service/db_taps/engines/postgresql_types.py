"""PostgreSQL's types as plain Arrow types: what a data frame, a CSV and a Parquet file can hold.

Whole and floating numbers, booleans, text, bytea, dates, times and timestamps arrive as Arrow types. Besides: numeric
becomes a decimal (of the column's declared scale, or else of the largest scale found; with NaN or infinity a float, or
text where that would lose digits), json and jsonb text, an interval a duration if it has no months, else text. The
server casts types without a counterpart (uuid, inet, ranges, composite values, timetz …) to text, money to numeric, oid
to bigint.

The driver gives the elements of an array without its dimensions, so these are asked for beside it: an array of two
dimensions becomes lists of lists. JSON as text where the arrays of a column differ in their number of dimensions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import prod
from typing import Any, Final

import numpy as np
import pyarrow as pa

from svc_jupyter.api.result_forms import field_text, shortest
from svc_jupyter.service.db_taps.arrow import Column, ColumnField, Kind, compute
from svc_jupyter.service.db_taps.intervals import durations, is_interval
from svc_jupyter.service.db_taps.times import with_infinity
from svc_jupyter.service.db_taps.values import decimal_type, loses_digits

_MAX_DIGITS = 76
_TYPMOD_HEADER = 4
_SCALE_MASK, _SCALE_SIGN = 0x7FF, 0x400
_LOWEST = (
    -(2**63) + 946_684_800_000_000
)  # PostgreSQL counts from 2000-01-01, and the driver's shift to 1970 wraps round
_LOWEST_DATE = -(2**31) + 10_957
_INFINITY: Final = {_LOWEST: "-infinity", _LOWEST - 1: "infinity"}
_INFINITY_OF_DATES: Final = {_LOWEST_DATE: "-infinity", _LOWEST_DATE - 1: "infinity"}
_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
"""The driver's words for numeric values, and PostgreSQL's."""
_USUAL_WHOLE_DIGITS = 18  # room for larger numbers in later rows, so that the type rarely has to grow


_CASTS: Final = {
    "money": "numeric",
    "_money": "numeric[]",
    "oid": "int8",
    "_oid": "int8[]",
    "oidvector": "oid[]::int8[]",
    "regproc": "text",
    "_regproc": "text[]",
}
"""Types that the driver gives as another number, or as bytes."""
_VECTORS: Final = ("int2vector", "_int2vector", "oidvector")
"""Arrays of one dimension by definition."""
WITHOUT_ELEMENTS: Final = pa.list_(pa.null())
"""The type of a column of arrays in which none has an element."""
_UNNAMED = re.compile(r"unnamed<oid:(\d+)>")


@dataclass(frozen=True, slots=True)
class Request:
    """How the server is asked for a column: cast to a type or not, and with the dimensions of its arrays or not."""

    cast: str | None
    is_array: bool

    @property
    def is_plain(self) -> bool:
        """Whether the column is right as it comes."""
        return self.cast is None and not self.is_array


def unnamed_types(schema: pa.Schema) -> list[int]:
    """Return the oids of types that the driver does not know by a name: some of them are arrays."""
    return [int(found[1]) for field in schema if (found := _UNNAMED.fullmatch(_type_name(field)))]


def requests(schema: pa.Schema, unnamed_arrays: Collection[int]) -> list[Request]:
    """Return how to ask for each column, given which of the `unnamed_types` are arrays."""
    return [_request(field, unnamed_arrays) for field in schema]


def converted(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch in plain Arrow types."""
    fields = list(batch.schema)
    columns = [_converted(column, _precision(field)) for column, field in zip(batch.columns, fields, strict=True)]
    plain = [pa.field(field.name, column.type) for field, column in zip(fields, columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(plain))


def shaped(column: Column, dimensions: Column) -> Column:
    """Return arrays, whose elements are in lists, with their dimensions, which are texts such as `[1:2][0:3]`.

    A column without any element is one of `WITHOUT_ELEMENTS`.
    """
    encoded = dimensions.dictionary_encode()
    shapes = [tuple(_sizes(text)) for text in encoded.dictionary.to_pylist()]
    ranks = {len(shape) for shape in shapes}
    if not ranks:
        offsets = pa.array([0] * (len(column) + 1), pa.int32())
        return pa.ListArray.from_arrays(offsets, pa.nulls(0), mask=column.is_null())
    if ranks == {1}:
        return column
    of_rows = encoded.indices.to_pylist()
    if len(ranks) > 1:
        rows = zip(shortest(column).to_pylist(), of_rows, strict=True)
        texts = [_as_json(values, None if place is None else shapes[place]) for values, place in rows]
        return pa.array(texts, pa.string())
    filled = np.array([shapes[place] for place in of_rows if place is not None], dtype="i8")
    values = column.flatten()
    for depth in range(filled.shape[1] - 1, 0, -1):
        values = _lists(np.repeat(filled[:, depth], filled[:, :depth].prod(axis=1)), values)
    lengths = np.zeros(len(column), dtype="i8")
    lengths[[place is not None for place in of_rows]] = filled[:, 0]
    return _lists(lengths, values, mask=column.is_null())


def _request(field: ColumnField, unnamed_arrays: Collection[int]) -> Request:
    name, kind = _type_name(field), field.type
    unnamed = _UNNAMED.fullmatch(name)
    is_array = pa.types.is_list(kind) or (unnamed is not None and int(unnamed[1]) in unnamed_arrays)
    cast = _CASTS.get(name)
    leaf = _leaf(kind)
    if cast is None and (pa.types.is_struct(leaf) or _has_no_counterpart(leaf)):
        cast = "text[]" if is_array else "text"
    return Request(cast, is_array and name not in _VECTORS)


def _type_name(field: ColumnField) -> str:
    return str((field.metadata or {}).get(b"POSTGRESQL:type", b"").decode())


def _sizes(dimensions: str) -> Iterable[int]:
    for first, last in re.findall(r"\[(-?\d+):(-?\d+)\]", dimensions):
        yield int(last) - int(first) + 1


def _lists(lengths: Any, values: Column, mask: Column | None = None) -> Column:
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, values, mask=mask)


def _as_json(values: Sequence[Any] | None, shape: Sequence[int] | None) -> str | None:
    return None if values is None else json.dumps(_nested(values, shape or (0,)), default=field_text)


def _nested(values: Sequence[Any], shape: Sequence[int]) -> list[Any]:
    if len(shape) == 1:
        return list(values)
    size = prod(shape[1:])
    return [_nested(values[start : start + size], shape[1:]) for start in range(0, shape[0] * size, size)]


def _leaf(kind: Kind) -> Kind:
    return kind.value_type if pa.types.is_list(kind) else kind


def _has_no_counterpart(kind: Kind) -> bool:
    return _extension(kind) is not None and not _is_json(kind) and not _is_numeric(kind)


def _is_numeric(kind: Kind) -> bool:
    return _extension(kind) == "arrow.opaque" and kind.type_name == "numeric"


def _is_json(kind: Kind) -> bool:
    return _extension(kind) == "arrow.json"


def _extension(kind: Kind) -> str | None:
    return kind.extension_name if isinstance(kind, pa.BaseExtensionType) else None


def _precision(field: ColumnField) -> tuple[int, int] | None:
    """Return digits and scale of a column declared `numeric(p, s)`."""
    typmod = int((field.metadata or {}).get(b"POSTGRESQL:typmod", b"-1"))
    if not _is_numeric(field.type) or typmod < _TYPMOD_HEADER:
        return None
    digits = (typmod - _TYPMOD_HEADER) >> 16
    scale = (((typmod - _TYPMOD_HEADER) & _SCALE_MASK) ^ _SCALE_SIGN) - _SCALE_SIGN
    return max(digits - min(scale, 0), scale), max(scale, 0)


def _converted(column: Column, precision: tuple[int, int] | None) -> Column:
    kind = column.type
    if pa.types.is_list(kind):
        inner = column.values
        values = _converted(inner, None)
        if values is inner:
            return column
        return pa.ListArray.from_arrays(column.offsets, values, mask=column.is_null())
    if _is_numeric(kind):
        return _decimals(column.storage, precision)
    if isinstance(kind, pa.BaseExtensionType):
        return column.storage
    if is_interval(kind):
        return durations(column)
    if pa.types.is_timestamp(kind):
        return with_infinity(column, _INFINITY)
    return with_infinity(column, _INFINITY_OF_DATES) if pa.types.is_date32(kind) else column


def _decimals(texts: Column, precision: tuple[int, int] | None) -> Column:
    digits, scale = precision or _needed_precision(texts)
    if digits > _MAX_DIGITS:
        return texts
    try:
        return texts.cast(decimal_type(digits, scale))
    except pa.ArrowInvalid:  # NaN and infinity are numeric too
        values = texts.to_pylist()
    if any(value.lower() not in _NOT_FINITE and loses_digits(Decimal(value)) for value in values if value is not None):
        return pa.array([value and _NOT_FINITE.get(value.lower(), value) for value in values], pa.string())
    return texts.cast(pa.float64())


def _needed_precision(texts: Column) -> tuple[int, int]:
    """Return digits and scale that hold every number of the column."""
    length = compute.binary_length(texts)
    point = compute.find_substring(texts, ".")
    has_point = compute.greater_equal(point, 0)
    decimals = compute.subtract(compute.subtract(length, point), 1)
    scales = compute.if_else(has_point, decimals, 0)
    whole = compute.if_else(has_point, point, length)
    scale, most = compute.max(scales).as_py() or 0, compute.max(whole).as_py() or 0
    return max(most, _USUAL_WHOLE_DIGITS) + scale, scale
