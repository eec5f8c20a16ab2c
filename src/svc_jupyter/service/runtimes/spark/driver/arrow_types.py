"""What Arrow has no type for becomes text where it stands, at any depth; a VARIANT becomes its JSON.

Fields of one name get numbers.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import ArrayType, MapType, StringType, StructField, StructType, VariantType

from .times import distinct


def in_arrow_types(frame: DataFrame) -> DataFrame:
    """Return the table in types that `arrow_type` returns."""
    kinds = [field.dataType for field in frame.schema]
    if all(arrow_type(kind) == kind for kind in kinds):
        return frame
    names = [f"c{number}" for number in range(len(kinds))]
    numbered = frame.toDF(*names)
    made = [_converted(numbered[name], kind).alias(name) for name, kind in zip(names, kinds, strict=True)]
    return numbered.select(*made).toDF(*frame.columns)


def arrow_type(kind: Any) -> Any:
    """Return a type of Spark with text in each place that needs it."""
    made = kind
    if isinstance(kind, ArrayType):
        made = ArrayType(arrow_type(kind.elementType), kind.containsNull)
    elif isinstance(kind, MapType):
        made = MapType(arrow_type(kind.keyType), arrow_type(kind.valueType), kind.valueContainsNull)
    elif isinstance(kind, StructType):
        names = distinct([one.name for one in kind])
        fields = [
            StructField(name, arrow_type(one.dataType), one.nullable) for name, one in zip(names, kind, strict=True)
        ]
        made = StructType(fields)
    return made if _has_arrow(made) else StringType()


def _has_arrow(kind: Any) -> bool:
    if isinstance(kind, VariantType):  # two binary columns
        return False
    try:
        pa.nulls(1, to_arrow_type(kind, timezone="UTC")).to_pylist()
    except Exception:  # noqa: BLE001  whatever is raised here, the column can be shown as text
        return False
    return True


def _converted(column: Column, kind: Any) -> Column:
    made = arrow_type(kind)
    if made == kind:
        return column
    if isinstance(kind, VariantType):
        return F.to_json(column)
    if isinstance(made, ArrayType):
        return F.transform(column, lambda one: _converted(one, kind.elementType))
    if isinstance(made, MapType):
        entries = F.transform(
            F.map_entries(column),
            lambda one: F.struct(
                _converted(one["key"], kind.keyType).alias("key"),
                _converted(one["value"], kind.valueType).alias("value"),
            ),
        )
        return F.map_from_entries(entries)
    if isinstance(made, StructType):
        by_place = column.cast(StructType([StructField(f"f{place}", one.dataType) for place, one in enumerate(kind)]))
        parts = [_converted(by_place[f"f{place}"], one.dataType) for place, one in enumerate(kind)]
        fields = [part.alias(one.name) for part, one in zip(parts, made, strict=True)]
        return F.when(column.isNotNull(), F.struct(*fields))
    return column.cast("string")
