"""Hive's schemas and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from svc_jupyter.api import paths
from svc_jupyter.api.hive import (
    Column,
    HiveColumns,
    HivePartitions,
    HiveSchemas,
    HiveTableProperties,
    HiveTables,
)
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.transport.calls import Call


class AsyncHive:
    """Hive's schemas and tables, as `client.hive`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def schemas(self, *, name: str | None = None, page: int = 1, per_page: int = 10) -> HiveSchemas:
        """Return one page of schema names; `name` filters by a substring."""
        params = {"name": name, "page": page, "per_page": per_page}
        return await self._sender.fetch(Call("GET", _path(), params), HiveSchemas)

    async def tables(self, schema: str, *, name: str | None = None, page: int = 1, per_page: int = 10) -> HiveTables:
        """Return one page of a schema's table names; `name` filters by a substring."""
        params = {"name": name, "page": page, "per_page": per_page}
        return await self._sender.fetch(Call("GET", _path(schema), params), HiveTables)

    async def columns(self, schema: str, table: str) -> list[Column]:
        """Return a table's columns, partition columns last; raises NotFound for an unknown table."""
        answer = await self._sender.fetch(Call("GET", _path(schema, table)), HiveColumns)
        return answer.root

    async def partitions(self, schema: str, table: str, *, page: int = 1, per_page: int = 10) -> HivePartitions:
        """Return one page of a table's partitions, in descending order."""
        call = Call("GET", _path(schema, table, "partitions"), {"page": page, "per_page": per_page})
        return await self._sender.fetch(call, HivePartitions)

    async def properties(self, schema: str, table: str) -> HiveTableProperties:
        """Return a table's other metadata: its type, location, formats and TBLPROPERTIES."""
        return await self._sender.fetch(Call("GET", _path(schema, table, "properties")), HiveTableProperties)

    async def set_properties(self, schema: str, table: str, properties: Mapping[str, str]) -> HiveTableProperties:
        """Set TBLPROPERTIES of a table; properties that are not named are unchanged."""
        call = Call("POST", _path(schema, table, "properties"), body={"properties": dict(properties)})
        return await self._sender.fetch(call, HiveTableProperties)

    async def remove_properties(self, schema: str, table: str, names: Sequence[str]) -> HiveTableProperties:
        """Remove TBLPROPERTIES from a table."""
        call = Call("DELETE", _path(schema, table, "properties"), body={"properties": list(names)})
        return await self._sender.fetch(call, HiveTableProperties)


def _path(*parts: str) -> str:
    return paths.api("/".join(["hive", *(quote(part, safe="") for part in parts)]))
