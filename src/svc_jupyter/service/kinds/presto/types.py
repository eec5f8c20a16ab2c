"""Maps Presto's type names to Arrow types, and reads JSON values as those types."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, datetime, time, timedelta
from functools import cache
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa

from svc_jupyter.service.db_taps import times
from svc_jupyter.service.db_taps.arrow import Column, Kind, map_type, struct_type

Reader = Callable[[Any], Any]
"""Turns a JSON value into one that Arrow accepts; never called with None."""
_SCALARS: Final[Mapping[str, Kind]] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "real": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamp with time zone": pa.timestamp("us", tz="UTC"),
    "time": pa.time64("us"),
    "varbinary": pa.binary(),
    "unknown": pa.null(),
}
_OF_SEVERAL_WORDS: Final = (
    "timestamp with time zone",
    "time with time zone",
    "interval day to second",
    "interval year to month",
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECONDS_OF_400_YEARS: Final = 146_097 * 86_400 * 10**6
_YEAR: Final = re.compile(r"[+-]?\d+(?=-)")
_OFFSET: Final = re.compile(r"[+-]\d\d:\d\d")
_DECIMAL: Final = re.compile(r"decimal\((\d+),\s*(\d+)\)")


class RepeatedHour(Exception):
    """A clock that its zone showed twice, as when summer time ends: Presto's text does not say which one is meant."""


@dataclass(frozen=True, slots=True)
class ColumnType:
    """An Arrow type and how to read its values; `reader` is None where they need no conversion."""

    kind: Kind
    reader: Reader | None = None
    is_cast: bool = False
    """Whether the values are texts that Arrow parses itself."""


@cache
def column_type(name: str) -> ColumnType:
    """Return the type for a coordinator's type name, such as `map(varchar(1),integer)`.

    Types that Arrow lacks become text: `json`, `uuid`, intervals, times with a zone.
    """
    base, inner = _parts(name)
    if base == "array":
        element = column_type(inner)
        return ColumnType(pa.list_(element.kind), _list_reader(_value_reader(element)))
    if base == "map":
        key, value = (column_type(part) for part in _split(inner))
        return ColumnType(map_type(key.kind, value.kind), _map_reader(key, value))
    if base == "row":
        return _row_type(inner)
    if (digits := _DECIMAL.fullmatch(name)) is not None:
        return ColumnType(pa.decimal128(int(digits[1]), int(digits[2])), is_cast=True)
    kind = _SCALARS.get(name, pa.string())
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return ColumnType(kind, _instant)
    if pa.types.is_time(kind):
        return ColumnType(kind, time.fromisoformat)
    if pa.types.is_binary(kind):
        return ColumnType(kind, base64.b64decode)
    if pa.types.is_floating(kind):
        return ColumnType(kind, float)  # NaN and the infinities are sent as words
    return ColumnType(kind, is_cast=pa.types.is_temporal(kind))


def column(declared: ColumnType, values: Sequence[Any]) -> Column:
    """Return a column's JSON values as an array of its type.

    Raises `ValueError` for a value that is none of its type, and `RepeatedHour`.
    """
    if declared.is_cast:
        return times.parsed(pa.array(values, pa.string()), declared.kind)
    if declared.reader is not None:
        read = declared.reader
        values = [None if value is None else read(value) for value in values]
    elif pa.types.is_string(declared.kind):
        values = [value if value is None or isinstance(value, str) else str(value) for value in values]
    return pa.array(values, declared.kind)


def in_utc(name: str, value: str, depth: int = 0) -> str:
    """Return the SQL expression of a value of a type whose instants are in UTC; the value's own without instants."""
    if "timestamp with time zone" not in name:
        return value
    base, inner = _parts(name)
    one, other = f"v{depth}", f"w{depth}"
    if base == "array":
        return f"transform({value}, {one} -> {in_utc(inner, one, depth + 1)})"
    if base == "map":
        keys, values = (in_utc(part, one, depth + 1) for part in _split(inner))
        return f"transform_keys(transform_values({value}, ({other}, {one}) -> {values}), ({one}, {other}) -> {keys})"
    if base == "row":
        kinds = [_field(part)[1] for part in _split(inner)]
        fields = ", ".join(in_utc(kind, f"{value}[{place}]", depth) for place, kind in enumerate(kinds, start=1))
        return f"IF({value} IS NULL, NULL, ROW({fields}))"
    return f"at_timezone({value}, 'UTC')"


