"""The rows that queries read: generated deterministically, in a SQLite file or a PostgreSQL table."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import psycopg

TABLE = "orders"
COLUMNS = {
    "id": "INTEGER",
    "quantity": "INTEGER",
    "price": "DOUBLE PRECISION",
    "weight": "DOUBLE PRECISION",
    "customer": "VARCHAR(40)",
    "day": "DATE",
}
QUERY = f"SELECT {', '.join(COLUMNS)} FROM {TABLE}"
_SEED = 20_260_101
_CUSTOMERS = 50_000
_DAYS = 3_650
_CHUNK = 100_000

Row = tuple[int, int, float, float, str, str]


def chunks(count: int) -> Iterator[list[Row]]:
    """Yield `count` rows in lists; the n-th row does not depend on the count."""
    generator = np.random.default_rng(_SEED)
    days = np.datetime_as_string(np.datetime64("2016-01-01") + np.arange(_DAYS))
    for start in range(0, count, _CHUNK):
        rows = list(
            zip(
                range(start + 1, start + _CHUNK + 1),
                generator.integers(1, 1_000, _CHUNK).tolist(),
                generator.uniform(0.5, 900, _CHUNK).round(2).tolist(),
                generator.normal(10, 3, _CHUNK).tolist(),
                [f"customer {number:05}" for number in generator.integers(0, _CUSTOMERS, _CHUNK).tolist()],
                days[generator.integers(0, _DAYS, _CHUNK)].tolist(),
                strict=True,
            )
        )
        yield rows[: count - start]


def write_sqlite(file: Path, count: int) -> None:
    """Create a SQLite file with the rows."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(_create())
        for rows in chunks(count):
            database.executemany(f"INSERT INTO {TABLE} VALUES (?, ?, ?, ?, ?, ?)", rows)


def write_postgres(url: str, count: int) -> None:
    """Create the table in a PostgreSQL database."""
    with psycopg.connect(url) as database, database.cursor() as cursor:
        cursor.execute(_create().encode())
        with cursor.copy(f"COPY {TABLE} FROM STDIN".encode()) as copy:
            for rows in chunks(count):
                text = io.StringIO()
                text.writelines("\t".join(map(str, row)) + "\n" for row in rows)
                copy.write(text.getvalue())
        cursor.execute(f"ANALYZE {TABLE}".encode())


def _create() -> str:
    return f"CREATE TABLE {TABLE} ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})"
