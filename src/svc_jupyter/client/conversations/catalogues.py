"""Catalogues of taps and of Hive."""

from __future__ import annotations

from collections.abc import Sequence

from svc_jupyter.api import paths
from svc_jupyter.api.catalogues import Catalogue, CatalogueColumns, CatalogueFunctions, CatalogueTables
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link


class CatalogueFlows:
    """Requests about catalogues, for both clients. Without a tap's id they are about Hive's."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def get(self, tap_id: int | None, wait: float, *, refresh: bool) -> Flow[Catalogue]:
        params = {"wait": wait or None, "refresh": refresh or None}
        return fetch(self.link, Call("GET", catalogue_path(tap_id), params, hold=wait), Catalogue)

    def tables(
        self, tap_id: int | None, schema: str | None, search: str | None, offset: int, limit: int
    ) -> Flow[CatalogueTables]:
        params = {"schema": schema, "search": search or None, "offset": offset, "limit": limit}
        return fetch(self.link, Call("GET", catalogue_path(tap_id, "tables"), params), CatalogueTables)

    def columns(self, tap_id: int | None, schema: str, tables: Sequence[str]) -> Flow[CatalogueColumns]:
        params = {"schema": schema, "table": tuple(tables)}
        return fetch(self.link, Call("GET", catalogue_path(tap_id, "columns"), params), CatalogueColumns)

    def functions(self, tap_id: int | None) -> Flow[CatalogueFunctions]:
        return fetch(self.link, Call("GET", catalogue_path(tap_id, "functions")), CatalogueFunctions)


def catalogue_path(tap_id: int | None, part: str = "") -> str:
    """Return the path of a catalogue, or of a part of it."""
    base = "hive_catalogue" if tap_id is None else f"db_taps/{tap_id}/catalogue"
    return paths.api(f"{base}/{part}" if part else base)
