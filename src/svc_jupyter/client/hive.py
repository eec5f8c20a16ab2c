"""Hive's schemas and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
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
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.link import Link

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client


class _HiveFlows:
    """What both kinds of client say to the service about Hive's tables."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def schemas(self, name: str | None, page: int, per_page: int) -> Flow[HiveSchemas]:
        return fetch(self.link, Call("GET", _path(), _page(name, page, per_page)), HiveSchemas)

    def tables(self, schema: str, name: str | None, page: int, per_page: int) -> Flow[HiveTables]:
        return fetch(self.link, Call("GET", _path(schema), _page(name, page, per_page)), HiveTables)

    def columns(self, schema: str, table: str) -> Flow[list[Column]]:
        return (yield from fetch(self.link, Call("GET", _path(schema, table)), HiveColumns)).root

    def partitions(self, schema: str, table: str, page: int, per_page: int) -> Flow[HivePartitions]:
        call = Call("GET", _path(schema, table, "partitions"), {"page": page, "per_page": per_page})
        return fetch(self.link, call, HivePartitions)

    def properties(self, schema: str, table: str) -> Flow[HiveTableProperties]:
        return fetch(self.link, Call("GET", _path(schema, table, "properties")), HiveTableProperties)

    def set_properties(self, schema: str, table: str, properties: Mapping[str, str]) -> Flow[HiveTableProperties]:
        call = Call("POST", _path(schema, table, "properties"), body={"properties": dict(properties)})
        return fetch(self.link, call, HiveTableProperties)

    def remove_properties(self, schema: str, table: str, names: Sequence[str]) -> Flow[HiveTableProperties]:
        call = Call("DELETE", _path(schema, table, "properties"), body={"properties": list(names)})
        return fetch(self.link, call, HiveTableProperties)


def _path(*parts: str) -> str:
    return paths.api("/".join(["hive", *(quote(part, safe="") for part in parts)]))


def _page(name: str | None, page: int, per_page: int) -> dict[str, str | int | None]:
    return {"name": name, "page": page, "per_page": per_page}


class Hive:
    """Hive's schemas and tables, as `client.hive`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _HiveFlows(client._link)

    def schemas(self, *, name: str | None = None, page: int = 1, per_page: int = 10) -> HiveSchemas:
        """Return one page of the names of schemas; `name` is a part of the wanted ones."""
        return self._client._run(self._flows.schemas(name, page, per_page))

    def tables(self, schema: str, *, name: str | None = None, page: int = 1, per_page: int = 10) -> HiveTables:
        """Return one page of the names of a schema's tables; `name` is a part of the wanted ones."""
        return self._client._run(self._flows.tables(schema, name, page, per_page))

    def columns(self, schema: str, table: str) -> list[Column]:
        """Return a table's definition, partition columns last; NotFound when there is none."""
        return self._client._run(self._flows.columns(schema, table))

    def partitions(self, schema: str, table: str, *, page: int = 1, per_page: int = 10) -> HivePartitions:
        """Return one page of a table's partitions, the highest first."""
        return self._client._run(self._flows.partitions(schema, table, page, per_page))

    def properties(self, schema: str, table: str) -> HiveTableProperties:
        """Return what else the metastore knows of a table: its type, location, formats and TBLPROPERTIES."""
        return self._client._run(self._flows.properties(schema, table))

    def set_properties(self, schema: str, table: str, properties: Mapping[str, str]) -> HiveTableProperties:
        """Set TBLPROPERTIES of a table; those that are not named stay."""
        return self._client._run(self._flows.set_properties(schema, table, properties))

    def remove_properties(self, schema: str, table: str, names: Sequence[str]) -> HiveTableProperties:
        """Take TBLPROPERTIES from a table."""
        return self._client._run(self._flows.remove_properties(schema, table, names))


class AsyncHive:
    """Hive's schemas and tables, as `client.hive`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _HiveFlows(client._link)

    async def schemas(self, *, name: str | None = None, page: int = 1, per_page: int = 10) -> HiveSchemas:
        """Return one page of the names of schemas; `name` is a part of the wanted ones."""
        return await self._client._run(self._flows.schemas(name, page, per_page))

    async def tables(self, schema: str, *, name: str | None = None, page: int = 1, per_page: int = 10) -> HiveTables:
        """Return one page of the names of a schema's tables; `name` is a part of the wanted ones."""
        return await self._client._run(self._flows.tables(schema, name, page, per_page))

    async def columns(self, schema: str, table: str) -> list[Column]:
        """Return a table's definition, partition columns last; NotFound when there is none."""
        return await self._client._run(self._flows.columns(schema, table))

    async def partitions(self, schema: str, table: str, *, page: int = 1, per_page: int = 10) -> HivePartitions:
        """Return one page of a table's partitions, the highest first."""
        return await self._client._run(self._flows.partitions(schema, table, page, per_page))

    async def properties(self, schema: str, table: str) -> HiveTableProperties:
        """Return what else the metastore knows of a table: its type, location, formats and TBLPROPERTIES."""
        return await self._client._run(self._flows.properties(schema, table))

    async def set_properties(self, schema: str, table: str, properties: Mapping[str, str]) -> HiveTableProperties:
        """Set TBLPROPERTIES of a table; those that are not named stay."""
        return await self._client._run(self._flows.set_properties(schema, table, properties))

    async def remove_properties(self, schema: str, table: str, names: Sequence[str]) -> HiveTableProperties:
        """Take TBLPROPERTIES from a table."""
        return await self._client._run(self._flows.remove_properties(schema, table, names))
