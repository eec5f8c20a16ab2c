"""Facts about a table other than its columns, and changes of its TBLPROPERTIES."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa

from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, require
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.hive.catalogue import Catalogue
from svc_jupyter.service.hive.tables import Table

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

Record = dict[str, Any]
_KEPT_BY_HIVE: Final = ("transient_lastDdlTime", "EXTERNAL", "spark.sql.", "avro.schema.url")
"""Properties, or prefixes of their names, by which Hive and Spark manage a table and its files."""


class TableProperties:
    """Reads and changes properties."""

    def __init__(self, catalogue: Catalogue, database: Database) -> None:
        self._catalogue = catalogue
        self._database = database
        self._changing = asyncio.Lock()

    async def get(self, schema: str, name: str) -> Record:
        """Return a table's record. Raises `NotFound`, `Unavailable`."""
        return _record(await self._catalogue.table(schema, name))

    async def set(self, schema: str, name: str, values: Mapping[str, str], *, by: Caller) -> Record:
        """Add or change properties; return the record. Raises `Forbidden`, `NotFound`, `Invalid`, `Unavailable`."""
        require(by, Action.UPDATE, Resource.HIVE)
        return await self._change(schema, name, values, frozenset(), by)

    async def remove(self, schema: str, name: str, names: Iterable[str], *, by: Caller) -> Record:
        """Remove properties, if they exist; return the record. Raises as `set` does."""
        require(by, Action.DELETE, Resource.HIVE)
        return await self._change(schema, name, {}, frozenset(names), by)

    async def _change(
        self, schema: str, name: str, to_set: Mapping[str, str], to_remove: frozenset[str], by: Caller
    ) -> Record:
        for key in sorted(to_remove | to_set.keys()):
            if key.startswith(_KEPT_BY_HIVE):
                raise Invalid(f"properties: {key[:256]} is kept by Hive; change it with ALTER TABLE")

        def change(client: Client) -> None:
            table = client.get_table(schema.lower(), name.lower())
            kept = {key: value for key, value in (table.parameters or {}).items() if key not in to_remove}
            table.parameters = {**kept, **to_set}
            client.alter_table(table.dbName, table.tableName, table)

        async with self._changing:
            await self._catalogue.ask_about(schema, name, change)
            record = await self.get(schema, name)

        def note(connection: sa.Connection) -> None:
            action = "delete" if to_remove else "update"
            table = f"{record['schema']}.{record['table']}"
            trail.record(connection, by, action, Resource.HIVE, table, properties=sorted(to_remove | to_set.keys()))

        await self._database.write(note)
        return record


def _record(table: Table) -> Record:
    return {
        "schema": table.schema,
        "table": table.name,
        **table.facts,
        "partition_columns": list(table.partition_types),
        "properties": dict(sorted(table.properties.items())),
    }
