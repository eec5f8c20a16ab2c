"""Converts HiveServer2's columns to Arrow. Values sent as text (decimals, dates, timestamps) regain their type.

Arrays, maps and structs arrive as text that cannot be parsed, so the query is rewritten to return JSON instead; their
types come from a description of the query.
"""

from __future__ import annotations

import base64
import json
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from svc_jupyter.service.db_taps.arrow import Column, Kind
from svc_jupyter.service.db_taps.values import decimal_type
from svc_jupyter.service.runtimes.hive_server.client import ColumnType

_SCALARS: Final[dict[str, Kind]] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "timestamp": pa.timestamp("us"),
    "timestamp_ntz": pa.timestamp("us"),
    "date": pa.date32(),
    "binary": pa.binary(),
    "void": pa.null(),
}
_DECIMAL: Final = re.compile(r"decimal\((\d+),(-?\d+)\)")
_NESTED: Final = ("array<", "map<", "struct<")
_OPTIONS: Final = (
    "map('ignoreNullFields','false','timestampFormat','yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS',"
    "'timestampNTZFormat','yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS')"
)

Parser = Callable[[Any], Any]


def is_nested(described: str) -> bool:
    """Return whether a described type contains other types."""
    return described.startswith(_NESTED)


def with_json(query: str, described: Sequence[str]) -> str:
    """Return a query with the same rows, with nested columns as JSON."""
    names = [f"`c{number}`" for number in range(len(described))]
    chosen = [
        f"to_json({name}, {_OPTIONS}) AS {name}" if is_nested(kind) else name
        for name, kind in zip(names, described, strict=True)
    ]
    return f"SELECT {', '.join(chosen)} FROM (\n{query}\n) AS `svc_rows`({', '.join(names)})"  # noqa: S608  the user's own query


def parsed_type(described: str) -> Kind:
    """Return the Arrow type of a described one; text where Arrow has no such type."""
    if described.startswith("array<"):
        return pa.list_(parsed_type(described[6:-1]))
    if described.startswith("map<"):
        key, value = _split(described[4:-1])
        return pa.map_(parsed_type(key), parsed_type(value))
    if described.startswith("struct<"):
        return pa.struct([_field(part) for part in _split(described[7:-1])])
    if (digits := _DECIMAL.fullmatch(described)) is not None:
        return decimal_type(int(digits[1]), int(digits[2]))
    return _SCALARS.get(described, pa.string())


def document_parser(kind: Kind) -> Callable[[str], Any]:
    """Return a parser of JSON into values of a column of this type."""
    made = _parser(kind)
    return lambda text: made(json.loads(text, parse_float=str))


def _field(part: str) -> pa.Field[Any]:
    name, _, kind = _partition(part)
    return pa.field(name, parsed_type(kind))


def _partition(part: str) -> tuple[str, str, str]:
    """Split `name:type`; a name with special characters is in backticks."""
    if part.startswith("`"):
        end = re.compile(r"`((?:[^`]|``)*)`").match(part)
        if end is not None:
            return end[1].replace("``", "`"), ":", part[end.end() + 1 :]
    name, sign, kind = part.partition(":")
    return name, sign, kind


def _split(inner: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(inner):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append(inner[start:place])
            start = place + 1
    return [*parts, inner[start:]] if inner else []


def _parser(kind: Kind) -> Parser:
    if pa.types.is_list(kind):
        return _optional(_list_parser(_parser(kind.value_type)))
    if pa.types.is_map(kind):
        return _optional(_map_parser(_parser(kind.key_type), _parser(kind.item_type)))
    if pa.types.is_struct(kind):
        return _optional(_struct_parser({kind.field(n).name: _parser(kind.field(n).type) for n in range(len(kind))}))
    return _optional(_scalar_parser(kind))


def _list_parser(inner: Parser) -> Parser:
    return lambda values: [inner(value) for value in values]


def _map_parser(key: Parser, item: Parser) -> Parser:
    return lambda pairs: [(key(name), item(value)) for name, value in pairs.items()]


def _struct_parser(inner: dict[str, Parser]) -> Parser:
    return lambda fields: {name: parse(fields.get(name)) for name, parse in inner.items()}


def _scalar_parser(kind: Kind) -> Parser:
    if pa.types.is_integer(kind):
        return int
    if pa.types.is_floating(kind):
        return float
    if pa.types.is_boolean(kind):
        return lambda value: value in (True, "true")
    if pa.types.is_decimal(kind):
        return lambda value: Decimal(str(value))
    if pa.types.is_date(kind):
        return date.fromisoformat
    if pa.types.is_timestamp(kind):
        return _timestamp
    if pa.types.is_binary(kind):
        return base64.b64decode
    return lambda value: value if isinstance(value, str) else json.dumps(value)


def _timestamp(text: str) -> datetime:
    """Parse a timestamp: a map's key has a space between date and time, any other value a T."""
    return datetime.fromisoformat(text)


def _optional(parse: Parser) -> Parser:
    return lambda value: None if value is None else parse(value)


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
NESTED: Final = frozenset({10, 11, 12, 13})
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
    names: Sequence[str], kinds: Sequence[Kind], columns: Sequence[Cells], parsers: Mapping[int, Callable[[str], Any]]
) -> pa.RecordBatch:
    """Return fetched rows in these types; `parsers` convert the columns that came as JSON documents.

    A column with a value outside its type's range, such as a year after 9999, becomes text.
    """
    arrays = []
    for number, (kind, cells) in enumerate(zip(kinds, columns, strict=True)):
        parser = parsers.get(number)
        arrays.append(_column(kind, cells) if parser is None else _parsed(kind, cells, parser))
    schema = pa.schema([pa.field(name, made.type) for name, made in zip(names, arrays, strict=True)])
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(kind: Kind, cells: Cells) -> Column:
    values, absent = cells
    count = len(values)
    if pa.types.is_null(kind):
        return pa.nulls(count)
    if isinstance(values, array):
        wire = _WIRE[values.typecode]
        made = pa.Array.from_buffers(wire, count, [_validity(absent, count), pa.py_buffer(values)])
        return made.cast(kind, safe=False)
    texts = _binary(values, absent)
    if pa.types.is_binary(kind):
        return texts
    made = texts.cast(pa.string(), safe=False)
    if not pa.types.is_string(kind):
        with suppress(pa.ArrowInvalid):  # such as a year after 9999
            return made.cast(kind)
    return made


def _parsed(kind: Kind, cells: Cells, parser: Callable[[str], Any]) -> Column:
    values, absent = cells
    return pa.array(
        [
            None if _is_absent(absent, number) else parser(value.decode("utf-8", "replace"))
            for number, value in enumerate(values)
        ],
        kind,
    )


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