def _row_type(inner: str) -> ColumnType:
    names, types = [], []
    for number, part in enumerate(_split(inner)):
        name, kind = _field(part)
        names.append(name or f"field{number}")
        types.append(column_type(kind))
    kind = struct_type(names, [declared.kind for declared in types])
    return ColumnType(kind, _struct_reader([_value_reader(declared) for declared in types]))


def _field(text: str) -> tuple[str, str]:
    """Return name and type of a row's field; the name is empty for an unnamed field."""
    if text.startswith('"'):
        end = text.index('"', 1)
        while text[end : end + 2] == '""':
            end = text.index('"', end + 2)
        return text[1:end].replace('""', '"'), text[end + 1 :].strip()
    if text in _OF_SEVERAL_WORDS or " " not in text.partition("(")[0]:
        return "", text
    name, _, kind = text.partition(" ")
    return name, kind.strip()


def _parts(name: str) -> tuple[str, str]:
    base, opened, rest = name.partition("(")
    return base, rest[:-1] if opened else ""


def _split(text: str) -> Iterator[str]:
    """Yield the parts between the commas outside parentheses and quotes."""
    depth, start, is_quoted = 0, 0, False
    for place, character in enumerate(text):
        if character == '"':
            is_quoted = not is_quoted
        elif not is_quoted:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                yield text[start:place].strip()
                start = place + 1
    yield text[start:].strip()


def _value_reader(declared: ColumnType) -> Reader:
    """Return the reader of a value inside another one, where Arrow does not parse texts itself."""
    if declared.reader is not None:
        return declared.reader
    if pa.types.is_date(declared.kind) or pa.types.is_timestamp(declared.kind):
        return lambda value: times.number(value, declared.kind)
    if declared.is_cast:
        return lambda value: pa.scalar(value, pa.string()).cast(declared.kind).as_py()
    if pa.types.is_string(declared.kind):
        return lambda value: value if isinstance(value, str) else str(value)
    return lambda value: value


def _key_reader(declared: ColumnType) -> Reader:
    """Return the reader of a map's key, which is always a text in JSON."""
    if pa.types.is_integer(declared.kind):
        return int
    if pa.types.is_boolean(declared.kind):
        return lambda text: text == "true"
    return _value_reader(declared)


def _list_reader(read: Reader) -> Reader:
    return lambda cell: [None if value is None else read(value) for value in _document(cell)]


def _map_reader(key: ColumnType, value: ColumnType) -> Reader:
    read_key, read = _key_reader(key), _value_reader(value)
    return lambda cell: [
        (read_key(name), None if item is None else read(item)) for name, item in _document(cell).items()
    ]


def _struct_reader(readers: Sequence[Reader]) -> Reader:
    def read(cell: Any) -> tuple[Any, ...]:
        fields = zip(readers, _document(cell), strict=True)
        return tuple(None if value is None else reader(value) for reader, value in fields)

    return read


def _document(cell: Any) -> Any:
    """Return a nested value: this version sends each level as a JSON text, others send the value itself."""
    return json.loads(cell) if isinstance(cell, str) else cell


def _instant(text: str) -> datetime | int:
    """Return the instant of `2020-01-31 01:02:03.456 Europe/Berlin`, in microseconds where Python lacks the year.

    Raises `RepeatedHour`.
    """
    clock, _, zone = text.rpartition(" ")
    try:
        moment = datetime.fromisoformat(clock)
    except ValueError:
        return _far_instant(clock, zone)
    if _OFFSET.fullmatch(zone):
        return datetime.fromisoformat(clock + zone)
    if zone == "UTC":
        return moment.replace(tzinfo=UTC)
    first = moment.replace(tzinfo=ZoneInfo(zone))
    if _offset(first) > _offset(first.replace(fold=1)):
        raise RepeatedHour(f"the clock showed {text} twice, and Presto does not say which one it is")
    return first


def _offset(moment: datetime) -> timedelta:
    return moment.utcoffset() or timedelta()


def _far_instant(clock: str, zone: str) -> int:
    """Return the instant of a clock outside Python's years: calendar and zones are the same every 400 years."""
    found = _YEAR.match(clock)
    year = int(found[0]) if found is not None else MAXYEAR
    if found is None or MINYEAR <= year <= MAXYEAR:
        raise ValueError(f"{clock} {zone} is no time")
    same = year % 400 + (9200 if year > MAXYEAR else 400)
    near = _instant(f"{same:04}{clock[found.end() :]} {zone}")
    assert isinstance(near, datetime)
    return (near - _EPOCH) // timedelta(microseconds=1) + (year - same) // 400 * _MICROSECONDS_OF_400_YEARS
