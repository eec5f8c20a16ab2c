from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import psycopg
import pytest
from tests.service.db_taps.answers import Query
from tests.types.tables import POSTGRESQL, check

from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.job import Connection
from svc_jupyter.service.ground.settings import Settings

LISTS_OF_LISTS = "list<item: list<item: int32>>"
LISTS_OF_LISTS_OF_LISTS = "list<item: list<item: list<item: int32>>>"


@pytest.fixture(scope="module")
def postgres_connection(postgres_cluster, tmp_path_factory) -> Iterator[Connection]:
    """One database for all: nothing here changes a row."""
    with postgres_cluster.database() as url:
        yield connection_of(TapAttributes("types", "url", url=url), Settings(data_dir=tmp_path_factory.mktemp("data")))


def read(query: Query, expression: str) -> tuple[str, object]:
    """Return the type and the value of an expression."""
    answer = query(f"SELECT {expression} AS x")
    [row] = answer.rows
    return answer.types["x"], row["x"]


def test_a_type_of_postgresql_has_a_plain_counterpart(query_postgres):
    counterparts = {
        "1::smallint": ("int16", 1),
        "1::bigint": ("int64", 1),
        "1.5::real": ("float", 1.5),
        "true": ("bool", True),
        "'v'::varchar(3)": ("string", "v"),
        "'x'::bytea": ("binary", b"x"),
        "date '2013-01-02'": ("date32[day]", date(2013, 1, 2)),
        "date '9999-12-31'": ("date32[day]", date(9999, 12, 31)),
        "time '01:02:03.5'": ("time64[us]", time(1, 2, 3, 500_000)),
        "timestamp '2013-01-02 03:04:05'": ("timestamp[us]", datetime(2013, 1, 2, 3, 4, 5)),  # noqa: DTZ001
        "timestamptz '2013-01-02 03:04:05+02'": ("timestamp[us, tz=UTC]", datetime(2013, 1, 2, 1, 4, 5, tzinfo=UTC)),
        "1.50::numeric(10, 2)": ("decimal128(10, 2)", Decimal("1.50")),
        "1234::numeric(2, -2)": ("decimal128(4, 0)", Decimal(1200)),
        "1.5::numeric": ("decimal128(19, 1)", Decimal("1.5")),
        "-0.001::numeric": ("decimal128(21, 3)", Decimal("-0.001")),
        "1e30::numeric + 0.00001": ("decimal128(36, 5)", Decimal("1000000000000000000000000000000.00001")),
        "1e50::numeric": ("decimal256(51, 0)", Decimal(10**50)),
        "1e90::numeric": ("string", str(10**90)),
        "'infinity'::numeric": ("double", math.inf),
        "'5.5'::money": ("decimal128(20, 2)", Decimal("5.50")),
        "'{\"a\": 1}'::json": ("string", '{"a": 1}'),
        "'{\"a\": 1}'::jsonb": ("string", '{"a": 1}'),
        "'00000000-0000-0000-0000-000000000001'::uuid": ("string", "00000000-0000-0000-0000-000000000001"),
        "'10.0.0.0/8'::cidr": ("string", "10.0.0.0/8"),
        "int4range(1, 3)": ("string", "[1,3)"),
        "(1, 'a')": ("string", "(1,a)"),
        "timetz '01:02:03+00'": ("string", "01:02:03+00"),
        "B'101'": ("string", "101"),
        "point(1, 2)": ("string", "(1,2)"),
        "interval '2 days 03:00:00'": ("duration[us]", timedelta(days=2, hours=3)),
        "interval '1 mon 2 days -03:00:00.5'": ("string", "1 mon 2 days -03:00:00.5"),
        "4294967295::oid": ("int64", 4294967295),
        "'now'::regproc": ("string", "now"),
        "NULL": ("string", None),
    }
    assert {expression: read(query_postgres, expression) for expression in counterparts} == counterparts


