"""The metastore's facts about a table, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from svc_jupyter.api.hive import Column
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.hive.spark_schema import spark_columns

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ttypes import FieldSchema
    from pymetastore.hive_metastore.ttypes import Table as ThriftTable

AVRO_SERDE: Final = "org.apache.hadoop.hive.serde2.avro.AvroSerDe"
_PLACEHOLDER: Final = ("col", "array<string>")
"""Spark's placeholder for columns of a table that Hive cannot read."""


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
