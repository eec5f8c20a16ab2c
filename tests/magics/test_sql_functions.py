"""The functions that completion offers are functions of the databases; those of the others are asked in their tests."""

import sqlite3
from contextlib import closing

import duckdb
import psycopg

from svc_jupyter.magics.completion.sql_functions import functions_of
from svc_jupyter.sql_tokens import Dialect


def test_sqlite_has_them():
    with closing(sqlite3.connect(":memory:")) as connection:
        there = {name for (name,) in connection.execute("SELECT name FROM pragma_function_list")}
    assert {*functions_of(Dialect.SQLITE)} - there == set()


def test_duckdb_has_them():
    with duckdb.connect() as connection:
        there = {name for (name,) in connection.execute("SELECT function_name FROM duckdb_functions()").fetchall()}
        connection.execute("SELECT coalesce(1, 2), ifnull(1, 2), extract(year FROM current_timestamp), current_time")
    of_its_grammar = {"coalesce", "ifnull", "extract", "current_timestamp", "current_time"}
    assert {*functions_of(Dialect.DUCKDB)} - there == of_its_grammar


def test_postgresql_has_them(empty_postgres_url):
    with psycopg.connect(empty_postgres_url) as connection:
        there = {name for (name,) in connection.execute("SELECT proname FROM pg_catalog.pg_proc")}
        connection.execute("SELECT coalesce(1, 2), nullif(1, 2), greatest(1, 2), least(1, 2)")
        connection.execute("SELECT trim(' a '), localtime, localtimestamp, current_catalog, current_date")
        connection.execute("SELECT current_time, current_timestamp, grouping(a) FROM (SELECT 1 AS a) t GROUP BY a")
    of_its_grammar = (
        "coalesce nullif greatest least grouping localtime localtimestamp current_catalog current_date current_time"
        " current_timestamp trim"
    )
    assert {*functions_of(Dialect.POSTGRESQL)} - there == {*of_its_grammar.split()}
