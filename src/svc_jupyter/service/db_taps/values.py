"""Converts plain Python values to Arrow columns, and finds the common type of two batches of a column.

Only for rows that do not arrive as Arrow: databases reached through SQLAlchemy, and SQLite columns with values of
several types.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa

from svc_jupyter.api.text import mended
from svc_jupyter.service.db_taps.arrow import Column, Kind
from svc_jupyter.service.db_taps.intervals import interval_text
from svc_jupyter.service.db_taps.times import NOT_UTF_8, as_text

_PLAIN = frozenset({type(None), bool, int, float, str, bytes, Decimal, date, datetime, time, timedelta})
_EXACT = frozenset({int, Decimal})
_NUMBERS = _EXACT | {float}
_WITH_ZONES = (datetime, time)
_MAX_DECIMAL_DIGITS = 76
_INT64_DIGITS = 19
_NOT_FINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}
DIGITS = "as numbers they would lose digits"
ZONES = "not all of its times can keep their zone otherwise"
"""Why a column became text, for `notes`."""
_SHOWN = 100
UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, pa.ArrowException)
"""What a conversion raises for a value that is none of its type."""
Sent: TypeAlias = Any
"""Values in a sequence, or texts in an Arrow array."""


class LosesDigitsError(Exception):
    """A column has numbers that a floating number cannot hold; text holds them. `place` is the column's."""

    place = 0


_MIXED = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)


def array_of(values: Sequence[Any]) -> tuple[Column, str | None]:
    """Return the values as an Arrow array of the narrowest type that holds them all, text if no other does.

    Integers are of 64 bits, or decimals where one is beyond them. With it comes what the result says of
    the column, such as the reason why its numbers are text.
    """
    types = set(map(type, values))
    if not types <= _PLAIN:
        values = [_plain(value) for value in values]
        types = set(map(type, values))
    types.discard(type(None))
    if Decimal in types and any(isinstance(value, Decimal) and not value.is_finite() for value in values):
        types.add(float)  # as which Arrow has them
    if bytes in types and types != {bytes}:
        return pa.array([_bytes(value) for value in values], pa.binary()), None
    reason = _why_text(values, types)
    if reason is None:
        with suppress(*_MIXED, UnicodeEncodeError):  # beyond the type's range, or lists of different types
            if float in types and len(types) > 1 and types <= _NUMBERS:
                return pa.array([None if value is None else float(value) for value in values], pa.float64()), None
            if len(types) <= 1 or types <= _NUMBERS:
                array = pa.array(values)
                return array.cast(_in_utc(array.type)), None
        with suppress(*_MIXED):
            if types and types <= _EXACT:
                return pa.array([None if value is None else Decimal(value) for value in values]), None
    texts = [_text(value) for value in values]
    if any(isinstance(value, str) and value != text for value, text in zip(values, texts, strict=True)):
        reason = NOT_UTF_8
    return pa.array(texts, pa.string()), reason


def record_batch(
    names: Sequence[str], rows: Sequence[Sequence[Any]], became_text: Callable[[str, str], None]
) -> pa.RecordBatch:
    """Return rows as a record batch; equal names are allowed. `became_text` gets a column's name and why it is text."""
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [()] * len(names)
    arrays = []
    for name, column in zip(names, columns, strict=True):
        array, reason = array_of(column)
        arrays.append(array)
        if reason is not None:
            became_text(name, reason)
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(list(zip(names, (a.type for a in arrays), strict=True))))


def _why_text(values: Sequence[Any], types: set[type[Any]]) -> str | None:
    """Return why Arrow has no type for numbers or times: for some it would raise, others it would change."""
    if float in types and len(types) > 1 and types <= _NUMBERS and any(loses_digits(value) for value in values):
        return DIGITS
    if types & {datetime, time, list}:
        times = (value for value in _without_lists(values) if isinstance(value, _WITH_ZONES))
        zones = {(type(value), value.tzinfo is not None) for value in times}
        if (time, True) in zones or {(datetime, True), (datetime, False)} <= zones:
            return ZONES
    return None


def _in_utc(kind: Kind) -> Kind:
    """Return a type with UTC for a zone, which would be that of the first value."""
    if pa.types.is_list(kind):
        return pa.list_(_in_utc(kind.value_type))
    return pa.timestamp(kind.unit, "UTC") if pa.types.is_timestamp(kind) and kind.tz else kind