def test_an_array_has_a_list_of_plain_values(query_postgres):
    counterparts = {
        "array[1, NULL]": ("list<item: int32>", [1, None]),
        "array[1.5, 2.25]": ("list<item: decimal128(20, 2)>", [Decimal("1.50"), Decimal("2.25")]),
        "array[interval '1 day']": ("list<item: duration[us]>", [timedelta(days=1)]),
        "array[inet '10.0.0.1']": ("list<item: string>", ["10.0.0.1/32"]),
        "array[int4range(1, 3), NULL]": ("list<item: string>", ["[1,3)", None]),
        "array['5.5'::money]": ("list<item: decimal128(20, 2)>", [Decimal("5.50")]),
        "array[(1, 'a,b')]": ("list<item: string>", ['(1,"a,b")']),
        "array[4294967295::oid]": ("list<item: int64>", [4294967295]),
        "'4294967295 1'::oidvector": ("list<item: int64>", [4294967295, 1]),
        "'1 -2'::int2vector": ("list<item: int16>", [1, -2]),
        "array['now'::regproc]": ("list<item: string>", ["now"]),
        "array[[1, NULL], [3, 4]]": ("list<item: list<item: int32>>", [[1, None], [3, 4]]),
        "array[[[1], [2]], [[3], [4]], [[5], [6]]]": (LISTS_OF_LISTS_OF_LISTS, [[[1], [2]], [[3], [4]], [[5], [6]]]),
        "'[0:1][5:7]={{1,2,3},{4,5,6}}'::int[]": ("list<item: list<item: int32>>", [[1, 2, 3], [4, 5, 6]]),
        "'[-3:-2]={1,2}'::int[]": ("list<item: int32>", [1, 2]),
        "array[['a', '{b']]": ("list<item: list<item: string>>", [["a", "{b"]]),
        "array[[inet '::1']]": ("list<item: list<item: string>>", [["::1/128"]]),
        "array[[1.5, 2.25]]": ("list<item: list<item: decimal128(20, 2)>>", [[Decimal("1.50"), Decimal("2.25")]]),
        "'{}'::int[]": ("list<item: int32>", []),
    }
    assert {expression: read(query_postgres, expression) for expression in counterparts} == counterparts


def test_a_time_that_python_does_not_have_is_text(query_postgres):
    counterparts = {
        "array[[date 'infinity']]": ("list<item: list<item: string>>", [["infinity"]]),
        "timestamp 'infinity'": ("string", "infinity"),
        "timestamptz '-infinity'": ("string", "-infinity"),
        "date 'infinity'": ("string", "infinity"),
        "date '-infinity'": ("string", "-infinity"),
        "timestamp '20000-01-02 03:04:05'": ("string", "+20000-01-02T03:04:05"),
        "date '0044-03-15 BC'": ("string", "-0043-03-15"),
        "timestamptz '20000-01-02 03:04:05.5+02'": ("string", "+20000-01-02T01:04:05.500000Z"),
        "time '24:00:00'": ("string", "24:00:00"),
        "array[date '10000-01-01', NULL]": ("list<item: string>", ["+10000-01-01", None]),
    }
    assert {expression: read(query_postgres, expression) for expression in counterparts} == counterparts


def test_its_types_become_those_of_the_table_of_types(query_postgres):
    check(POSTGRESQL, lambda text: query_postgres(text).found)


def test_nulls_stay_nulls_in_every_type(query_postgres):
    types = [
        "numeric",
        "numeric(4,1)",
        "uuid",
        "interval",
        "json",
        "inet",
        "numeric[]",
        "timestamptz",
        "date",
        "int4range",
    ]
    found = {name: query_postgres(f"SELECT NULL::{name} AS x FROM generate_series(1, 2)").rows for name in types}
    assert found == {name: [{"x": None}, {"x": None}] for name in types}


