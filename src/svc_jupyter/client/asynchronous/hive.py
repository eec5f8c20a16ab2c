"""Hive's schemas and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from svc_jupyter.api.hive import (
    Column,
    HivePartitions,
    HiveSchemas,
    HiveTableProperties,
    HiveTables,
)
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.hive import HiveFlows


class AsyncHive:
    """Hive's schemas and tables, as `client.hive`."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = HiveFlows(performer.link)

    async def schemas(self, *, name: str | None = None, page: int = 1, per_page: int = 10) -> HiveSchemas:
        """Return one page of schema names; `name` filters by a substring."""
        return await self._performer.run(self._flows.schemas(name, page, per_page))

    async def tables(self, schema: str, *, name: str | None = None, page: int = 1, per_page: int = 10) -> HiveTables:
        """Return one page of a schema's table names; `name` filters by a substring."""
        return await self._performer.run(self._flows.tables(schema, name, page, per_page))

    async def columns(self, schema: str, table: str) -> list[Column]:
        """Return a table's columns, partition columns last; raises NotFound for an unknown table."""
        return await self._performer.run(self._flows.columns(schema, table))

    async def partitions(self, schema: str, table: str, *, page: int = 1, per_page: int = 10) -> HivePartitions:
        """Return one page of a table's partitions, in descending order."""
        return await self._performer.run(self._flows.partitions(schema, table, page, per_page))

    async def properties(self, schema: str, table: str) -> HiveTableProperties:
        """Return a table's other metadata: its type, location, formats and TBLPROPERTIES."""
        return await self._performer.run(self._flows.properties(schema, table))

    async def set_properties(self, schema: str, table: str, properties: Mapping[str, str]) -> HiveTableProperties:
        """Set TBLPROPERTIES of a table; properties that are not named are unchanged."""
        return await self._performer.run(self._flows.set_properties(schema, table, properties))

    async def remove_properties(self, schema: str, table: str, names: Sequence[str]) -> HiveTableProperties:
        """Remove TBLPROPERTIES from a table."""
        return await self._performer.run(self._flows.remove_properties(schema, table, names))
