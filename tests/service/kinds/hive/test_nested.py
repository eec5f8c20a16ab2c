"""Types of nested columns out of their descriptions, and their values out of JSON."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa

from svc_jupyter.service.kinds.hive.columns import document_parser, parsed_type, with_json


def test_a_description_gives_the_type() -> None:
    described = "array<struct<a:int,`odd name`:map<string,decimal(10,2)>,c:array<timestamp>>>"
    inner = pa.struct(
        [
            pa.field("a", pa.int32()),
            pa.field("odd name", pa.map_(pa.string(), pa.decimal128(10, 2))),
            pa.field("c", pa.list_(pa.timestamp("us"))),
        ]
    )
    assert parsed_type(described) == pa.list_(inner)


def test_a_type_that_arrow_does_not_have_is_read_as_text() -> None:
    assert parsed_type("map<string,interval day to second>") == pa.map_(pa.string(), pa.string())


def test_a_document_gives_values_of_the_types() -> None:
    described = "struct<n:decimal(20,2),d:date,t:timestamp,b:binary,m:map<int,boolean>,missing:string,x:array<double>>"
    text = (
        '{"n":1.10,"d":"2020-01-02","t":"2020-01-02T03:04:05.678901","b":"AP8=","m":{"1":true},'
        '"missing":null,"x":[1.5,"NaN",null]}'
    )
    kind = parsed_type(described)
    made = pa.array([document_parser(kind)(text)], kind).to_pylist()[0]
    assert made["x"][1] != made["x"][1]
    made["x"] = [made["x"][0], made["x"][2]]
    assert made == {
        "n": Decimal("1.10"),
        "d": date(2020, 1, 2),
        "t": datetime(2020, 1, 2, 3, 4, 5, 678901),  # noqa: DTZ001
        "b": b"\x00\xff",
        "m": [(1, True)],
        "missing": None,
        "x": [1.5, None],
    }


def test_only_nested_columns_become_json() -> None:
    text = with_json("SELECT a, b FROM t", ["int", "array<int>"])
    assert text.startswith("SELECT `c0`, to_json(`c1`, map(")
    assert text.endswith("FROM (\nSELECT a, b FROM t\n) AS `svc_rows`(`c0`, `c1`)")
