"""Catalogues: schemas, tables, columns and functions of taps and of Hive, as the service last read them."""

from __future__ import annotations

from collections.abc import Sequence

from svc_jupyter.api.catalogues import Catalogue, CatalogueFunction, CatalogueTables, ColumnsOfTable
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.catalogues import CatalogueFlows


class AsyncCatalogues:
    """Catalogues, as `client.catalogues`: of a tap by its id, of Hive with None.

    They are an extension: another service raises NotFound.
    """

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = CatalogueFlows(performer.link)

    async def get(self, tap_id: int | None, *, wait: float = 0.0, refresh: bool = False) -> Catalogue:
        """Return the state and the schemas; waits up to `wait` seconds (30 at most) for a first reading.

        With `refresh`, the service reads the database again.
        """
        return await self._performer.run(self._flows.get(tap_id, wait, refresh=refresh))

    async def tables(
        self,
        tap_id: int | None,
        *,
        schema: str | None = None,
        search: str | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> CatalogueTables:
        """Return up to `limit` tables from `offset`, by schema and name; `search` is a part of their names."""
        return await self._performer.run(self._flows.tables(tap_id, schema, search, offset, limit))

    async def columns(self, tap_id: int | None, schema: str, tables: Sequence[str]) -> list[ColumnsOfTable]:
        """Return the columns of up to 200 tables of a schema; unknown tables are left out."""
        return (await self._performer.run(self._flows.columns(tap_id, schema, tables))).tables

    async def functions(self, tap_id: int | None) -> list[CatalogueFunction]:
        """Return the functions that users of the database have made, by schema and name, at most 20,000."""
        return (await self._performer.run(self._flows.functions(tap_id))).functions
