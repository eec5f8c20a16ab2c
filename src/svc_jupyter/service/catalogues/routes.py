"""Catalogues over HTTP: of taps, with the rights of the taps, and of Hive, with the rights of Hive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Query

from svc_jupyter.api.catalogues import (
    COLUMNS_LIMIT,
    TABLES_LIMIT,
    Catalogue,
    CatalogueColumns,
    CatalogueFunctions,
    CatalogueTables,
    HiveSqlToCheck,
    SqlProblems,
    SqlToCheck,
)
from svc_jupyter.api.fields import Id
from svc_jupyter.service.access.dependencies import CallerDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.catalogues.catalogues import Catalogues, Source
from svc_jupyter.service.catalogues.sources import HiveSource, TapSource, TapSources
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.sql_tokens import Dialect

router = resource_router(tags=["catalogues"])

CataloguesDep = Annotated[Catalogues, part(Catalogues)]
HiveDep = Annotated[HiveSource, part(HiveSource)]


async def _tap_source(db_tap_id: Id, sources: Annotated[TapSources, part(TapSources)], caller: CallerDep) -> TapSource:
    return await sources.of_tap(caller.account_id, db_tap_id)


TapDep = Annotated[TapSource, Depends(_tap_source)]
WaitDep = Annotated[float, Query(ge=0, le=30, description="seconds to wait for a reading under way")]
RefreshDep = Annotated[bool, Query(description="read the database again, even if the catalogue is new")]
SchemaDep = Annotated[str | None, Query(max_length=255, description="only tables of this schema")]
SearchDep = Annotated[str | None, Query(max_length=255, description="part of the table's name")]
OffsetDep = Annotated[int, Query(ge=0, le=2**31)]
LimitDep = Annotated[int, Query(ge=1, le=TABLES_LIMIT)]
OfSchemaDep = Annotated[str, Query(max_length=255, description="schema of the tables; empty without schemas")]
TableDep = Annotated[
    list[str], Query(max_length=COLUMNS_LIMIT, default_factory=list, description="name of a table; repeatable")
]
ColumnPartDep = Annotated[
    str | None, Query(max_length=255, description="part of the column's name, in any table; instead of table")
]
_OF_TAP, _OF_HIVE = needs(Action.READ, Resource.DB_TAP), needs(Action.READ, Resource.HIVE)


@router.get("/db_taps/{db_tap_id}/catalogue", dependencies=[_OF_TAP])
async def get_tap_catalogue(
    tap: TapDep, catalogues: CataloguesDep, wait: WaitDep = 0.0, refresh: RefreshDep = False
) -> Catalogue:
    """Return the state and the schemas of a tap's catalogue; a missing or old one is read behind."""
    return await catalogues.overview(tap, wait_seconds=wait, refresh=refresh)


@router.get("/db_taps/{db_tap_id}/catalogue/tables", dependencies=[_OF_TAP])
async def list_tap_catalogue_tables(
    tap: TapDep,
    catalogues: CataloguesDep,
    schema: SchemaDep = None,
    search: SearchDep = None,
    offset: OffsetDep = 0,
    limit: LimitDep = 100,
) -> CatalogueTables:
    """Return a part of the tables in a tap's catalogue, by schema and name."""
    return await catalogues.tables(tap, schema=schema, search=search, offset=offset, limit=limit)


@router.get("/db_taps/{db_tap_id}/catalogue/columns", dependencies=[_OF_TAP])
async def get_tap_catalogue_columns(
    tap: TapDep, catalogues: CataloguesDep, table: TableDep, schema: OfSchemaDep = "", search: ColumnPartDep = None
) -> CatalogueColumns:
    """Return the columns of tables in a tap's catalogue, or those with a text in their name."""
    return await _columns(catalogues, tap, schema, table, search)


@router.get("/db_taps/{db_tap_id}/catalogue/functions", dependencies=[_OF_TAP])
async def list_tap_catalogue_functions(tap: TapDep, catalogues: CataloguesDep) -> CatalogueFunctions:
    """Return the functions that users of a tap's database have made, by schema and name; 20,000 at most."""
    return await catalogues.functions(tap)


@router.post("/db_taps/{db_tap_id}/check", dependencies=[_OF_TAP])
async def check_tap_query(body: SqlToCheck, tap: TapDep, catalogues: CataloguesDep) -> SqlProblems:
    """Return what is wrong with a script for a tap: what cannot be parsed, and unknown tables and columns."""
    return await catalogues.problems(tap, body.query, await tap.dialect())


@router.get("/hive_catalogue", dependencies=[_OF_HIVE])
async def get_hive_catalogue(
    hive: HiveDep, catalogues: CataloguesDep, wait: WaitDep = 0.0, refresh: RefreshDep = False
) -> Catalogue:
    """Return the state and the schemas of Hive's catalogue; a missing or old one is read behind."""
    return await catalogues.overview(hive, wait_seconds=wait, refresh=refresh)


@router.get("/hive_catalogue/tables", dependencies=[_OF_HIVE])
async def list_hive_catalogue_tables(
    hive: HiveDep,
    catalogues: CataloguesDep,
    schema: SchemaDep = None,
    search: SearchDep = None,
    offset: OffsetDep = 0,
    limit: LimitDep = 100,
) -> CatalogueTables:
    """Return a part of the tables in Hive's catalogue, by schema and name."""
    return await catalogues.tables(hive, schema=schema, search=search, offset=offset, limit=limit)


@router.get("/hive_catalogue/columns", dependencies=[_OF_HIVE])
async def get_hive_catalogue_columns(
    hive: HiveDep,
    catalogues: CataloguesDep,
    table: TableDep,
    schema: OfSchemaDep = "default",
    search: ColumnPartDep = None,
) -> CatalogueColumns:
    """Return the columns of tables in Hive's catalogue, or those with a text in their name."""
    return await _columns(catalogues, hive, schema, table, search)


@router.get("/hive_catalogue/functions", dependencies=[_OF_HIVE])
async def list_hive_catalogue_functions(hive: HiveDep, catalogues: CataloguesDep) -> CatalogueFunctions:
    """Return the functions that users have made in Hive, by schema and name; 20,000 at most."""
    return await catalogues.functions(hive)


@router.post("/hive_catalogue/check", dependencies=[_OF_HIVE])
async def check_hive_query(body: HiveSqlToCheck, hive: HiveDep, catalogues: CataloguesDep) -> SqlProblems:
    """Return what is wrong with a script over Hive's tables: what cannot be parsed, and unknown tables and columns."""
    return await catalogues.problems(hive, body.query, Dialect(body.dialect))


async def _columns(
    catalogues: Catalogues, source: Source, schema: str, tables: Sequence[str], search: str | None
) -> CatalogueColumns:
    """Return the columns of the named tables, of which unknown ones are left out, or the columns that are found."""
    if search:
        return await catalogues.columns_with(source, search)
    if not tables:
        raise Invalid("table: name a table, or a part of a column's name as search")
    return await catalogues.columns(source, schema, tables)
