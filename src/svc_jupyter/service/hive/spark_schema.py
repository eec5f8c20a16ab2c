"""The columns of a table that Spark stores in its own form, as for `USING avro`: JSON in the table's properties."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from svc_jupyter.api.hive import Column

_SCHEMA: Final = "spark.sql.sources.schema"
_PROVIDER: Final = "spark.sql.sources.provider"
_NAMES: Final = {
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "null": "void",
    "timestamp_ntz": "timestamp",
}
"""Spark's names of types that have another name in Hive."""


def spark_columns(properties: Mapping[str, str]) -> list[Column] | None:
    """Return the columns, including partition columns; None for a table that Spark did not create."""
    text = _schema_text(properties)
    if _PROVIDER not in properties or text is None:
        return None
    return [
        Column(name=field["name"], type=hive_type(field["type"]), comment=field.get("metadata", {}).get("comment"))
        for field in json.loads(text)["fields"]
    ]


def hive_type(spark_type: Any) -> str:
    """Return Hive's name for a type in Spark's JSON."""
    if isinstance(spark_type, str):
        return _NAMES.get(spark_type, spark_type)
    match spark_type["type"]:
        case "array":
            return f"array<{hive_type(spark_type['elementType'])}>"
        case "map":
            return f"map<{hive_type(spark_type['keyType'])},{hive_type(spark_type['valueType'])}>"
        case "struct":
            fields = ",".join(f"{field['name']}:{hive_type(field['type'])}" for field in spark_type["fields"])
            return f"struct<{fields}>"
        case "udt":
            return hive_type(spark_type["sqlType"])
        case other:
            return str(other)


def _schema_text(properties: Mapping[str, str]) -> str | None:
    """Return the JSON, which is split if it is too long for one property."""
    if _SCHEMA in properties:
        return properties[_SCHEMA]
    count = properties.get(f"{_SCHEMA}.numParts", "")
    parts = [properties.get(f"{_SCHEMA}.part.{number}", "") for number in range(int(count) if count.isdecimal() else 0)]
    return "".join(parts) or None
