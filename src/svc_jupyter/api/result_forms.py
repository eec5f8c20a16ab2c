"""Typed rows as text, as CSV and as Parquet, and names of columns: the same from the service as from its clients."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow as pa

_NOT_IN_A_URL: Final = ("", ".", "..")


def unique_names(names: Sequence[str]) -> list[str]:
    """Return names that address columns, also in a URL: the second `a` is `a#2`, the first `.` is `.#1`."""
    given, taken = set(names), set(_NOT_IN_A_URL)
    counts = dict.fromkeys(_NOT_IN_A_URL, 0)
    unique = []
    for name in names:
        chosen = name
        while chosen in taken or (chosen != name and chosen in given):
            counts[name] = counts.get(name, 1) + 1
            chosen = f"{name}#{counts[name]}"
        taken.add(chosen)
        unique.append(chosen)
    return unique


def field_text(value: Any) -> str:
    """Return a value as a field: NULL for none, JSON for lists and structures, no tab or line end."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=field_text)
    text = value if isinstance(value, str) else str(value)
    if "\t" in text or "\n" in text or "\r" in text:
        return text.replace("\t", " ").replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
    return text


def field_texts(column: Any) -> list[str | None]:
    """Return the values of a column as fields, None for none."""
    return [None if value is None else field_text(value) for value in shortest(column).to_pylist()]


def shortest(column: Any) -> Any:
    """Return a column with its floats of 32 bits, also nested ones, as floats of 64 bits that print the same: 0.1."""
    import pyarrow as pa

    doubles = _with_floats_as(pa.float64(), column.type)
    if doubles.equals(column.type):
        return column
    return column.cast(_with_floats_as(pa.string(), column.type)).cast(doubles)  # at once it is 0.10000000149011612


def _with_floats_as(new: pa.DataType, kind: Any) -> Any:
    import pyarrow as pa

    def within(field: pa.Field[Any]) -> pa.Field[Any]:
        return field.with_type(_with_floats_as(new, field.type))

    if pa.types.is_float32(kind):
        return new
    if pa.types.is_struct(kind):
        return pa.struct([within(kind.field(place)) for place in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(within(kind.key_field), within(kind.item_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(within(kind.value_field), kind.list_size)
    if pa.types.is_list(kind):
        return pa.list_(within(kind.value_field))
    return pa.large_list(within(kind.value_field)) if pa.types.is_large_list(kind) else kind


def csv_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema for CSV, which has no lists, maps, binary or durations: such columns become text."""
    import pyarrow as pa

    return pa.schema([pa.field(item.name, pa.string() if _needs_text(item.type) else item.type) for item in schema])


def csv_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows in a schema that `csv_schema` returned."""
    import pyarrow as pa

    columns = [
        column if column.type.equals(kind) else pa.array(field_texts(column), pa.string())
        for column, kind in zip(batch.columns, schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def parquet_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema for Parquet: its readers want a name once, so that `a` and `a` are `a` and `a_1`."""
    import pyarrow as pa

    taken = set(schema.names)
    seen: set[str] = set()
    fields = []
    for field in schema:
        name, number = field.name, 0
        while name in seen or (number and name in taken):
            number += 1
            name = f"{field.name}_{number}"
        seen.add(name)
        fields.append(field.with_name(name))
    return pa.schema(fields)


def parquet_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows in a schema that `parquet_schema` returned."""
    return batch.rename_columns(schema.names)


def _needs_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_nested(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_interval(kind)
        or pa.types.is_duration(kind)
        or isinstance(kind, pa.BaseExtensionType)
    )
