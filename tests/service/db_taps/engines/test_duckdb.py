"""DuckDB by its own SQLAlchemy dialect: its quotes are PostgreSQL's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.service.db_taps.answers import Query

from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.ground.settings import Settings


@pytest.fixture
def query(make_job: Callable, run_job: Callable, tmp_path: Path) -> Query:
    """Runs a query on a database file."""
    tap = TapAttributes("local", "url", url=f"duckdb:///{tmp_path / 'local.duckdb'}")
    return lambda text: run_job(make_job(connection_of(tap, Settings(data_dir=tmp_path)), text))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT $$;$$ AS a, $x$ ; $$ ; $x$ AS b", [{"a": ";", "b": " ; $$ ; "}]),
        ("SELECT 1; SELECT e'a\\';' AS a, 'b\\' AS b -- ;", [{"a": "a';", "b": "b\\"}]),
        ("SELECT 1 /* /* ; */ ; */ + 2 AS a", [{"a": 3}]),
        ("-- a\nCREATE TABLE t (a int); INSERT INTO t VALUES (100--1\n); SELECT a FROM t", [{"a": 100}]),
    ],
)
def test_a_statement_goes_to_the_database_as_it_is_written(query, text, rows):
    assert query(text).rows == rows
