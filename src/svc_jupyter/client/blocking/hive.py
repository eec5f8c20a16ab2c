"""Hive's schemas and tables."""
# Made from asynchronous/hive.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Mapping, Sequence

from svc_jupyter.api.hive import (
    Column,
    HivePartitions,
    HiveSchemas,
    HiveTableProperties,
    HiveTables,
)
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.hive import HiveFlows


class Hive:
    """Hive's schemas and tables, as `client.hive`."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = HiveFlows(performer.link)

    def schemas(self, *, name: str | None = None, page: int = 1, per_page: int = 10) -> HiveSchemas:
        """Return one page of schema names; `name` filters by a substring."""
        return self._performer.run(self._flows.schemas(name, page, per_page))

    def tables(self, schema: str, *, name: str | None = None, page: int = 1, per_page: int = 10) -> HiveTables:
        """Return one page of a schema's table names; `name` filters by a substring."""
        return self._performer.run(self._flows.tables(schema, name, page, per_page))

    def columns(self, schema: str, table: str) -> list[Column]:
        """Return a table's columns, partition columns last; raises NotFound for an unknown table."""
        return self._performer.run(self._flows.columns(schema, table))

    def partitions(self, schema: str, table: str, *, page: int = 1, per_page: int = 10) -> HivePartitions:
        """Return one page of a table's partitions, in descending order."""
        return self._performer.run(self._flows.partitions(schema, table, page, per_page))

    def properties(self, schema: str, table: str) -> HiveTableProperties:
        """Return a table's other metadata: its type, location, formats and TBLPROPERTIES."""
        return self._performer.run(self._flows.properties(schema, table))

    def set_properties(self, schema: str, table: str, properties: Mapping[str, str]) -> HiveTableProperties:
        """Set TBLPROPERTIES of a table; properties that are not named are unchanged."""
        return self._performer.run(self._flows.set_properties(schema, table, properties))

    def remove_properties(self, schema: str, table: str, names: Sequence[str]) -> HiveTableProperties:
        """Remove TBLPROPERTIES from a table."""
        return self._performer.run(self._flows.remove_properties(schema, table, names))
