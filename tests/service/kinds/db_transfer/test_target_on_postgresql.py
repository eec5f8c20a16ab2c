"""Rows into a table of PostgreSQL: types of its own columns, updates by key, all or none."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import psycopg
import pyarrow as pa
import pytest

from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.job import Connection
from svc_jupyter.service.kinds.db_transfer.target import write_table

_ROWS = pa.table(
    {
        "id": pa.array([1, 2], pa.int64()),
        "price": pa.array([Decimal("1.10"), None], pa.decimal128(10, 2)),
        "day": pa.array([date(2026, 11, 21), None]),
        "at": pa.array([datetime(2026, 11, 21, 1, 2, 3, 4), None], pa.timestamp("us")),  # noqa: DTZ001
        "ok": pa.array([True, None]),
        "tags": pa.array([["a"], None], pa.list_(pa.string())),
    }
)


@pytest.fixture
def orders(postgres_connection: Connection) -> Connection:
    with psycopg.connect(postgres_connection.target) as connection:
        connection.execute(
            "CREATE TABLE orders (id int PRIMARY KEY, price numeric, day date, at timestamp, ok bool, tags text)"
        )
    return postgres_connection


def rows_of(connection: Connection) -> list[tuple[object, ...]]:
    with psycopg.connect(connection.target) as opened:
        return opened.execute("SELECT * FROM orders ORDER BY id").fetchall()


def write(connection: Connection, rows: pa.Table, *keys: str) -> None:
    write_table(connection, "orders", keys, frozenset(), rows.schema, iter(rows.to_batches()))


def test_values_take_the_types_of_the_tables_columns(orders: Connection) -> None:
    write(orders, _ROWS)
    first = (1, Decimal("1.10"), date(2026, 11, 21), datetime(2026, 11, 21, 1, 2, 3, 4), True, '["a"]')  # noqa: DTZ001
    assert rows_of(orders) == [first, (2, None, None, None, None, None)]


def test_a_row_that_is_refused_leaves_the_table_as_it_was(orders: Connection) -> None:
    write(orders, _ROWS.slice(1, 1))
    with pytest.raises(QueryFailure, match="duplicate key"):
        write(orders, _ROWS)
    assert len(rows_of(orders)) == 1


def test_rows_with_known_keys_are_updated(orders: Connection) -> None:
    write(orders, _ROWS)
    write(orders, pa.table({"id": [2, 3], "price": [5, 6]}), "id")
    assert [row[:2] for row in rows_of(orders)] == [(1, Decimal("1.10")), (2, 5), (3, 6)]


def test_a_missing_table_is_named(orders: Connection) -> None:
    with pytest.raises(QueryFailure, match='relation "nope" does not exist'):
        write_table(orders, "nope", (), frozenset(), _ROWS.schema, iter(()))
