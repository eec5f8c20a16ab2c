"""What the metastore tells of a table, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from svc_jupyter.api.hive import Column
from svc_jupyter.service.hive.spark_schema import spark_columns

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ttypes import FieldSchema
    from pymetastore.hive_metastore.ttypes import Table as ThriftTable

AVRO_SERDE: Final = "org.apache.hadoop.hive.serde2.avro.AvroSerDe"
_PLACEHOLDER: Final = ("col", "array<string>")
"""What Spark writes for the columns of a table that Hive could not read."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the metastore has it. `columns` are without the partition columns, whose types are by name."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    partition_columns: tuple[Column, ...]
    properties: Mapping[str, str]
    facts: Mapping[str, Any]

    @classmethod
    def of(cls, table: ThriftTable) -> Table:
        """Return it from the metastore's answer."""
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
        """Whether the columns follow from an AVRO schema, whatever the metastore has written down of them."""
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
    """Return a column; one without a comment has none, also where an AVRO schema gives an empty one."""
    return Column(name=field.name, type=field.type, comment=field.comment or None)


def instant(seconds: int | None) -> str | None:
    """Return a moment of the metastore as ISO 8601 UTC; it writes 0 where it knows none."""
    if not seconds or seconds < 0:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