@pytest.mark.parametrize(
    ("arrays", "kind", "read"),
    [
        (["{{1,2},{3,4}}", None, "{}", "{{5}}"], LISTS_OF_LISTS, [[[1, 2], [3, 4]], None, [], [[5]]]),
        ([None, "{}"], "list<item: int32>", [None, []]),
        (["{1}", "{{2,NULL}}", None, "{}"], "string", ["[1]", "[[2, null]]", None, "[]"]),
    ],
)
def test_arrays_of_a_column_have_one_depth_or_are_text(query_postgres, arrays, kind, read):
    rows = ", ".join(f"({n}, {'NULL' if array is None else repr(array)}::int[])" for n, array in enumerate(arrays))
    answer = query_postgres(f"SELECT a FROM (VALUES {rows}) AS t (n, a) ORDER BY n")
    assert answer.types == {"a": kind}
    assert answer.table["a"].to_pylist() == read


@pytest.mark.parametrize(
    ("first", "last", "kind", "read"),
    [
        ("NULL", "'{{1,2}}'", LISTS_OF_LISTS, (None, [[1, 2]])),
        ("'{}'", "'{1,2}'", "list<item: int32>", ([], [1, 2])),
        ("'{1,2}'", "'{{3}}'", "string", ("[1, 2]", "[[3]]")),
    ],
)
def test_the_depth_of_arrays_is_known_by_later_rows_too(query_postgres, first, last, kind, read):
    answer = query_postgres(
        f"SELECT CASE WHEN n = 60000 THEN {last} ELSE {first} END::int[] AS a, "
        "repeat('x', 1000) AS filling FROM generate_series(1, 60000) AS n"  # the driver's batches have 16 MB
    )
    assert answer.types["a"] == kind
    assert (answer.table["a"][0].as_py(), answer.table["a"][-1].as_py()) == read


def test_types_that_a_statement_cannot_be_asked_for_are_refused_by_name(query_postgres):
    answer = query_postgres("PREPARE p AS SELECT array[[1]] AS a, 1 AS n, inet '::1' AS ip; EXECUTE p")
    assert 'not from this statement: "a", "ip"' in answer.message
    assert "Cast them to text in it" in answer.message


def test_a_statement_that_is_refused_for_its_types_has_changed_nothing(query_postgres):
    assert query_postgres("CREATE TABLE notes (tags text[])").code == 0
    answer = query_postgres("WITH new AS (INSERT INTO notes VALUES (array['x']) RETURNING tags) SELECT tags FROM new")
    assert 'not from this statement: "tags" (WITH clause containing a data-modifying' in answer.message
    assert query_postgres("SELECT count(*) AS n FROM notes").rows == [{"n": 0}]


def test_an_enumeration_is_text(query_postgres):
    assert query_postgres("CREATE TYPE mood AS ENUM ('sad', 'ok')").code == 0
    assert query_postgres("SELECT 'ok'::mood AS m, array['sad'::mood] AS ms").rows == [{"m": "ok", "ms": ["sad"]}]


def test_an_enumeration_made_by_the_same_script_is_text_too(query_postgres):
    assert query_postgres("CREATE TYPE size AS ENUM ('s', 'm'); SELECT 'm'::size AS m").rows == [{"m": "m"}]


def test_not_a_number_makes_a_column_of_numerics_floats(query_postgres):
    answer = query_postgres("SELECT * FROM (VALUES ('1.5'::numeric), ('NaN')) AS t (x)")
    assert answer.types == {"x": "double"}
    assert answer.rows[0] == {"x": 1.5}
    assert math.isnan(answer.rows[1]["x"])


def test_not_a_number_beside_many_digits_makes_a_column_of_numerics_text(query_postgres):
    values = "('12345678901234567.89'::numeric), ('NaN'), ('-infinity'), (NULL), (0.5)"
    answer = query_postgres(f"SELECT x, array[x] AS l FROM (VALUES {values}) AS t (x)")
    assert answer.types == {"x": "string", "l": "list<item: string>"}
    texts = ["12345678901234567.89", "NaN", "-Infinity", None, "0.5"]
    assert answer.rows == [{"x": text, "l": [text]} for text in texts]


