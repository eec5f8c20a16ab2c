"""SQLite through ADBC: rows arrive as Arrow batches, several times faster than through Python's module.

Everything runs in one transaction, committed after the last statement, and waits up to 30 s for another writer. Where
ADBC's type inference would fail or lose something, the transaction is rolled back and run again the exact way
(`sqlite_rules`). A column without any value has the declared type of its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import adbc_driver_manager as adbc
import adbc_driver_sqlite
import pyarrow as pa

from svc_jupyter.api.bindings import Value
from svc_jupyter.service.db_taps.arrow import Kind, compute, missing
from svc_jupyter.service.db_taps.bindings import sqlite_value, with_marks
from svc_jupyter.service.db_taps.catalogue_file import DatabaseTables
from svc_jupyter.service.db_taps.engines.engine import Sink, TableName, cannot_connect, controls_transactions
from svc_jupyter.service.db_taps.engines.sqlite_rules import (
    catalogue_of,
    failure_of,
    file_uri,
    known_names,
    list_tables,
    refuse_other_files,
    run_exactly,
)
from svc_jupyter.service.db_taps.job import Connection
from svc_jupyter.service.db_taps.statements import Statement, TableParts

_BUSY_SECONDS = 30.0
_BATCH_ROWS = adbc_driver_sqlite.StatementOptions.BATCH_ROWS.value
# The driver infers types from the first batch, so it should be large; but it also holds a batch in memory, and a large
# file may have large rows. 8 Ki and 64 Ki rows a batch are equally fast (0.30 s for a million rows of six).
_LARGE_BATCH, _SMALL_BATCH = 65_536, 8_192
_LARGE_FILE_BYTES = 512 * 2**20
_BEFORE_BEGIN = frozenset({"PRAGMA", "VACUUM"})
_READING = frozenset({"SELECT", "VALUES", "WITH"})
_SHORTENED_NUMBER = r"^-?\d\.\d{6}e[+-]\d{2,3}$"
_SHORTENED_LENGTHS = (12, 14)
_EXACT_INTEGERS, _LARGEST_INTEGER = 2.0**53, 2.0**63
_VIEW = "svc_declared_types"


class InferenceFailed(Exception):
    """ADBC's inferred types do not fit the rows."""


class SqliteEngine:
    """A database file."""

    def __init__(self, connection: Connection) -> None:
        self._address = connection.address
        self._file = Path(connection.target)

    def run(self, statements: Sequence[Statement], sink: Sink) -> None:
        """See `Engine.run`. PRAGMAs at the beginning of the script run before the transaction."""
        uri = self._checked_uri()
        if not controls_transactions(statements) and not any(s.keyword in _BEFORE_BEGIN for s in statements):
            try:
                self._run_by_adbc(uri, statements, sink)
            except InferenceFailed:
                sink.restart()
            else:
                return
        run_exactly(uri, statements, sink, busy_seconds=_BUSY_SECONDS)

    def tables(self) -> list[TableName]:
        """See `Engine.tables`."""
        return list_tables(self._checked_uri(), busy_seconds=_BUSY_SECONDS)

    def known(self, tables: Sequence[TableParts], schema: TableParts = ()) -> list[str]:  # noqa: ARG002  a file has none
        """See `Engine.known`."""
        return known_names(self._checked_uri(), tables)

    def catalogue(self) -> DatabaseTables:
        """See `Engine.catalogue`."""
        return DatabaseTables(None, catalogue_of(self._checked_uri(), busy_seconds=_BUSY_SECONDS))

    def cancel(self) -> None:
        """See `Engine.cancel`. Ending the process is enough: the next process rolls back an unfinished transaction."""

    def _checked_uri(self) -> str:
        if not self._file.is_file():
            raise cannot_connect(self._address, "the file does not exist")
        return file_uri(self._file)

    def _run_by_adbc(self, uri: str, statements: Sequence[Statement], sink: Sink) -> None:
        with self._connected(uri) as connection, _translated():
            _execute(connection, f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000:.0f}")
            connection.set_autocommit(False)
            for written in statements:
                statement, values = with_marks(written, "?")
                sink.start(statement)
                refuse_other_files(statement)
                with _translated(statement.text):
                    is_reading = statement.keyword in _READING
                    declared = _declared_types(connection, with_marks(written, "NULL")[0].text) if is_reading else None
                    self._run_one(connection, statement.text, values, declared, sink)
            connection.commit()

    @contextmanager
    def _connected(self, uri: str) -> Iterator[adbc.AdbcConnection]:
        """Yield a connection, then close both handles: each holds the file open; a late close drops another's locks."""
        try:
            database = adbc_driver_sqlite.connect(uri)
        except adbc.Error as error:
            raise cannot_connect(self._address, _message(error)) from None
        with closing(database), closing(adbc.AdbcConnection(database)) as connection:
            yield connection

    def _run_one(
        self,
        connection: adbc.AdbcConnection,
        text: str,
        values: Sequence[Value],
        declared: list[Kind] | None,
        sink: Sink,
    ) -> None:
        before = _total_changes(connection)
        with closing(adbc.AdbcStatement(connection)) as running:
            running.set_options(**{_BATCH_ROWS: self._batch_rows()})
            running.set_sql_query(text)
            if values:
                columns = [pa.array([sqlite_value(value)]) for value in values]
                running.bind(pa.RecordBatch.from_arrays(columns, [str(place) for place in range(len(columns))]))
            handle, _ = running.execute_query()
            with pa.RecordBatchReader._import_from_c(handle.address) as reader:
                if len(reader.schema):
                    sink.table()
                    for batch in _checked(reader, declared):
                        sink.write(batch)
                        if sink.is_full:
                            break
        sink.done(_total_changes(connection) - before)

    def _batch_rows(self) -> int:
        return _LARGE_BATCH if self._file.stat().st_size < _LARGE_FILE_BYTES else _SMALL_BATCH


