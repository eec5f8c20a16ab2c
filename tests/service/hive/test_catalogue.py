"""Tables as the metastore has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pymetastore.hive_metastore.ThriftHiveMetastore import Client
from pymetastore.hive_metastore.ttypes import Function, FunctionType, PrincipalType
from tests.support.hive import AVRO_SERDE, add_partitions, make_table

from svc_jupyter.service.catalogues.sources import HiveSource
from svc_jupyter.service.db_taps.catalogue_file import CatalogueFile
from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.hive.hive import Hive
from svc_jupyter.service.http.paging import Page

AVRO = {
    "type": "record",
    "name": "flight",
    "fields": [
        {"name": "Carrier", "type": "string", "doc": "two letters"},
        {"name": "delay", "type": ["null", "double"]},
        {"name": "legs", "type": {"type": "array", "items": {"type": "map", "values": "long"}}},
    ],
}
AVRO_COLUMNS = [
    ("carrier", "string", "two letters"),
    ("delay", "double", None),
    ("legs", "array<map<string,bigint>>", None),
]


async def definition(hive: Hive, schema: str, name: str) -> list[tuple[str, str, str | None]]:
    return [(column.name, column.type, column.comment) for column in await hive.catalogue.definition(schema, name)]


async def test_a_definition_has_the_columns_then_the_partition_columns(hive: Hive, client: Client, schema: str):
    make_table(
        client,
        "flights",
        {"carrier": ("string", "two letters"), "delay": "decimal(5,2)"},
        {"day": "date"},
        schema=schema,
    )
    expected = [("carrier", "string", "two letters"), ("delay", "decimal(5,2)", None), ("day", "date", None)]
    assert await definition(hive, schema, "flights") == expected
    assert await definition(hive, schema.upper(), "Flights") == expected


async def test_the_columns_of_an_avro_table_come_from_its_schema(
    hive: Hive, client: Client, schema: str, tmp_path: Path
):
    (tmp_path / "flight.avsc").write_text(json.dumps(AVRO))
    given = {
        "inside": {"avro.schema.literal": json.dumps(AVRO)},
        "beside": {"avro.schema.url": (tmp_path / "flight.avsc").as_uri()},
    }
    for name, properties in given.items():
        make_table(client, name, {}, {"day": "string"}, schema=schema, serde=AVRO_SERDE, properties=properties)
        assert await definition(hive, schema, name) == [*AVRO_COLUMNS, ("day", "string", None)]


async def test_an_avro_schema_that_cannot_be_read_is_reported(hive: Hive, client: Client, schema: str):
    properties = {"avro.schema.literal": json.dumps(AVRO)}
    make_table(client, "broken", {}, schema=schema, serde=AVRO_SERDE, properties=properties)
    table = client.get_table(schema, "broken")
    table.parameters["avro.schema.literal"] = "no schema"
    client.alter_table(schema, "broken", table)
    with pytest.raises(Invalid, match=rf"the AVRO schema of {schema}\.broken cannot be read: .*"):
        await hive.catalogue.definition(schema, "broken")


async def test_a_table_of_sparks_own_form_has_its_real_columns(hive: Hive, client: Client, schema: str):
    fields = [
        {"name": "Carrier", "type": "string", "nullable": True, "metadata": {"comment": "two letters"}},
        {"name": "delay", "type": "long", "nullable": True, "metadata": {}},
        {"name": "day", "type": "string", "nullable": True, "metadata": {}},
    ]
    properties = {
        "spark.sql.sources.provider": "avro",
        "spark.sql.sources.schema": json.dumps({"type": "struct", "fields": fields}),
    }
    make_table(client, "of_spark", {"col": "array<string>"}, {"day": "string"}, schema=schema, properties=properties)
    expected = [("Carrier", "string", "two letters"), ("delay", "bigint", None), ("day", "string", None)]
    assert await definition(hive, schema, "of_spark") == expected


@pytest.mark.parametrize("name", ["nothing", "no name", "Ü", "a" * 129])
async def test_a_table_that_is_not_there(hive: Hive, schema: str, name: str):
    with pytest.raises(NotFound, match=r"there is no Hive table"):
        await hive.catalogue.definition(schema, name)
    with pytest.raises(NotFound, match=r"there is no Hive table"):
        await hive.catalogue.definition(name, "flights")


async def test_schemas_and_tables_are_listed_by_name(hive: Hive, client: Client, schema: str):
    for name in ("b_table", "a_table", "c_other"):
        make_table(client, name, {"x": "int"}, schema=schema)
    assert (await hive.catalogue.tables(schema, Page(1, 2)))["tables"] == ["a_table", "b_table"]
    last = await hive.catalogue.tables(schema, Page(2, 2))
    assert (last["tables"], last["paging_info"].previous_page, last["paging_info"].next_page) == (["c_other"], 1, None)
    assert (await hive.catalogue.tables(schema, Page(1, 10), "TABLE"))["tables"] == ["a_table", "b_table"]
    assert (await hive.catalogue.schemas(Page(1, 10), schema))["schemas"] == [schema]
    with pytest.raises(NotFound, match="there is no Hive schema nowhere"):
        await hive.catalogue.tables("nowhere", Page(1, 10))


async def test_partitions_come_highest_first(hive: Hive, client: Client, schema: str):
    make_table(client, "logs", {"x": "int"}, {"month": "int", "what": "string"}, schema=schema)
    add_partitions(client, "logs", ["9", "a=b/c"], ["10", "x"], ["10", "__HIVE_DEFAULT_PARTITION__"], schema=schema)
    first = await hive.catalogue.partitions(schema, "logs", Page(1, 2))
    assert [item["values"] for item in first["partitions"]] == [
        {"month": "10", "what": "x"},
        {"month": "10", "what": "__HIVE_DEFAULT_PARTITION__"},
    ]
    assert first["paging_info"].next_page == 2
    [last] = (await hive.catalogue.partitions(schema, "logs", Page(2, 2)))["partitions"]
    assert (last["name"], last["values"]["what"]) == ("month=9/what=a%3Db%2Fc", "a=b/c")
    assert last["location"].startswith("file:")
    assert last["created_at"].endswith("Z")


async def test_a_table_without_partition_columns_has_no_partitions(hive: Hive, client: Client, schema: str):
    make_table(client, "plain", {"x": "int"}, schema=schema)
    with pytest.raises(Invalid, match="has no partition columns"):
        await hive.catalogue.partitions(schema, "plain", Page(1, 10))


async def test_the_kept_catalogue_has_columns_and_counts(hive: Hive, client: Client, schema: str, tmp_path: Path):
    make_table(client, "flights", {"delay": "double"}, {"day": "date"}, schema=schema, properties={"numRows": "7"})
    make_table(client, "planes", {"tail": "string"}, schema=schema, properties={"numRows": "-1"})
    file = CatalogueFile(await HiveSource.of(hive.connections).write(tmp_path))
    rows, total = file.tables(schema, None, 0, 10)
    assert (file.facts().default_schema, total) == ("default", 2)
    assert rows == [(schema, "flights", "table", 7, 2), (schema, "planes", "table", None, 1)]
    assert file.columns(schema, ["flights"]) == {"flights": [("delay", "double"), ("day", "date")]}


async def test_the_kept_catalogue_has_functions(hive: Hive, client: Client, schema: str, tmp_path: Path):
    of_all = {"className": "example.Net", "ownerName": "ann", "ownerType": PrincipalType.USER, "createTime": 1}
    client.create_function(Function("net", schema, functionType=FunctionType.JAVA, resourceUris=[], **of_all))
    file = CatalogueFile(await HiveSource.of(hive.connections).write(tmp_path))
    client.drop_function(schema, "net")
    assert (schema, "net", "function") in file.functions(10)