def test_columns_with_times_that_python_does_not_have_are_named(query_postgres):
    answer = query_postgres(
        "SELECT date 'infinity' AS d, array[date 'infinity'] AS l, array[[date 'infinity']] AS m, "
        "timestamp '20000-01-02' AS t, date '2020-01-31' AS near, interval '1 mon' AS i"
    )
    assert answer.summary["notes"] == [
        "columns d, l, m, t are text: not all times are within the years 1 to 9999 and a day's 24 hours"
    ]


def test_the_scale_of_numerics_grows_with_later_rows(query_postgres):
    answer = query_postgres(
        "SELECT CASE WHEN n = 60000 THEN 0.125 ELSE 12345678901234567.5 END::numeric AS x, "
        "repeat('x', 1000) AS filling FROM generate_series(1, 60000) AS n"  # the driver's batches have 16 MB
    )
    assert answer.types["x"] == "decimal128(21, 3)"
    assert answer.table.num_rows == 60_000
    ends = [answer.table["x"][0].as_py(), answer.table["x"][-1].as_py()]
    assert ends == [Decimal("12345678901234567.500"), Decimal("0.125")]


@pytest.fixture
def query_encoded(postgres_cluster, make_job, run_job, tmp_path) -> Iterator[Callable[[str], Query]]:
    """Gives a function that runs queries on a new database with an encoding."""
    made: list[str] = []

    def query_in(encoding: str) -> Query:
        name = encoding.lower()
        with psycopg.connect(postgres_cluster.url("postgres"), autocommit=True) as connection:
            connection.execute(
                f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'"
            )
        made.append(name)
        tap = TapAttributes("t", "url", url=f"{postgres_cluster.url(name)}&client_encoding=LATIN1")
        return lambda text: run_job(make_job(connection_of(tap, Settings(data_dir=tmp_path)), text))

    yield query_in
    for name in made:
        postgres_cluster.drop(name)


def test_texts_of_a_database_with_another_encoding_are_right(query_encoded):
    query = query_encoded("LATIN1")
    texts = r"E'\xfc' AS x, array[E'\xe9'::text] AS l, row(E'\xff'::text)::text AS r"
    answer = query(f"SELECT {texts}, length('ü') AS n, 'ü' = E'\\xfc' AS same")
    assert answer.rows == [{"x": "ü", "l": ["é"], "r": "(ÿ)", "n": 1, "same": True}]
    assert answer.summary["notes"] == []
    assert "equivalent in encoding" in query("SELECT '€' AS x").message


def test_texts_of_a_database_without_an_encoding_are_utf_8_with_marks_for_other_bytes(query_encoded):
    query = query_encoded("SQL_ASCII")
    texts = r"E'\xff\x41' AS x, 'ü' AS u, array[E'\xfe'::text, 'é'] AS l, row(E'\xff'::text)::text AS r"
    answer = query(f"SELECT {texts}, octet_length('ü') AS n")
    assert answer.rows == [{"x": "\ufffdA", "u": "ü", "l": ["\ufffd", "é"], "r": "(\ufffd)", "n": 2}]
    assert answer.summary["notes"] == ["columns x, l, r are text: bytes that are not UTF-8 stand as U+FFFD"]
    assert "nosuch" in query(r"SELECT nosuch, E'\xff'").message


def test_rows_keep_their_order_where_the_server_casts(query_postgres):
    answer = query_postgres("SELECT n, '10.0.0.1'::inet AS ip FROM generate_series(1, 1000) AS n ORDER BY n DESC")
    assert answer.table["n"].to_pylist() == list(range(1000, 0, -1))