def _checked(reader: pa.RecordBatchReader, declared: list[Kind] | None) -> Iterator[pa.RecordBatch]:
    """Yield the batches, an empty one first; raises `InferenceFailed` when they do not match the file."""
    schema = reader.schema
    kinds = declared if declared is not None and len(declared) == len(schema) else [pa.null()] * len(schema)
    mixed = [n for n, kind in enumerate(schema.types) if pa.types.is_string(kind) and not pa.types.is_string(kinds[n])]
    empty = [missing(0, kind) for kind in kinds]
    yield pa.RecordBatch.from_arrays(empty, schema=_schema(schema.names, kinds))
    for batch in reader:
        try:
            batch.validate(full=True)
        except pa.ArrowInvalid:  # text that is not UTF-8, or blobs among texts
            raise InferenceFailed from None
        if any(_has_shortened_number(batch.column(n)) for n in mixed):
            raise InferenceFailed
        if any(_has_rounded_integer(column, kind) for column, kind in zip(batch.columns, kinds, strict=True)):
            raise InferenceFailed
        columns = [
            missing(len(column), kind) if len(column) and column.null_count == len(column) else column
            for column, kind in zip(batch.columns, kinds, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=_schema(schema.names, [column.type for column in columns]))


def _has_shortened_number(column: Any) -> bool:
    """Return whether a text may be a number that the driver wrote with six digits. Dates differ by their length."""
    lengths = compute.min_max(compute.binary_length(column)).as_py()
    if lengths["max"] is None or lengths["max"] < _SHORTENED_LENGTHS[0] or lengths["min"] > _SHORTENED_LENGTHS[1]:
        return False
    return bool(compute.any(compute.match_substring_regex(column, _SHORTENED_NUMBER)).as_py())


def _has_rounded_integer(column: Any, declared: Kind) -> bool:
    """Return whether a floating number may be an integer that the driver rounded, since it stood beside a fraction."""
    if not pa.types.is_floating(column.type) or pa.types.is_floating(declared):
        return False
    size = compute.abs(column)
    is_rounded = compute.and_(compute.greater_equal(size, _EXACT_INTEGERS), compute.less_equal(size, _LARGEST_INTEGER))
    return bool(compute.any(is_rounded).as_py())


def _schema(names: list[str], types: list[Kind]) -> pa.Schema:
    return pa.schema([pa.field(name, kind) for name, kind in zip(names, types, strict=True)])


def _declared_types(connection: adbc.AdbcConnection, query: str) -> list[Kind] | None:
    """Return the tables' declared types for a query's columns, null where none; None when SQLite does not know."""
    with suppress(adbc.Error):
        _execute(connection, f"CREATE TEMP VIEW {_VIEW} AS {query}")
        try:
            rows = _execute(connection, f"PRAGMA temp.table_info({_VIEW})")
        finally:
            _execute(connection, f"DROP VIEW temp.{_VIEW}")
        return [_affinity(row["type"]) for row in rows]
    return None


def _affinity(declared: str) -> Kind:
    """Return the type for a declared one, by SQLite's rules of affinity; none for a blob or no type."""
    name = declared.upper()
    if "INT" in name:
        return pa.int64()
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return pa.string()
    if any(part in name for part in ("REAL", "FLOA", "DOUB")):
        return pa.float64()
    return pa.null()


def _total_changes(connection: adbc.AdbcConnection) -> int:
    return int(_execute(connection, "SELECT total_changes() AS n")[0]["n"])


def _execute(connection: adbc.AdbcConnection, text: str) -> list[dict[str, str]]:
    with closing(adbc.AdbcStatement(connection)) as statement:
        statement.set_sql_query(text)
        handle, _ = statement.execute_query()
        with pa.RecordBatchReader._import_from_c(handle.address) as reader:
            return reader.read_all().to_pylist()


@contextmanager
def _translated(statement: str = "") -> Iterator[None]:
    """Turn the driver's errors into `QueryFailure`, or into `InferenceFailed` where only its types are the cause."""
    try:
        yield
    except adbc.Error as error:
        raise failure_of(_message(error), statement) from None
    except (OSError, pa.ArrowException) as error:  # while rows arrive the driver reports only a text
        if "Type mismatch" in str(error):
            raise InferenceFailed from None
        raise failure_of(str(error).removeprefix("[SQLite] "), statement) from None


def _message(error: adbc.Error) -> str:
    """Return SQLite's own words from the driver's text."""
    text = str(error).partition(": ")[2] or str(error)
    text = text.removeprefix("[SQLite] ").removeprefix("Failed to prepare query: ")
    text = text.removeprefix("Failed to step query: ")
    return text.split("\nquery: ")[0].strip()
