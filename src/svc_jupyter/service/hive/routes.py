"""Hive's tables and sensors over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Response

from svc_jupyter.api.hive import (
    HiveColumns,
    HivePartitions,
    HiveSchemas,
    HiveTableProperties,
    HiveTables,
    PropertiesToRemove,
    PropertiesToSet,
)
from svc_jupyter.api.sensors import FileSensor, PartitionSensor, SensorStatus
from svc_jupyter.service.access.dependencies import CallerDep, PageDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.hive.catalogue import Catalogue
from svc_jupyter.service.hive.sensors import Sensors
from svc_jupyter.service.hive.table_properties import TableProperties
from svc_jupyter.service.http.responses import json_response
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router

router = resource_router(tags=["hive"])


async def _to_remove(
    body: PropertiesToRemove | None = None,
    properties: Annotated[str | None, Query(max_length=4096, description="names separated by commas")] = None,
) -> list[str]:
    """Return the names of properties given in the query or in the body."""
    in_query = [name.strip() for name in (properties or "").split(",") if name.strip()]
    names = [*in_query, *(body.properties if body else ())]
    if not names:
        raise Invalid("properties: name those that are to be removed")
    return names


CatalogueDep = Annotated[Catalogue, part(Catalogue)]
PropertiesDep = Annotated[TableProperties, part(TableProperties)]
SensorsDep = Annotated[Sensors, part(Sensors)]
NamesDep = Annotated[list[str], Depends(_to_remove)]
PartDep = Annotated[str | None, Query(max_length=128, description="part of the name")]


@router.get("/hive", dependencies=[needs(Action.READ, Resource.HIVE)], responses={200: {"model": HiveSchemas}})
async def list_schemas(catalogue: CatalogueDep, page: PageDep, name: PartDep = None) -> Response:
    """Return a page of the names of Hive's schemas, by name. 503 while the metastore is being installed."""
    return json_response(await catalogue.schemas(page, name))


@router.get("/hive/{schema}", dependencies=[needs(Action.READ, Resource.HIVE)], responses={200: {"model": HiveTables}})
async def list_tables(schema: str, catalogue: CatalogueDep, page: PageDep, name: PartDep = None) -> Response:
    """Return a page of the names of a schema's tables and views, by name."""
    return json_response(await catalogue.tables(schema, page, name))


@router.get(
    "/hive/{schema}/{table}", dependencies=[needs(Action.READ, Resource.HIVE)], responses={200: {"model": HiveColumns}}
)
async def get_table(schema: str, table: str, catalogue: CatalogueDep) -> Response:
    """Return a Hive table's definition: columns, then partition columns; for an AVRO table its schema."""
    columns = await catalogue.definition(schema, table)
    return json_response([column.model_dump() for column in columns])


@router.get(
    "/hive/{schema}/{table}/partitions",
    dependencies=[needs(Action.READ, Resource.HIVE)],
    responses={200: {"model": HivePartitions}},
)
async def list_partitions(schema: str, table: str, catalogue: CatalogueDep, page: PageDep) -> Response:
    """Return a page of a table's partitions, highest values first. 422 for a table without partition columns."""
    return json_response(await catalogue.partitions(schema, table, page))


@router.get(
    "/hive/{schema}/{table}/properties",
    dependencies=[needs(Action.READ, Resource.HIVE)],
    responses={200: {"model": HiveTableProperties}},
)
async def get_properties(schema: str, table: str, properties: PropertiesDep) -> Response:
    """Return the properties of a table."""
    return json_response(await properties.get(schema, table))


@router.post(
    "/hive/{schema}/{table}/properties",
    dependencies=[needs(Action.UPDATE, Resource.HIVE)],
    responses={200: {"model": HiveTableProperties}},
)
async def set_properties(
    schema: str, table: str, body: PropertiesToSet, properties: PropertiesDep, caller: CallerDep
) -> Response:
    """Add or change properties of a table; others stay unchanged. 422 for properties that Hive itself maintains."""
    return json_response(await properties.set(schema, table, body.properties, by=caller))


@router.delete(
    "/hive/{schema}/{table}/properties",
    dependencies=[needs(Action.DELETE, Resource.HIVE)],
    responses={200: {"model": HiveTableProperties}},
)
async def remove_properties(
    schema: str, table: str, properties: PropertiesDep, caller: CallerDep, names: NamesDep
) -> Response:
    """Remove properties of a table. A missing property is not an error."""
    return json_response(await properties.remove(schema, table, names, by=caller))


@router.post("/sensors/partition_sensor", dependencies=[needs(Action.CREATE, Resource.SENSOR)])
@router.post("/partition_sensor", dependencies=[needs(Action.CREATE, Resource.SENSOR)])
async def partition_sensor(body: PartitionSensor, sensors: SensorsDep, caller: CallerDep) -> SensorStatus:
    """Return whether partitions exist. 422 for an unknown table."""
    return await sensors.partitions(body, by=caller)


@router.post("/sensors/file_sensor", dependencies=[needs(Action.CREATE, Resource.SENSOR)])
async def file_sensor(body: FileSensor, sensors: SensorsDep, caller: CallerDep) -> SensorStatus:
    """Return whether all files exist. A folder that is not empty counts as a file."""
    return await sensors.files(body, by=caller)
