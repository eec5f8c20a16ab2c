"""The databases whose catalogues are kept: a tap's, read by a worker process, and Hive's, read from the metastore."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from svc_jupyter.service.catalogues.catalogues import HIVE_KEY
from svc_jupyter.service.db_taps.catalogue_file import CATALOGUE_FILE, CatalogueTable, CatalogueWriter
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.db_taps.job import Job, JobKind
from svc_jupyter.service.db_taps.table_lists import work
from svc_jupyter.service.ground.errors import NotFound
from svc_jupyter.service.hive.catalogue import asked
from svc_jupyter.service.hive.tables import Table
from svc_jupyter.service.processes.warm_workers import WarmWorkers
from svc_jupyter.service.runtimes.metastore.connections import HiveConnections
from svc_jupyter.sql_tokens import Dialect

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

_LIMIT_SECONDS: Final = 300.0
_TABLES_AT_ONCE: Final = 200
_DEFAULT_SCHEMA: Final = "default"
_COUNTS: Final = ("numRows", "spark.sql.statistics.numRows")


@dataclass(frozen=True, slots=True)
class TapSource:
    """A tap's database. Its connection is made anew for each reading, so no secret is kept."""

    db_taps: DbTaps
    workers: WarmWorkers[Job]
    account_id: int
    tap_id: int
    identity: str

    @property
    def key(self) -> str:
        """See `Source.key`."""
        return f"tap-{self.tap_id}"

    @property
    def is_asleep(self) -> bool:
        """See `Source.is_asleep`."""
        return False

    async def dialect(self) -> Dialect:
        """See `Source.dialect`."""
        return (await self.db_taps.opened(self.account_id, self.tap_id)).connection.dialect

    async def write(self, folder: Path) -> Path:
        """See `Source.write`."""
        tap = await self.db_taps.opened(self.account_id, self.tap_id)
        await work(JobKind.CATALOGUE, tap, self.workers, folder, limit_seconds=_LIMIT_SECONDS)
        return folder / CATALOGUE_FILE


@dataclass(frozen=True, slots=True)
class TapSources:
    """Makes the sources of taps."""

    db_taps: DbTaps
    workers: WarmWorkers[Job]

    async def of_tap(self, account_id: int, tap_id: int) -> TapSource:
        """Return a tap's source. Raises `NotFound`, and `Invalid` for a tap that is not active."""
        identity = await self.db_taps.identity(account_id, tap_id)
        return TapSource(self.db_taps, self.workers, account_id, tap_id, identity)


@dataclass(frozen=True, slots=True)
class HiveSource:
    """Hive's metastore, asked for 200 tables at a time."""

    connections: HiveConnections
    key: str = HIVE_KEY
    identity: str = "metastore"

    @classmethod
    def of(cls, connections: HiveConnections) -> Self:
        """Return the source of the metastore's catalogue."""
        return cls(connections)

    @property
    def is_asleep(self) -> bool:
        """See `Source.is_asleep`."""
        return not self.connections.is_started

    async def dialect(self) -> Dialect:
        """See `Source.dialect`."""
        return Dialect.HIVE

    async def write(self, folder: Path) -> Path:
        """See `Source.write`."""
        file = folder / CATALOGUE_FILE
        nothing = NotFound("there are no schemas")
        functions: list[tuple[str, str, str]] = []
        with CatalogueWriter(file, _DEFAULT_SCHEMA) as writer:
            for schema in sorted(await asked(self.connections, lambda client: client.get_all_databases(), nothing)):
                names = sorted(await asked(self.connections, partial(_names, schema), nothing))
                for start in range(0, len(names), _TABLES_AT_ONCE):
                    some = names[start : start + _TABLES_AT_ONCE]
                    tables = await asked(self.connections, partial(_tables, schema, some), nothing)
                    await asyncio.to_thread(writer.add, tables)
                made = await asked(self.connections, partial(_functions, schema), nothing)
                functions.extend((schema, name, "function") for name in made)
            await asyncio.to_thread(writer.add_functions, functions)
        return file


def _names(schema: str, client: Client) -> Any:
    return client.get_all_tables(schema)


def _functions(schema: str, client: Client) -> Any:
    return client.get_functions(schema, "*")


def _tables(schema: str, names: list[str], client: Client) -> list[CatalogueTable]:
    found = map(Table.of, client.get_table_objects_by_name(schema, names))
    return [_catalogued(table) for table in sorted(found, key=lambda table: table.name)]


def _catalogued(table: Table) -> CatalogueTable:
    kind = "view" if "VIEW" in table.facts["table_type"] else "table"
    columns = [(column.name, column.type) for column in table.definition()]
    return CatalogueTable(table.schema, table.name, kind, _count(table), columns)


def _count(table: Table) -> int | None:
    """Return the rows that the metastore has counted; -1 and nothing mean that it has not."""
    counts = [table.properties.get(name, "") for name in _COUNTS]
    return next((int(count) for count in counts if count.isdecimal()), None)
