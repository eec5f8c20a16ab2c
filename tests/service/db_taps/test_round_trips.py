"""Values that a database's own driver wrote come out of a result as they went in, whatever they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import psycopg
from hypothesis import given
from hypothesis import strategies as st
from tests.service.db_taps.answers import Query, sqlite_connection
from tests.types import round_trips as of

from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.job import Connection
from svc_jupyter.service.ground.settings import Settings

_READ = "SELECT * FROM t ORDER BY n"

POSTGRESQL = {
    "boolean": st.booleans(),
    "integer": of.SMALL,
    "bigint": of.INTEGERS,
    "numeric": of.decimals(20, 5),
    "numeric(30,10)": of.decimals(20, 10),
    "real": of.FLOATS_32,
    "double precision": of.FLOATS,
    "text": of.TEXTS,
    "bytea": of.BYTES,
    "date": st.dates(),
    "time": st.times(),
    "timestamp": of.LOCAL_TIMES,
    "timestamptz": of.INSTANTS,
    "interval": of.LENGTHS,
    "uuid": st.uuids().map(str),
    "bigint[]": of.lists(of.INTEGERS),
    "numeric[]": of.lists(of.decimals(20, 5)),
    "text[]": of.lists(of.TEXTS),
    "timestamptz[]": of.lists(of.INSTANTS),
}


@of.tables(30)
@given(of.rows(POSTGRESQL))
def test_rows_of_postgresql(query_postgres: Query, postgres_connection: Connection, rows: list[of.Row]) -> None:
    holes = ", ".join(["%s", *(f"%s::{kind}" for kind in POSTGRESQL)])
    with psycopg.connect(postgres_connection.target) as connection:
        connection.execute(f"DROP TABLE IF EXISTS t; CREATE TABLE t ({of.declared(POSTGRESQL)})")
        connection.cursor().executemany(f"INSERT INTO t VALUES ({holes})", of.numbered(rows))
    of.check(rows, POSTGRESQL, query_postgres(_READ).found)


_MAP = "map(varchar, decimal(20,5))"
DUCKDB = {
    "boolean": st.booleans(),
    "bigint": of.INTEGERS,
    "ubigint": st.integers(0, 2**64 - 1),
    "decimal(38,10)": of.decimals(28, 10),
    "float": of.FLOATS_32,
    "double": of.FLOATS,
    "varchar": of.TEXTS,
    "blob": of.BYTES,
    "date": st.dates(),
    "time": st.times(),
    "timestamp": of.LOCAL_TIMES,
    "timestamptz": of.INSTANTS,
    "interval": of.LENGTHS,
    "uuid": st.uuids().map(str),
    "bigint[]": of.lists(of.INTEGERS),
    _MAP: st.dictionaries(of.TEXTS, of.decimals(15, 5), max_size=3),
    "struct(a bigint, b varchar, c timestamptz[])": st.fixed_dictionaries(
        {"a": of.INTEGERS, "b": of.TEXTS, "c": of.lists(of.INSTANTS)}
    ),
}


@of.tables(30)
@given(of.rows(DUCKDB))
def test_rows_of_duckdb(make_job: Callable, run_job: Callable, tmp_path: Path, rows: list[of.Row]) -> None:
    file = tmp_path / "t.duckdb"
    with duckdb.connect(file) as database:
        database.execute(f"CREATE OR REPLACE TABLE t ({of.declared(DUCKDB)})")
        database.executemany(
            f"INSERT INTO t VALUES (?{', ?' * len(DUCKDB)})", [written(row) for row in of.numbered(rows)]
        )
    tap = TapAttributes("local", "url", url=f"duckdb:///{file}")
    answer = run_job(make_job(connection_of(tap, Settings(data_dir=tmp_path)), _READ))
    of.check(rows, DUCKDB, answer.found)


def written(row: of.Row) -> list[Any]:
    """Return a row as DuckDB's driver takes it: a map by its keys and values."""
    place = 1 + list(DUCKDB).index(_MAP)
    if row[place] is None:
        return list(row)
    return [*row[:place], {"key": [*row[place]], "value": [*row[place].values()]}, *row[place + 1 :]]


SQLITE = {
    "INTEGER": of.INTEGERS,
    "REAL": st.floats(allow_nan=False).map(lambda value: value + 0.0),  # SQLite stores NaN as NULL, -0.0 as 0.0
    "TEXT": of.TEXTS,
    "BLOB": of.BYTES,
    "": of.INTEGERS,
}


@of.tables(30)
@given(of.rows(SQLITE))
def test_rows_of_sqlite(make_job: Callable, run_job: Callable, tmp_path: Path, rows: list[of.Row]) -> None:
    file = tmp_path / "t.db"
    with closing(sqlite3.connect(file)) as database:
        database.executescript(f"DROP TABLE IF EXISTS t; CREATE TABLE t ({of.declared(SQLITE)})")
        database.executemany(f"INSERT INTO t VALUES (?{', ?' * len(SQLITE)})", of.numbered(rows))
        database.commit()
    of.check(rows, SQLITE, run_job(make_job(sqlite_connection(file), _READ)).found)
