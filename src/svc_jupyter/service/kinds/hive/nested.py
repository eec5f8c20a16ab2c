"""Types and values of the arrays, maps and structs of Spark's HiveServer2, which sends both as ambiguous texts.

It is asked for the parts of a type as columns of their own, level by level, and for the values as JSON. There fields
are read by their place, and maps are arrays of entries: a name may hold any character or occur twice, and a key be of
any type.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa

from svc_jupyter.service.db_taps.arrow import Kind, map_type, struct_type
from svc_jupyter.service.db_taps.times import number
from svc_jupyter.service.db_taps.values import decimal_type

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
_OPTIONS: Final = (
    "map('ignoreNullFields','false','timestampFormat','yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS',"
    "'timestampNTZFormat','yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS')"
)
_END: Final = uuid4().hex
"""The column behind the parts of a type; no field has its name."""

Parser = Callable[[Any], Any]
NamedType = tuple[str, str]
"""The name of a column, and its type in the server's words."""
Describe = Callable[[str], Sequence[NamedType]]
"""Returns the columns of a query."""


@dataclass(frozen=True, slots=True)
class Described:
    """A type in the server's words. `parts`: an array's element, a map's key and value, or a struct's fields."""

    text: str
    names: tuple[str, ...] = ()
    parts: tuple[Described, ...] = ()

    @property
    def base(self) -> str:
        """Return the type without its parts: `struct`."""
        return self.text.partition("<")[0]

    @property
    def is_nested(self) -> bool:
        """Return whether the type contains other types."""
        return _is_nested(self.text)


def described(query: str, columns: Sequence[NamedType], describe: Describe) -> list[Described]:
    """Return the types of a query's columns; asks the server once per level of nesting."""
    parts = [_parts(kind, f"`c{place}`") for place, (_, kind) in enumerate(columns) if _is_nested(kind)]
    if not parts:
        return [Described(kind) for _, kind in columns]
    inner = _selected([f"{part}, 0 AS `{_END}`" for part in parts], query, len(columns))
    below = describe(inner)
    found = iter(zip(below, described(inner, below, describe), strict=True))
    kinds = []
    for _, kind in columns:
        own = list(takewhile(lambda part: part[0][0] != _END, found)) if _is_nested(kind) else []
        kinds.append(Described(kind, tuple(name for (name, _), _ in own), tuple(part for _, part in own)))
    return kinds


def with_json(query: str, kinds: Sequence[Described]) -> str:
    """Return a query with the same rows, with nested columns and variants as JSON; the same query without any."""
    if not any(kind.is_nested or _is_rebuilt(kind) for kind in kinds):
        return query
    columns = [(f"`c{place}`", kind) for place, kind in enumerate(kinds)]
    if any(_is_rebuilt(kind) for kind in kinds):
        by_place = [f"CAST({name} AS {_text_by_place(kind)})" if _is_rebuilt(kind) else name for name, kind in columns]
        query = _selected(by_place, query, len(kinds))
    chosen = [(_document(kind, name), kind) for name, kind in columns]
    documents = [f"to_json({value}, {_OPTIONS})" if kind.is_nested else value for value, kind in chosen]
    return _selected(documents, query, len(kinds))


def arrow_type(kind: Described) -> Kind:
    """Return the Arrow type of a described one; text where Arrow has no such type."""
    inner = [arrow_type(part) for part in kind.parts]
    if kind.base == "array":
        return pa.list_(*inner)
    if kind.base == "map":
        return map_type(*inner)
    if kind.base == "struct":
        return struct_type(kind.names, inner)
    if (digits := _DECIMAL.fullmatch(kind.text)) is not None:
        return decimal_type(int(digits[1]), int(digits[2]))
    return _SCALARS.get(kind.text, pa.string())


def document_parser(kind: Kind) -> Callable[[str], Any]:
    """Return a parser of JSON into values of a column of this Arrow type."""
    parse = _parser(kind)
    return lambda text: parse(json.loads(text, parse_float=str, object_pairs_hook=_values))


def _is_nested(kind: str) -> bool:
    return kind.startswith(("array<", "map<", "struct<"))


def _parts(kind: str, column: str) -> str:
    """Return the parts of a column's type as columns."""
    if kind.startswith("array<"):
        return f"{column}[0]"
    return f"map_keys({column})[0], map_values({column})[0]" if kind.startswith("map<") else f"{column}.*"


def _selected(chosen: Sequence[str], query: str, count: int) -> str:
    names = ", ".join(f"`c{place}`" for place in range(count))
    return f"SELECT {', '.join(chosen)} FROM (\n{query}\n) AS `svc_rows`({names})"  # noqa: S608  the user's own query


def _is_rebuilt(kind: Described) -> bool:
    """Return whether the value is made anew for its JSON, which has no other keys than texts, and no JSON inside."""
    return kind.base in ("map", "variant") or any(_is_rebuilt(part) for part in kind.parts)


def _text_by_place(kind: Described) -> str:
    """Return the type with the names of the fields' places."""
    if not kind.is_nested:
        return kind.text
    parts = [_text_by_place(part) for part in kind.parts]
    if kind.base == "struct":
        parts = [f"f{place}: {part}" for place, part in enumerate(parts)]
    return f"{kind.base}<{', '.join(parts)}>"


def _document(kind: Described, value: str, depth: int = 0) -> str:
    """Return the expression whose JSON has a value whole."""
    if not _is_rebuilt(kind):
        return value
    if not kind.is_nested:
        return f"to_json({value})"
    one = f"v{depth}"
    if kind.base == "array":
        return f"transform({value}, {one} -> {_document(kind.parts[0], one, depth + 1)})"
    if kind.base == "map":
        entry = (f"{one}.key", f"{one}.value")
        parts = [_document(part, name, depth + 1) for part, name in zip(kind.parts, entry, strict=True)]
        return f"transform(map_entries({value}), {one} -> struct({', '.join(parts)}))"
    parts = [_document(part, f"{value}.f{place}", depth) for place, part in enumerate(kind.parts)]
    return f"IF({value} IS NULL, NULL, struct({', '.join(parts)}))"


def _values(pairs: Sequence[tuple[str, Any]]) -> tuple[Any, ...]:
    return tuple(value for _, value in pairs)


def _parser(kind: Kind) -> Parser:
    if pa.types.is_list(kind):
        return _optional(_list_parser(_parser(kind.value_type)))
    if pa.types.is_map(kind):
        return _optional(_list_parser(_tuple_parser([_parser(kind.key_type), _parser(kind.item_type)])))
    if pa.types.is_struct(kind):
        return _optional(_tuple_parser([_parser(kind.field(place).type) for place in range(len(kind))]))
    return _optional(_scalar_parser(kind))


def _list_parser(inner: Parser) -> Parser:
    return lambda values: [inner(value) for value in values]


def _tuple_parser(inner: Sequence[Parser]) -> Parser:
    return lambda values: tuple(parse(value) for parse, value in zip(inner, values, strict=True))


def _scalar_parser(kind: Kind) -> Parser:
    if pa.types.is_integer(kind):
        return int
    if pa.types.is_floating(kind):
        return float
    if pa.types.is_boolean(kind):
        return bool
    if pa.types.is_decimal(kind):
        return Decimal
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return lambda text: number(text, kind)
    if pa.types.is_binary(kind):
        return base64.b64decode
    return str


def _optional(parse: Parser) -> Parser:
    return lambda value: None if value is None else parse(value)
