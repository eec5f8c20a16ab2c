"""Hive's schemas, tables and partitions, read from the metastore."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.api.hive import Column
from svc_jupyter.service.ground.errors import Invalid, NotFound, ServiceError
from svc_jupyter.service.hive.answers import MetastoreError, asked
from svc_jupyter.service.hive.partition_names import order_of, values_in
from svc_jupyter.service.hive.tables import Table, column_of, instant
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.runtimes.metastore.connections import HiveConnections

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client
    from pymetastore.hive_metastore.ttypes import Partition as ThriftPartition

Record = dict[str, Any]
ALL: Final = -1
NAMES_AT_ONCE: Final = 500
"""Partitions that one call requests by name: each comes back with all its storage description."""
_OF_SCHEMA: Final = "SerDeException"
"""The metastore's error when it cannot read the schema that defines a table's columns."""
_NAME: Final = re.compile(r"\w{1,128}", re.ASCII)


class Catalogue:
    """Queries the metastore. Names of schemas and tables are case-insensitive, as in Hive. All raise `Unavailable`."""

    def __init__(self, hive: HiveConnections) -> None:
        self._hive = hive

    async def schemas(self, page: Page, part: str | None = None) -> Record:
        """Return a page of the names of schemas that contain `part`."""
        names = await asked(self._hive, lambda client: client.get_all_databases(), NotFound("there are no schemas"))
        return _page_of("schemas", _with(part, names), page)

    async def tables(self, schema: str, page: Page, part: str | None = None) -> Record:
        """Return a page of the names of a schema's tables and views that contain `part`. Raises `NotFound`."""

        def question(client: Client) -> Any:
            client.get_database(schema.lower())
            return client.get_all_tables(schema.lower())

        missing = NotFound(f"there is no Hive schema {schema}")
        if not _NAME.fullmatch(schema):
            raise missing
        return _page_of("tables", _with(part, await asked(self._hive, question, missing)), page)

    async def table(self, schema: str, name: str, *, missing: ServiceError | None = None) -> Table:
        """Return a table or view. Raises `missing`, by default `NotFound`, if it does not exist."""

        def question(client: Client) -> Any:
            return client.get_table(schema.lower(), name.lower())

        return Table.of(await self.ask_about(schema, name, question, missing=missing))

    async def definition(self, schema: str, name: str) -> list[Column]:
        """Return a table's columns, then its partition columns.

        The columns of an AVRO table come from its AVRO schema. Raises `NotFound`, and `Invalid` for a schema that Hive
        cannot read.
        """
        table = await self.table(schema, name)
        if not table.is_read_from_avro:
            return table.definition()

        def question(client: Client) -> Any:
            return client.get_schema(table.schema, table.name)

        try:
            fields = await self.ask_about(table.schema, table.name, question)
        except MetastoreError as error:
            if _OF_SCHEMA not in error.message:
                raise
            reason = error.message.rpartition(_OF_SCHEMA)[2].strip()
            raise Invalid(f"the AVRO schema of {table.schema}.{table.name} cannot be read: {reason}") from error
        return list(map(column_of, fields))

    async def partitions(self, schema: str, name: str, page: Page) -> Record:
        """Return a page of a table's partitions, highest values first. Raises `NotFound`; `Invalid` if it has none."""
        table = await self.table(schema, name)
        if not table.partition_columns:
            raise Invalid(f"table {table.schema}.{table.name} has no partition columns")

        def question(client: Client) -> tuple[list[str], PagingInfo, list[ThriftPartition]]:
            names = sorted(partition_names(client, table), key=order_of, reverse=True)
            shown, paging_info = page.cut(names[page.offset : page.offset + page.fetch])
            return shown, paging_info, named_partitions(client, table, shown)

        shown, paging_info, found = await self.ask_about(table.schema, table.name, question)
        by_values = {tuple(partition.values): partition for partition in found}
        records = [
            _partition_record(key, by_values[values])
            for key in shown
            if (values := tuple(values_in(key).values())) in by_values
        ]
        return {"partitions": records, "paging_info": paging_info}

    async def ask_about(
        self, schema: str, name: str, question: Callable[[Client], Any], *, missing: ServiceError | None = None
    ) -> Any:
        """Return the metastore's answer about a table. Raises `missing`, by default `NotFound`."""
        missing = missing or NotFound(f"there is no Hive table {schema}.{name}")
        if not (_NAME.fullmatch(schema) and _NAME.fullmatch(name)):
            raise missing
        return await asked(self._hive, question, missing)


def partition_names(client: Client, table: Table, first_values: Sequence[str] = ()) -> list[str]:
    """Return the names of a table's partitions that have these values in its columns, and perhaps more.

    An empty value matches any.
    """
    if any(first_values):
        names: list[str] = client.get_partition_names_ps(table.schema, table.name, list(first_values), ALL)
    else:
        names = client.get_partition_names(table.schema, table.name, ALL)
    return names


def named_partitions(client: Client, table: Table, names: Sequence[str]) -> list[ThriftPartition]:
    """Return the existing partitions among these names."""
    found: list[ThriftPartition] = []
    for start in range(0, len(names), NAMES_AT_ONCE):
        some = list(names[start : start + NAMES_AT_ONCE])
        found += client.get_partitions_by_names(table.schema, table.name, some)
    return found


def _partition_record(name: str, partition: ThriftPartition) -> Record:
    return {
        "name": name,
        "values": values_in(name),
        "location": partition.sd.location if partition.sd else None,
        "created_at": instant(partition.createTime),
    }


def _with(part: str | None, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if not part or part.lower() in name)


def _page_of(plural: str, names: Sequence[str], page: Page) -> Record:
    shown, paging_info = page.cut(names[page.offset : page.offset + page.fetch])
    return {plural: shown, "paging_info": paging_info}
