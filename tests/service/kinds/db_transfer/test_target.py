"""Rows into a table of a tap: by the columns' names, all or none."""

from __future__ import annotations

import sqlite3
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.job import Connection, EngineName
from svc_jupyter.service.kinds.db_transfer.target import write_table
from svc_jupyter.sql_tokens import Dialect

_ROWS = pa.table(
    {
        "ID": pa.array([1, 2], pa.int32()),
        "price": pa.array([Decimal("1.10"), None], pa.decimal128(10, 2)),
        "day": pa.array([date(2026, 11, 21), None]),
        "at": pa.array([datetime(2026, 11, 21, 1, 2, 3), None], pa.timestamp("us")),  # noqa: DTZ001
        "tags": pa.array([["a", 'b"'], None], pa.list_(pa.string())),
    }
)


@pytest.fixture
def tap(tmp_path: Path) -> Connection:
    file = tmp_path / "t.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, price NUMERIC, day TEXT, at TEXT, tags TEXT)")
    database.close()
    return Connection("t", "sqlite", EngineName.SQLITE, Dialect.SQLITE, str(file), str(file))


def rows_of(tap: Connection) -> list[tuple[object, ...]]:
    database = sqlite3.connect(tap.target)
    try:
        return database.execute("SELECT * FROM orders ORDER BY id").fetchall()
    finally:
        database.close()


def write(tap: Connection, rows: pa.Table, *, keys: tuple[str, ...] = (), fixed: frozenset[str] = frozenset()) -> None:
    write_table(tap, "orders", keys, fixed, rows.schema, iter(rows.to_batches()))


def test_values_keep_their_meaning(tap: Connection) -> None:
    write(tap, _ROWS)
    first = (1, 1.1, "2026-11-21", "2026-11-21 01:02:03", '["a", "b\\""]')
    assert rows_of(tap) == [first, (2, None, None, None, None)]


def test_numbers_and_bytes_within_a_value_are_written_as_in_a_result(tap: Connection) -> None:
    kind = pa.struct([("f", pa.float32()), ("b", pa.binary())])
    write(
        tap,
        pa.table(
            {
                "id": [1],
                "price": pa.array([0.1], pa.float32()),
                "tags": pa.array([{"f": 0.1, "b": b"\x00\xff"}], kind),
            }
        ),
    )
    assert rows_of(tap) == [(1, 0.1, None, None, '{"f": 0.1, "b": "00ff"}')]


def test_a_row_that_is_refused_leaves_the_table_as_it_was(tap: Connection) -> None:
    write(tap, _ROWS.slice(1, 1))
    with pytest.raises(QueryFailure, match="UNIQUE constraint failed"):
        write(tap, _ROWS)
    assert len(rows_of(tap)) == 1


def test_rows_with_known_keys_are_updated(tap: Connection) -> None:
    write(tap, _ROWS)
    write(tap, pa.table({"id": [2, 3], "price": [5, 6]}), keys=("id",))
    assert [row[:2] for row in rows_of(tap)] == [(1, 1.1), (2, 5), (3, 6)]


def test_a_column_that_the_table_lacks_is_named(tap: Connection) -> None:
    with pytest.raises(QueryFailure, match="table orders has no column 'colour'; it has id, price, day, at, tags"):
        write(tap, pa.table({"id": [1], "colour": ["red"]}))


def test_a_partitions_column_may_be_missing(tap: Connection) -> None:
    write(tap, pa.table({"id": [1], "region": ["EU"]}), fixed=frozenset({"region"}))
    assert rows_of(tap)[0][0] == 1


def test_names_with_dots_and_quotes_are_the_columns_own(tap: Connection) -> None:
    database = sqlite3.connect(tap.target)
    database.execute('CREATE TABLE odd ("a.b" INTEGER, "say ""hi""" TEXT)')
    rows = pa.table({"a.b": [1], 'say "hi"': ["x"]})
    write_table(tap, "main.odd", (), frozenset(), rows.schema, iter(rows.to_batches()))
    assert database.execute("SELECT * FROM odd").fetchall() == [(1, "x")]
    database.close()


def test_a_missing_table_is_named(tap: Connection) -> None:
    with pytest.raises(QueryFailure, match="there is no table nope"):
        write_table(tap, "nope", (), frozenset(), _ROWS.schema, iter(()))
