"""Writes rows into a table of a tap: first into a temporary table, then by one statement of one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import closing
from itertools import chain
from typing import Any, Final

import pyarrow as pa

from svc_jupyter.api.result_forms import field_texts, shortest
from svc_jupyter.service.db_taps.arrow import Column, Kind
from svc_jupyter.service.db_taps.engines.engine import cannot_connect
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.job import Connection, EngineName

_STAGING: Final = "svc_transfer"
_BUSY_SECONDS: Final = 30.0


def write_table(
    connection: Connection,
    table: str,
    keys: Sequence[str],
    fixed: Set[str],
    schema: pa.Schema,
    rows: Iterator[pa.RecordBatch],
) -> None:
    """Append the rows to a table, or update those with equal `keys`; all or none. Raises `QueryFailure`.

    Columns are matched by name. Columns in `fixed` (a partition's) may be missing in the table, others may not.
    """
    write = _to_sqlite if connection.engine is EngineName.SQLITE else _to_postgresql
    write(connection, table, keys, fixed, schema, rows)


def chosen_columns(wanted: Sequence[str], there: Sequence[str], fixed: Set[str], table: str) -> list[tuple[int, str]]:
    """Return the columns to write: their index and the table's name for them."""
    names = {name.lower(): name for name in reversed(there)}
    missing = [name for name in wanted if name.lower() not in names and name not in fixed]
    if missing:
        raise QueryFailure(
            f"table {table} has no column {missing[0]!r}; it has {', '.join(there)}. Columns go by their names",
            may_retry=False,
        )
    return [(number, names[name.lower()]) for number, name in enumerate(wanted) if name.lower() in names]


def merging(table: str, columns: Sequence[str], keys: Sequence[str]) -> str:
    """Return the statement that merges the rows into the table; names are already quoted."""
    text = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(columns)} FROM {_STAGING} WHERE true"  # noqa: S608
    if not keys:
        return text
    others = [f"{name} = excluded.{name}" for name in columns if name not in keys]
    action = f"UPDATE SET {', '.join(others)}" if others else "NOTHING"
    return f"{text} ON CONFLICT ({', '.join(keys)}) DO {action}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quoted_table(name: str) -> str:
    """Quote `table` or `schema.table`."""
    return ".".join(map(_quoted, name.split(".")))


def _to_sqlite(
    connection: Connection,
    table: str,
    keys: Sequence[str],
    fixed: Set[str],
    schema: pa.Schema,
    rows: Iterator[pa.RecordBatch],
) -> None:
    try:
        with closing(sqlite3.connect(f"file:{connection.target}?mode=rw", uri=True, timeout=_BUSY_SECONDS)) as database:
            schema_name, _, name = table.rpartition(".")
            described = database.execute("SELECT name FROM pragma_table_info(?, ?)", (name, schema_name or None))
            there = [str(row[0]) for row in described]
            if not there:
                raise QueryFailure(f"there is no table {table}", may_retry=False)
            chosen = chosen_columns(schema.names, there, fixed, table)
            names = [_quoted(name) for _, name in chosen]
            plain = [_for_sqlite(schema.types[number]) for number, _ in chosen]
            database.execute(f"CREATE TEMP TABLE {_STAGING} ({', '.join(names)})")
            holes = ", ".join("?" * len(names))
            for batch in rows:
                columns = [make(batch.column(number)) for make, (number, _) in zip(plain, chosen, strict=True)]
                database.executemany(f"INSERT INTO {_STAGING} VALUES ({holes})", zip(*columns, strict=True))  # noqa: S608
            database.execute(merging(_quoted_table(table), names, [_quoted(key) for key in keys]))
            database.commit()
    except sqlite3.OperationalError as error:
        if "unable to open" in str(error):
            raise cannot_connect(connection.address, str(error)) from None
        raise QueryFailure(str(error)) from None
    except sqlite3.Error as error:
        raise QueryFailure(str(error)) from None


def _for_sqlite(kind: Kind) -> Callable[[Column], list[Any]]:
    """Return a converter of values for SQLite, which stores only numbers, text and bytes."""
    if pa.types.is_nested(kind):
        return field_texts
    if pa.types.is_decimal(kind):
        return lambda column: [None if value is None else str(value) for value in column.to_pylist()]
    if pa.types.is_timestamp(kind):
        return lambda column: [None if value is None else value.isoformat(" ") for value in column.to_pylist()]
    if pa.types.is_date(kind):
        return lambda column: [None if value is None else value.isoformat() for value in column.to_pylist()]
    return lambda column: list(shortest(column).to_pylist())


def _to_postgresql(
    connection: Connection,
    table: str,
    keys: Sequence[str],
    fixed: Set[str],
    schema: pa.Schema,
    rows: Iterator[pa.RecordBatch],
) -> None:
    import adbc_driver_manager as adbc
    import adbc_driver_postgresql

    try:
        with (
            closing(adbc_driver_postgresql.connect(connection.target)) as database,
            closing(adbc.AdbcConnection(database)) as opened,
        ):
            opened.set_autocommit(False)
            with closing(adbc.AdbcStatement(opened)) as asking:
                asking.set_sql_query(f"SELECT * FROM {_quoted_table(table)}")  # noqa: S608
                described = asking.execute_schema()  # freed with its last reference
                there = pa.Schema._import_from_c(described.address).names
            chosen = chosen_columns(schema.names, there, fixed, table)
            with closing(adbc.AdbcStatement(opened)) as filling:
                filling.set_options(
                    **{
                        "adbc.ingest.target_table": _STAGING,
                        "adbc.ingest.mode": "adbc.ingest.mode.create",
                        "adbc.ingest.temporary": "true",
                    }
                )
                reader = _reader(schema, chosen, rows)
                exported = adbc.ArrowArrayStreamHandle()
                reader._export_to_c(exported.address)
                filling.bind_stream(exported)
                filling.execute_update()
            names = [_quoted(name) for _, name in chosen]
            with closing(adbc.AdbcStatement(opened)) as moving:
                moving.set_sql_query(merging(_quoted_table(table), names, [_quoted(key) for key in keys]))
                moving.execute_update()
            opened.commit()
    except adbc.Error as error:
        raise QueryFailure(str(error).partition(": ")[2].strip() or str(error)) from None


def _reader(
    schema: pa.Schema, chosen: Sequence[tuple[int, str]], rows: Iterator[pa.RecordBatch]
) -> pa.RecordBatchReader:
    kinds = [_for_postgresql(schema.types[number]) for number, _ in chosen]
    columns = pa.schema([(name, kind) for (_, name), kind in zip(chosen, kinds, strict=True)])

    def made(batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [_postgresql_column(batch.column(n), kind) for (n, _), kind in zip(chosen, kinds, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=columns)

    return pa.RecordBatchReader.from_batches(columns, chain(map(made, rows)))


def _for_postgresql(kind: Kind) -> Kind:
    if pa.types.is_int8(kind):
        return pa.int16()
    return pa.string() if pa.types.is_nested(kind) or pa.types.is_null(kind) else kind


def _postgresql_column(column: Column, kind: Kind) -> Column:
    if pa.types.is_nested(column.type):
        return pa.array(field_texts(column), pa.string())
    return column.cast(kind)
