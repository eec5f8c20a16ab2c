"""Catalogues: schemas, tables, columns and functions of taps and of Hive, as the service last read them."""
# Made from asynchronous/catalogues.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Sequence

from svc_jupyter.api import paths
from svc_jupyter.api.catalogues import (
    Catalogue,
    CatalogueColumns,
    CatalogueFunction,
    CatalogueFunctions,
    CatalogueTables,
    ColumnsOfTable,
)
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.transport.calls import Call


class Catalogues:
    """Catalogues, as `client.catalogues`: of a tap by its id, of Hive with None.

    They are an extension: another service raises NotFound.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def get(self, tap_id: int | None, *, wait: float = 0.0, refresh: bool = False) -> Catalogue:
        """Return the state and the schemas; waits up to `wait` seconds (30 at most) for a first reading.

        With `refresh`, the service reads the database again.
        """
        params = {"wait": wait or None, "refresh": refresh or None}
        return self._sender.fetch(Call("GET", _path(tap_id), params, hold=wait), Catalogue)

    def tables(
        self,
        tap_id: int | None,
        *,
        schema: str | None = None,
        search: str | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> CatalogueTables:
        """Return up to `limit` tables from `offset`, by schema and name; `search` is a part of their names."""
        params = {"schema": schema, "search": search or None, "offset": offset, "limit": limit}
        return self._sender.fetch(Call("GET", _path(tap_id, "tables"), params), CatalogueTables)

    def columns(self, tap_id: int | None, schema: str, tables: Sequence[str]) -> list[ColumnsOfTable]:
        """Return the columns of up to 200 tables of a schema; unknown tables are left out."""
        params = {"schema": schema, "table": tuple(tables)}
        answer = self._sender.fetch(Call("GET", _path(tap_id, "columns"), params), CatalogueColumns)
        return answer.tables

    def functions(self, tap_id: int | None) -> list[CatalogueFunction]:
        """Return the functions that users of the database have made, by schema and name, at most 20,000."""
        answer = self._sender.fetch(Call("GET", _path(tap_id, "functions")), CatalogueFunctions)
        return answer.functions


def _path(tap_id: int | None, part: str = "") -> str:
    base = "hive_catalogue" if tap_id is None else f"db_taps/{tap_id}/catalogue"
    return paths.api(f"{base}/{part}" if part else base)
