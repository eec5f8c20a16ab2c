"""Nested types out of descriptions of their parts, the query for their values, and the values out of JSON."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from svc_jupyter.service.kinds.hive.nested import Described, arrow_type, document_parser, with_json

INT, TEXT, DATE = Described("int"), Described("string"), Described("date")


def struct(*names: str, parts: tuple[Described, ...]) -> Described:
    return Described("struct<…>", names, parts)


def map_of(key: Described, value: Described) -> Described:
    return Described("map<…>", ("k", "v"), (key, value))


def array_of(element: Described) -> Described:
    return Described("array<…>", ("e",), (element,))


def test_parts_make_the_type() -> None:
    money = map_of(TEXT, Described("decimal(10,2)"))
    kind = array_of(struct("a", "odd, name:", "c", parts=(INT, money, array_of(Described("timestamp")))))
    assert arrow_type(kind) == pa.list_(
        pa.struct(
            [
                pa.field("a", pa.int32()),
                pa.field("odd, name:", pa.map_(pa.string(), pa.decimal128(10, 2))),
                pa.field("c", pa.list_(pa.timestamp("us"))),
            ]
        )
    )


@pytest.mark.parametrize(
    ("names", "distinct"),
    [(["a", "b", "a"], ["a_0", "b", "a_1"]), (["a", "a", "a_0"], ["a_1", "a_2", "a_0"]), (["", ""], ["_0", "_1"])],
)
def test_fields_of_one_name_get_numbers(names: list[str], distinct: list[str]) -> None:
    assert arrow_type(struct(*names, parts=(INT,) * len(names))) == pa.struct([(name, pa.int32()) for name in distinct])


def test_a_type_that_arrow_does_not_have_is_read_as_text() -> None:
    assert arrow_type(map_of(TEXT, Described("interval day to second"))) == pa.map_(pa.string(), pa.string())


def test_keys_without_a_type_are_texts() -> None:
    assert arrow_type(map_of(Described("void"), Described("void"))) == pa.map_(pa.string(), pa.null())


def test_a_document_gives_values_of_the_types() -> None:
    kind = struct(
        *("n", "d", "t", "b", "m", "missing", "n", "x"),
        parts=(
            *(Described("decimal(20,2)"), DATE, Described("timestamp"), Described("binary")),
            *(map_of(struct("x", "x", parts=(INT, INT)), Described("boolean")), TEXT, Described("bigint")),
            array_of(Described("double")),
        ),
    )
    text = (
        '{"n":1.10,"d":"2020-01-02","t":"2020-01-02T03:04:05.678901","b":"AP8=",'
        '"m":[{"col1":{"x":1,"x":2},"col2":true}],"missing":null,"n":9223372036854775807,"x":[1.5,"-Infinity",null]}'
    )
    made = pa.array([document_parser(arrow_type(kind))(text)], arrow_type(kind)).to_pylist()
    assert made == [
        {
            "n_0": Decimal("1.10"),
            "d": date(2020, 1, 2),
            "t": datetime(2020, 1, 2, 3, 4, 5, 678901),  # noqa: DTZ001
            "b": b"\x00\xff",
            "m": [({"x_0": 1, "x_1": 2}, True)],
            "missing": None,
            "n_1": 2**63 - 1,
            "x": [1.5, float("-inf"), None],
        }
    ]


def test_a_variant_is_asked_for_as_json_and_a_query_without_nested_types_as_it_is() -> None:
    assert with_json("SELECT a", [INT, TEXT]) == "SELECT a"
    assert with_json("SELECT v", [Described("variant")]).startswith("SELECT to_json(`c0`) FROM (")


def test_fields_are_asked_for_as_they_are() -> None:
    text = with_json("SELECT a, b FROM t", [INT, array_of(struct("a", "a", parts=(INT, TEXT)))])
    assert text.startswith("SELECT `c0`, to_json(`c1`, map('ignoreNullFields','false',")
    assert text.endswith(") FROM (\nSELECT a, b FROM t\n) AS `svc_rows`(`c0`, `c1`)")


@pytest.mark.parametrize(
    ("kind", "type_by_place", "document"),
    [
        (
            Described("map<…>", ("k", "v"), (DATE, INT)),
            "map<date, int>",
            "transform(map_entries(`c0`), v0 -> struct(v0.key, v0.value))",
        ),
        (
            Described("struct<…>", ("a b", "a b"), (INT, array_of(map_of(INT, Described("variant"))))),
            "struct<f0: int, f1: array<map<int, variant>>>",
            "IF(`c0` IS NULL, NULL, struct(`c0`.f0, transform(`c0`.f1, "
            "v0 -> transform(map_entries(v0), v1 -> struct(v1.key, to_json(v1.value))))))",
        ),
    ],
)
def test_maps_are_asked_for_as_entries_and_the_fields_around_them_by_their_places(
    kind: Described, type_by_place: str, document: str
) -> None:
    text = with_json("SELECT a FROM t", [kind])
    by_place = f"SELECT CAST(`c0` AS {type_by_place}) FROM (\nSELECT a FROM t\n) AS `svc_rows`(`c0`)"
    assert text.startswith(f"SELECT to_json({document}, map(")
    assert text.endswith(f" FROM (\n{by_place}\n) AS `svc_rows`(`c0`)")
