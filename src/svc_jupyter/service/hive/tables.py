"""The metastore's facts about a table, as plain values.

Spark stores the columns of some tables, as for `USING avro`, in its own form: JSON in the table's properties.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from svc_jupyter.api.hive import Column
from svc_jupyter.service.ground.clock import iso_time

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ttypes import FieldSchema
    from pymetastore.hive_metastore.ttypes import Table as ThriftTable

AVRO_SERDE: Final = "org.apache.hadoop.hive.serde2.avro.AvroSerDe"
_PLACEHOLDER: Final = ("col", "array<string>")
"""Spark's placeholder for columns of a table that Hive cannot read."""
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


@dataclass(frozen=True, slots=True)
class Table:
    """A table in the metastore. `columns` excludes the partition columns, whose types are by name."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    partition_columns: tuple[Column, ...]
    properties: Mapping[str, str]
    facts: Mapping[str, Any]

    @classmethod
    def of(cls, table: ThriftTable) -> Table:
        """Return the table in the metastore's answer."""
        storage = table.sd
        return cls(
            schema=table.dbName,
            name=table.tableName,
            columns=tuple(map(column_of, storage.cols or [])),
            partition_columns=tuple(map(column_of, table.partitionKeys or [])),
            properties=dict(table.parameters or {}),
            facts={
                "table_type": table.tableType or "MANAGED_TABLE",
                "owner": table.owner,
                "location": storage.location,
                "created_at": instant(table.createTime),
                "input_format": storage.inputFormat,
                "output_format": storage.outputFormat,
                "serde": storage.serdeInfo.serializationLib if storage.serdeInfo else None,
            },
        )

    @property
    def is_read_from_avro(self) -> bool:
        """Whether an AVRO schema defines the columns, whatever the metastore has recorded."""
        return bool(self.facts["serde"] == AVRO_SERDE)

    @property
    def partition_types(self) -> dict[str, str]:
        """The partition columns' types, by name, in order."""
        return {column.name: column.type for column in self.partition_columns}

    def definition(self) -> list[Column]:
        """Return the columns, then the partition columns, as Hive's DESCRIBE lists them."""
        if [(column.name, column.type) for column in self.columns] == [_PLACEHOLDER]:
            partitions = {column.name for column in self.partition_columns}
            of_spark = spark_columns(self.properties)
            if of_spark is not None:
                own = [column for column in of_spark if column.name.lower() not in partitions]
                return [*own, *self.partition_columns]
        return [*self.columns, *self.partition_columns]


def column_of(field: FieldSchema) -> Column:
    """Return a column; an empty comment, as AVRO schemas give, counts as none."""
    return Column(name=field.name, type=field.type, comment=field.comment or None)


def instant(seconds: int | None) -> str | None:
    """Return a time of the metastore as ISO 8601 UTC; the metastore writes 0 for an unknown one."""
    if not seconds or seconds < 0:
        return None
    return iso_time(seconds)


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
