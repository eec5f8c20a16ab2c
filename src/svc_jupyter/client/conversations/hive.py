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
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link


class HiveFlows:
    """Requests about Hive's tables, for both clients."""

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