def _without_lists(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from _without_lists(value)
        else:
            yield value


def common_type(first: Kind, second: Kind) -> Kind:
    """Return the type that holds the values of both: the wider number, else text (binary if one is binary).

    Lists of several depths are text, too.
    """
    if first.equals(second) or pa.types.is_null(second):
        return first
    if pa.types.is_null(first):
        return second
    if pa.types.is_list(first) and pa.types.is_list(second):
        parts = (first.value_type, second.value_type)
        common = common_type(*parts)
        return pa.list_(common) if pa.types.is_list(common) or not any(map(pa.types.is_list, parts)) else pa.string()
    if pa.types.is_map(first) and pa.types.is_map(second):
        return pa.map_(common_type(first.key_type, second.key_type), common_type(first.item_type, second.item_type))
    if pa.types.is_struct(first) and pa.types.is_struct(second) and first.names == second.names:
        return pa.struct(
            [(one.name, common_type(one.type, other.type)) for one, other in zip(first, second, strict=True)]
        )
    if _is_number(first) and _is_number(second):
        return _common_number(first, second)
    if pa.types.is_timestamp(first) and pa.types.is_timestamp(second) and (first.tz is None) == (second.tz is None):
        return pa.timestamp("us", tz=first.tz and "UTC")
    if pa.types.is_binary(first) or pa.types.is_binary(second):
        return pa.binary()
    return pa.string()


def loses_digits(value: Decimal | float | None) -> bool:
    """Return whether a number is another one when it is written as a floating number."""
    if value is None or isinstance(value, float) or (isinstance(value, Decimal) and value.is_nan()):
        return False
    return Decimal(repr(float(Decimal(value)))) != value


def cast(column: Column, to: Kind) -> Column:
    """Return the column in a type that `common_type` returned for it.

    Raises `LosesDigitsError` when only text holds its numbers.
    """
    column = as_text(column, to)
    if column.type.equals(to):
        return column
    is_text = pa.types.is_binary(to) or pa.types.is_string(to)
    if any(_losing_digits(column, to)):
        raise LosesDigitsError
    has_own_text = any(kind(column.type) for kind in (pa.types.is_duration, pa.types.is_floating, pa.types.is_decimal))
    with suppress(*_MIXED):
        if not (is_text and has_own_text):
            return column.cast(to)
    if not is_text:
        raise LosesDigitsError
    return pa.array([_bytes(v) if pa.types.is_binary(to) else _text(v) for v in column.to_pylist()], to)


def _losing_digits(column: Column, to: Kind) -> Iterator[bool]:
    """Yield, for each place of decimals that would be floating numbers, whether one would lose digits."""
    kind = column.type
    if pa.types.is_decimal(kind) and pa.types.is_floating(to):
        yield any(map(loses_digits, column.to_pylist()))
    elif pa.types.is_list(kind) and pa.types.is_list(to):
        yield from _losing_digits(column.flatten(), to.value_type)
    elif pa.types.is_map(kind) and pa.types.is_map(to):
        yield from _losing_digits(column.keys, to.key_type)
        yield from _losing_digits(column.items, to.item_type)
    elif pa.types.is_struct(kind) and pa.types.is_struct(to):
        for part, field in zip(column.flatten(), to, strict=True):
            yield from _losing_digits(part, field.type)


def read_or_texts(kind: str, sent: Sent, read: Callable[[Sent], Column]) -> tuple[Column, str | None]:
    """Return what an engine sent as a column of its type `kind`; or its texts, and the reason: the first odd one."""
    try:
        return read(sent), None
    except UNREADABLE:
        texts = [_text(value) for value in (sent.to_pylist() if isinstance(sent, pa.Array) else sent)]
    first = next((n for n in range(len(sent)) if not _is_read(sent[n : n + 1], read)), 0)
    text = texts[first] or ""
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return pa.array(texts, pa.string()), f"{shown!r} cannot be read as {kind}"


def _is_read(sent: Sent, read: Callable[[Sent], Column]) -> bool:
    try:
        read(sent)
    except UNREADABLE:
        return False
    return True


def _is_number(kind: Kind) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _common_number(first: Kind, second: Kind) -> Kind:
    if pa.types.is_floating(first) or pa.types.is_floating(second):
        return pa.float64()
    if pa.types.is_decimal(first) or pa.types.is_decimal(second):
        return _common_decimal(first, second)
    if pa.types.is_uint64(first) or pa.types.is_uint64(second):
        return pa.decimal128(_INT64_DIGITS + 1, 0)
    return pa.int64()


def _common_decimal(first: Kind, second: Kind) -> Kind:
    scales = [kind.scale if pa.types.is_decimal(kind) else 0 for kind in (first, second)]
    whole = [
        kind.precision - kind.scale if pa.types.is_decimal(kind) else _INT64_DIGITS + 1 for kind in (first, second)
    ]
    digits, scale = max(whole) + max(scales), max(scales)
    return pa.string() if digits > _MAX_DECIMAL_DIGITS else decimal_type(digits, scale)


def decimal_type(digits: int, scale: int) -> Kind:
    """Return the narrower of Arrow's two decimal types for up to 76 digits."""
    return pa.decimal128(digits, scale) if digits <= pa.decimal128(38).precision else pa.decimal256(digits, scale)


def _plain(value: Any) -> Any:
    """Return a driver's own value as one that Arrow supports: documents as JSON, the rest as text."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, list):
        return _json(value) if any(isinstance(each, (dict, tuple)) for each in _without_lists(value)) else value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, (datetime, date)):
        return value
    plain: tuple[type[Any], ...] = (int, float, str, bytes)
    for kind in plain:
        if isinstance(value, kind):
            return kind(value)
    return _json(value) if isinstance(value, (dict, tuple)) else str(value)


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return mended(value)
    if value is None:
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float):
        return _NOT_FINITE.get(value, "NaN" if math.isnan(value) else str(value))
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, timedelta):
        return interval_text(0, value.days, value.seconds * 1_000_000 + value.microseconds)
    return _json(value) if isinstance(value, list) else str(value)


def _json(value: Any) -> str:
    return json.dumps(_with_text_keys(value), default=_text)


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {_text(key): _with_text_keys(each) for key, each in value.items()}
    return [_with_text_keys(each) for each in value] if isinstance(value, (list, tuple)) else value


def _bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return (_text(value) or "").encode()
