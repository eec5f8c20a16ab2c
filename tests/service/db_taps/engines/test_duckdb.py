"""DuckDB through its SQLAlchemy dialect: its quotes are PostgreSQL's, its rows come as Arrow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.service.db_taps.answers import Query
from tests.service.db_taps.test_dry_runs import lines_of
from tests.service.db_taps.test_limits import check as check_limit
from tests.types import bound
from tests.types.tables import DUCKDB, check

from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.engines import sqlalchemy_url
from svc_jupyter.service.ground.settings import Settings


@pytest.fixture
def query(make_job: Callable, run_job: Callable, tmp_path: Path) -> Query:
    """Runs a query on a database file."""
    tap = TapAttributes("local", "url", url=f"duckdb:///{tmp_path / 'local.duckdb'}")
    return lambda text, **more: run_job(make_job(connection_of(tap, Settings(data_dir=tmp_path)), text, **more))


def test_a_statement_goes_to_the_database_as_it_is_written(query):
    tables = {
        "SELECT $$;$$ AS a, $x$ ; $$ ; $x$ AS b": [{"a": ";", "b": " ; $$ ; "}],
        "SELECT 1; SELECT e'a\\';' AS a, 'b\\' AS b -- ;": [{"a": "a';", "b": "b\\"}],
        "SELECT 1 /* /* ; */ ; */ + 2 AS a": [{"a": 3}],
        "-- a\nCREATE TABLE t (a int); INSERT INTO t VALUES (100--1\n); SELECT a FROM t": [{"a": 100}],
    }
    assert {text: query(text).rows for text in tables} == tables


def test_a_plan_is_the_text_of_its_tree(query: Query) -> None:
    query("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
    lines = lines_of(query, "DELETE FROM t WHERE a = :a", bindings={"a": 1})
    assert "Delete" in lines[0]
    assert len(lines) > 5
    assert "syntax error" in query("(ANALYZE) DELETE FROM t", dry_run=True).message  # as behind EXPLAIN alone it runs
    assert query("SELECT count(*) AS n FROM t").rows == [{"n": 1}]


def test_the_first_rows(query: Query) -> None:
    query("CREATE TABLE t AS SELECT range AS id, range::hugeint AS h, '1'::bit AS b FROM range(9)")
    check_limit(query, "SELECT * FROM t ORDER BY id DESC")
    check_limit(query, "FROM t")
    check_limit(query, "UPDATE t SET h = 1 RETURNING id")
    assert query("SELECT range AS n FROM range(100000000000000)", limit=70_000).found.num_rows == 70_000
    assert query("SELECT sum(h)::int AS n FROM t").rows == [{"n": 9}]


BIG = 2**127 - 1
UUID = "00000000-0000-0000-0000-000000000001"


TYPES: list[tuple[str, str, Any]] = [
    ("1", "int32", 1),
    ("1239162456494753671", "int64", 1239162456494753671),
    ("18446744073709551615::ubigint", "uint64", 18446744073709551615),
    ("1::hugeint", "int64", 1),
    (f"{BIG}::hugeint", "decimal256(39, 0)", Decimal(BIG)),
    ("(SELECT sum(range) FROM range(3))", "int64", 3),
    ("340282366920938463463374607431768211455::uhugeint", "string", "340282366920938463463374607431768211455"),
    ("1.50::decimal(5,2)", "decimal128(5, 2)", Decimal("1.50")),
    ("1.5::float", "float", 1.5),
    ("true", "bool", True),
    ("'ü'", "string", "ü"),
    ("'ab'::blob", "binary", b"ab"),
    (f"'{UUID}'::uuid", "string", UUID),
    ("""'{"a": 1}'::json""", "string", '{"a": 1}'),
    ("'101'::bit", "string", "101"),
    ("'b'::enum('a', 'b')", "string", "b"),
    ("union_value(n := 1)", "string", "1"),
    ("'01:02:03+02'::timetz", "string", "01:02:03+02"),
    ("time '01:02:03.5'", "time64[us]", time(1, 2, 3, 500_000)),
    ("time '24:00:00'", "string", "24:00:00"),
    ("interval '2 days 3 hours'", "duration[us]", timedelta(days=2, hours=3)),
    ("interval '1 month 2 days'", "string", "1 mon 2 days"),
    ("date '2020-01-31'", "date32[day]", date(2020, 1, 31)),
    ("date '12020-01-31'", "string", "+12020-01-31"),
    ("date '0044-03-15 (BC)'", "string", "-0043-03-15"),
    ("date 'infinity'", "string", "infinity"),
    ("timestamp '-infinity'", "string", "-infinity"),
    ("timestamptz 'infinity'", "string", "infinity"),
    ("timestamp '2020-01-31 01:02:03.5'", "timestamp[us]", datetime(2020, 1, 31, 1, 2, 3, 500_000)),  # noqa: DTZ001
    ("timestamptz '2020-01-31 01:02:03+02'", "timestamp[us, tz=UTC]", datetime(2020, 1, 30, 23, 2, 3, tzinfo=UTC)),
    ("timestamptz '12020-01-31 01:02:03+00'", "string", "+12020-01-31T01:02:03Z"),
    ("[1, NULL]", "list<l: int32>", [1, None]),
    ("[]::int[]", "list<l: int32>", []),
    ("[date 'infinity', NULL, '2020-01-31']", "list<item: string>", ["infinity", None, "2020-01-31"]),
    ("[interval '1 month', interval '1 day']", "list<item: string>", ["1 mon", "1 day"]),
    ("array_value(date '12020-01-31', NULL)", "list<item: string>", ["+12020-01-31", None]),
    ("[['101'::bit], NULL]", "list<l: list<l: string>>", [["101"], None]),
    ("MAP {date '2020-01-31': [1]}", "map<date32[day], list<l: int32>>", [(date(2020, 1, 31), [1])]),
    ("MAP {date '12020-01-31': '1'::bit}", "map<string, string>", [("+12020-01-31", "1")]),
    ("MAP {}::map(int, int)", "map<int32, int32>", []),
    (
        """{'a b"': '1'::bit, 'select': {'x': 1}}""",
        'struct<a b": string, select: struct<x: int32>>',
        {'a b"': "1", "select": {"x": 1}},
    ),
    ("{'d': date 'infinity', 'n': NULL}", "struct<d: string, n: null>", {"d": "infinity", "n": None}),
    ("CASE WHEN false THEN {'a': '1'::bit} END", "struct<a: string>", None),
    ("NULL", "null", None),
]


def test_each_type_has_a_plain_counterpart(query: Query) -> None:
    answer = query("SELECT " + ", ".join(f"{expression} AS c{place}" for place, (expression, *_) in enumerate(TYPES)))
    [row] = answer.rows
    read = zip(answer.types.values(), row.values(), strict=True)
    assert [(expression, *found) for (expression, *_), found in zip(TYPES, read, strict=True)] == TYPES


def test_its_types_become_those_of_the_table_of_types(query: Query) -> None:
    check(DUCKDB, lambda text: query(text).found)


def test_columns_with_times_that_python_does_not_have_are_named(query: Query) -> None:
    answer = query(
        "SELECT [date 'infinity'] AS l, date '12020-01-31' AS d, date '2020-01-31' AS near, interval '1 month' AS i"
    )
    assert answer.summary is not None
    assert answer.summary["notes"] == [
        "columns l, d are text: not all times are within the years 1 to 9999 and a day's 24 hours"
    ]


def test_types_stay_the_same_without_rows_and_beside_nulls(query: Query) -> None:
    values = (
        "SELECT * FROM (VALUES (1239162456494753671, '1'::bit, date '2020-01-31'), (NULL, NULL, NULL)) AS t(n, b, d)"
    )
    types = {"n": "int64", "b": "string", "d": "date32[day]"}
    answer = query(values)
    assert answer.types == types
    assert answer.rows == [
        {"n": 1239162456494753671, "b": "1", "d": date(2020, 1, 31)},
        {"n": None, "b": None, "d": None},
    ]
    assert query(f"{values} WHERE false").types == types


def test_rows_keep_their_order_where_duckdb_casts(query: Query) -> None:
    answer = query("SELECT range AS n, '1'::bit AS b, 'x' AS n FROM range(100000) ORDER BY range DESC")
    assert answer.table is not None
    assert answer.table.column_names == ["n", "b", "n"]
    assert answer.table.column(0).to_pylist() == list(range(99_999, -1, -1))


@pytest.mark.parametrize(
    ("script", "rows"),
    [
        ("CREATE TABLE t (a int); SELECT 1 AS a; INSERT INTO t VALUES (1), (2); UPDATE t SET a = 3", [{"a": 1}]),
        ("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2) RETURNING a", [{"a": 1}, {"a": 2}]),
        ("CREATE TABLE t (Count bigint); INSERT INTO t VALUES (7); SELECT Count FROM t", [{"Count": 7}]),
        ("PREPARE p AS SELECT date 'infinity' AS d; EXECUTE p", [{"d": "infinity"}]),
        ("CREATE TABLE t AS SELECT 1 AS a; FROM t; SET threads = 1", [{"a": 1}]),
        ("PIVOT (SELECT 'x' AS a, 2 AS b) ON a USING sum(b)", [{"x": 2}]),
        ("CREATE TABLE t (a int); SHOW TABLES", [{"name": "t"}]),
        ("SELECT 1 AS a; -- only a comment", [{"a": 1}]),
        ("BEGIN; CREATE TABLE t (a int); ROLLBACK; SHOW TABLES", []),
    ],
)
def test_the_result_is_that_of_the_last_statement_with_rows(query: Query, script: str, rows: list[Any]) -> None:
    assert query(script).rows == rows


def test_a_script_that_fails_changes_nothing_unless_it_has_transactions_of_its_own(query: Query) -> None:
    query("CREATE TABLE first (a int); SELECT nope")
    assert query("SHOW TABLES").rows == []
    query("BEGIN; CREATE TABLE first (a int); COMMIT; CREATE TABLE second (a int); SELECT nope")
    assert query("SHOW TABLES").rows == [{"name": "first"}, {"name": "second"}]


def test_changed_rows_are_counted(query: Query) -> None:
    answer = query("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2); UPDATE t SET a = 3 WHERE a = 1")
    assert answer.message == "3 statements done, 3 rows changed, no table returned"


def test_a_failure_is_in_duckdbs_words(query: Query) -> None:
    words = {
        "SELECT nope FROM range(1)": 'Referenced column "nope" not found',
        "\n\nSELECT foo(1)": (
            'Catalog Error: Scalar Function with name foo does not exist!\nDid you mean "floor"?\n'
            "  query, line 3: SELECT foo(1)\n  tap local (url)"
        ),
        "SELECT CAST(s AS int) FROM (VALUES ('1'), ('x')) AS t(s)": "Could not convert string 'x' to INT32",
        "SELECT CAST(CASE WHEN range = 900000 THEN 'x' ELSE '1' END AS int) AS n FROM range(1000000)": (
            "Could not convert string 'x' to INT32"
        ),
        "SELECT 1; INSERT INTO none VALUES (1)": "Table with name none does not exist",
        "CREATE TABLE t (a int NOT NULL); INSERT INTO t VALUES (NULL)": "NOT NULL constraint failed",
    }
    messages = {text: query(text).message for text in words}
    assert {text: message for text, message in messages.items() if words[text] not in message} == {}


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_name_is_offered_once_and_the_line_is_the_authors(query: Query, dry_run: bool) -> None:
    query("CREATE TABLE flights (id int)")
    text = "\n\nDELETE FROM flights WHERE id = :id\nAND id IN (SELECT id FROM flight)"
    assert query(text, bindings={"id": 1}, dry_run=dry_run).message == (
        "Catalog Error: Table with name flight does not exist! Did you mean flights?\n"
        "  query, line 4: AND id IN (SELECT id FROM flight)\n  tap local (url)"
    )
    again = "SELECT 1 AS flight\nFROM\nflight"  # the name has another meaning first
    assert "query, line 3: flight\n" in query(again, dry_run=dry_run).message
    assert query("\n\nSELECT 1 FROMM flights", dry_run=dry_run).message == (
        'Parser Error: syntax error at or near "flights"\n  query, line 3: SELECT 1 FROMM flights\n  tap local (url)'
    )


_HOLDER = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"


def test_a_file_that_another_process_has_open_is_waited_for(
    query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query("CREATE TABLE t AS SELECT 7 AS a")
    arguments = [sys.executable, "-c", _HOLDER, str(tmp_path / "local.duckdb")]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdout.readline()

        def end_holder(_seconds: float) -> None:
            holder.communicate()

        monkeypatch.setattr(sqlalchemy_url, "_BUSY_SECONDS", -1)
        assert "Could not set lock on file" in query("SELECT a FROM t").message
        monkeypatch.setattr(sqlalchemy_url, "_BUSY_SECONDS", 60)
        monkeypatch.setattr(sqlalchemy_url.time, "sleep", end_holder)
        assert query("SELECT a FROM t").rows == [{"a": 7}]
        assert holder.returncode == 0


def test_bound_values_come_back_as_they_went_in(query):
    bound.check(lambda text, bindings: query(text, bindings=bindings).found, {})


def test_a_changing_statement_takes_values(query):
    script = "CREATE TABLE t (a int, b varchar); INSERT INTO t VALUES (:a, :b); SELECT * FROM t WHERE b = :b"
    assert query(script, bindings={"a": 1, "b": "x'y"}).rows == [{"a": 1, "b": "x'y"}]
