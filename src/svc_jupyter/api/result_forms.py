"""Typed rows as text, as CSV and as Parquet: the same from the service as from its client."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


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


def csv_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema for CSV, which has no lists, maps, binary or durations: such columns become text."""
    import pyarrow as pa

    return pa.schema([pa.field(item.name, pa.string() if _needs_text(item.type) else item.type) for item in schema])


def csv_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows in a schema that `csv_schema` returned."""
    import pyarrow as pa

    columns = [
        column if column.type.equals(kind) else pa.array(_texts(column), pa.string())
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


def _texts(column: Any) -> list[str | None]:
    return [None if value is None else field_text(value) for value in column.to_pylist()]


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
