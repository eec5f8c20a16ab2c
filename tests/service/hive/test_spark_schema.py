"""Columns that Spark keeps as JSON."""

from __future__ import annotations

import json

from svc_jupyter.service.hive.tables import hive_type, spark_columns

ARRAY = {"type": "array", "elementType": "integer", "containsNull": True}
STRUCT = {"type": "struct", "fields": [{"name": "a", "type": "byte"}, {"name": "b", "type": ARRAY}]}


def test_types_are_written_as_hive_does():
    types = [
        ("long", "bigint"),
        ("decimal(10,2)", "decimal(10,2)"),
        (ARRAY, "array<int>"),
        ({"type": "map", "keyType": "string", "valueType": STRUCT}, "map<string,struct<a:tinyint,b:array<int>>>"),
        ({"type": "udt", "class": "x", "sqlType": STRUCT}, "struct<a:tinyint,b:array<int>>"),
    ]
    assert [(spark, hive_type(spark)) for spark, _ in types] == types


def test_a_long_schema_is_put_together():
    text = json.dumps({"type": "struct", "fields": [{"name": "a", "type": "short", "metadata": {}}]})
    properties = {
        "spark.sql.sources.provider": "json",
        "spark.sql.sources.schema.numParts": "2",
        "spark.sql.sources.schema.part.0": text[:20],
        "spark.sql.sources.schema.part.1": text[20:],
    }
    [column] = spark_columns(properties) or []
    assert (column.name, column.type) == ("a", "smallint")


def test_a_table_of_hive_is_none():
    assert spark_columns({"spark.sql.sources.schema": "{}"}) is None
    assert spark_columns({"spark.sql.sources.provider": "json"}) is None
