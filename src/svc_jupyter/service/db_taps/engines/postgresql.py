"""PostgreSQL (and Redshift, which uses its protocol) through ADBC: rows arrive as Arrow by binary COPY."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress

import adbc_driver_manager as adbc
import adbc_driver_postgresql
import pyarrow as pa

from svc_jupyter.service.db_taps.arrow import missing
from svc_jupyter.service.db_taps.bindings import postgresql_string, with_literals
from svc_jupyter.service.db_taps.catalogue_file import DatabaseTables, grouped
from svc_jupyter.service.db_taps.engines.engine import Sink, TableName, cannot_connect, controls_transactions
from svc_jupyter.service.db_taps.engines.functions import FUNCTIONS
from svc_jupyter.service.db_taps.engines.postgresql_types import (
    WITHOUT_ELEMENTS,
    Request,
    converted,
    requests,
    shaped,
    unnamed_types,
)
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.job import Connection
from svc_jupyter.service.db_taps.statements import Statement, TableParts, words_of
from svc_jupyter.service.db_taps.times import OUTSIDE, became_text
from svc_jupyter.sql_tokens import Dialect

_COPIED = frozenset({"SELECT", "VALUES", "TABLE", "WITH", "INSERT", "UPDATE", "DELETE", ""})
"""Statements whose rows COPY can send; the first word is empty for `(SELECT …) UNION …`."""
_WRITING = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})
_USE_COPY = adbc_driver_postgresql.StatementOptions.USE_COPY.value
_COPY_PREFIX = len("COPY (")
_SETTINGS = """SELECT set_config(name, CASE name WHEN 'client_encoding' THEN 'SQL_ASCII' ELSE '5000' END, false)
FROM pg_catalog.pg_settings WHERE name = 'client_connection_check_interval'
OR (name = 'client_encoding' AND current_setting('server_encoding') = 'SQL_ASCII')"""
"""The server cancels the query of a killed worker. A database without an encoding gives the bytes of its texts."""
_CLEAR_TEXT = (
    "the password was not sent; have the server ask for scram-sha-256, or give the tap as db_type url with "
    "sslmode=verify-full, or with require_auth=password, in its query"
)
_TABLES = """SELECT table_schema, table_name, CASE table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END
FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"""
_ARRAY_TYPES = "SELECT oid::int8 FROM pg_catalog.pg_type WHERE typcategory = 'A' AND oid IN"
_MATERIALIZED = "SELECT schemaname, matviewname, 'view' FROM pg_catalog.pg_matviews"

_CATALOGUE = """SELECT n.nspname::text, c.relname::text, CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END,
  c.reltuples::bigint, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND n.nspname !~ '^pg_(toast|temp)' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND (pg_catalog.has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE')
       OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE'))
ORDER BY 1, 2, a.attnum"""
_REDSHIFT_CATALOGUE = """SELECT c.table_schema::varchar, c.table_name::varchar,
  CASE t.table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END, NULL, c.column_name::varchar, c.data_type::varchar
FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2, c.ordinal_position"""


class PostgresqlEngine:
    """One connection. A query that returns rows is prepared first, so that a syntax error has its position."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._running: adbc.AdbcStatement | None = None

    def run(self, statements: Sequence[Statement], sink: Sink) -> None:
        """See `Engine.run`. A single statement commits by itself, since some must not run in a transaction block."""
        with self._connected() as connection:
            statements = [with_literals(statement, self._connection.dialect) for statement in statements]
            in_transaction = len(statements) > 1 and not controls_transactions(statements)
            if in_transaction:
                connection.set_autocommit(False)
            for statement in statements:
                sink.start(statement)
                self._run_one(connection, statement, sink)
            if in_transaction:
                with _translated():
                    connection.commit()

    def tables(self) -> list[TableName]:
        """See `Engine.tables`."""
        with self._connected() as connection:
            found = self._rows(connection, _TABLES)
            if self._connection.dialect is Dialect.POSTGRESQL:
                found += self._rows(connection, _MATERIALIZED)
        return [TableName(name, schema, kind) for schema, name, kind in sorted(found)]

    def known(self, tables: Sequence[TableParts], schema: TableParts = ()) -> list[str]:
        """See `Engine.known`."""
        if not tables:
            return [table.name for table in self.tables() if not schema or table.schema == schema[-1]]
        # Compared as text, so that a name in any case, or of no table, is no error.
        names = ", ".join(postgresql_string(parts[-1].lower()) for parts in tables)
        query = f"SELECT column_name FROM information_schema.columns WHERE lower(table_name) IN ({names})"  # noqa: S608
        with self._connected() as connection:
            return [name for (name,) in self._rows(connection, query)]

    def catalogue(self) -> DatabaseTables:
        """See `Engine.catalogue`. PostgreSQL knows the rows as of the last ANALYZE; Redshift is not asked for them."""
        is_postgresql = self._connection.dialect is Dialect.POSTGRESQL
        with self._connected() as connection:
            default = self._rows(connection, "SELECT current_schema()::text")[0][0]
            rows = self._rows(connection, _CATALOGUE if is_postgresql else _REDSHIFT_CATALOGUE)
            functions: list[tuple[str, ...]] = []
            if is_postgresql:
                with suppress(QueryFailure):  # the tables are worth having without them
                    functions = self._rows(connection, FUNCTIONS[Dialect.POSTGRESQL])
        return DatabaseTables(default, grouped(rows, _known_count), functions)

    def cancel(self) -> None:
        """See `Engine.cancel`."""
        running = self._running
        if running is not None:
            with suppress(adbc.Error):
                running.cancel()

    @contextmanager
    def _connected(self) -> Iterator[adbc.AdbcConnection]:
        with ExitStack() as stack:
            try:
                database = stack.enter_context(closing(adbc_driver_postgresql.connect(self._connection.target)))
                connection = stack.enter_context(closing(adbc.AdbcConnection(database)))
            except adbc.Error as error:
                raise cannot_connect(self._connection.address, _connection_reason(str(error))) from None
            if self._connection.dialect is Dialect.POSTGRESQL:
                with suppress(QueryFailure):
                    self._rows(connection, _SETTINGS)
            yield connection

    def _run_one(self, connection: adbc.AdbcConnection, statement: Statement, sink: Sink) -> None:
        if statement.keyword == "COPY" and {"STDIN", "STDOUT"} & set(words_of(statement.text, Dialect.POSTGRESQL)):
            raise QueryFailure(
                "COPY from STDIN or to STDOUT is not available here; use INSERT or SELECT",
                position=statement.lead,
                may_retry=False,
            )
        schema = self._described(connection, statement.text)
        text = statement.text
        copied = statement.keyword in _COPIED
        wanted = [] if schema is None else self._requests(connection, schema)
        if schema is not None and (_may_be_cut(statement, sink) or not all(request.is_plain for request in wanted)):
            text = self._asking_for(wanted, schema.names, statement, connection)
            if sink.limit is not None:
                text += f" LIMIT {sink.limit}"
        with closing(adbc.AdbcStatement(connection)) as running, _translated(_COPY_PREFIX if copied else 0):
            self._running = running
            try:
                running.set_options(**{_USE_COPY: "true" if copied else "false"})
                running.set_sql_query(f"{text}\n" if copied else text)  # COPY's `)` follows, perhaps after a comment
                handle, changed = running.execute_query()
                if schema is None:
                    handle.release()
                    sink.done(changed if changed >= 0 else None)
                    return
                sink.table()
                arrays = [place for place, request in enumerate(wanted) if request.is_array]
                for batch in _batches(handle, arrays, sink.became_text):
                    sink.write(batch)
                sink.done(None)
            finally:
                self._running = None

    def _described(self, connection: adbc.AdbcConnection, text: str) -> pa.Schema | None:
        """Prepare a statement; return its columns, or None when it returns no rows."""
        with closing(adbc.AdbcStatement(connection)) as prepared, _translated():
            prepared.set_sql_query(text)
            handle = prepared.execute_schema()
            schema = pa.Schema._import_from_c(handle.address)
        return schema if len(schema) else None

    def _requests(self, connection: adbc.AdbcConnection, schema: pa.Schema) -> list[Request]:
        arrays: set[int] = set()
        if unnamed := unnamed_types(schema):
            rows = self._rows(connection, f"{_ARRAY_TYPES} ({', '.join(map(str, unnamed))})")
            arrays = {int(oid) for (oid,) in rows}
        return requests(schema, arrays)

    def _asking_for(
        self, wanted: Sequence[Request], names: Sequence[str], statement: Statement, connection: adbc.AdbcConnection
    ) -> str:
        """Return the statement in one that asks for its columns so; `[:]` lets the indexes of arrays begin at 1.

        Raises `QueryFailure` if it cannot be a subquery.
        """
        aliases = [f"c{number}" for number in range(len(wanted))]
        asked = [f"({alias})[:]" if request.is_array else alias for alias, request in zip(aliases, wanted, strict=True)]
        columns = [
            f"{value}{f'::{request.cast}' if request.cast else ''} AS {_quoted(name)}"
            for value, request, name in zip(asked, wanted, names, strict=True)
        ]
        columns += [
            f"pg_catalog.array_dims({value})" for value, request in zip(asked, wanted, strict=True) if request.is_array
        ]
        # The statement is the user's own; it has no more rights than it would alone.
        wrapped = (
            f"WITH svc_rows({', '.join(aliases)}) AS (\n{statement.text}\n) "  # noqa: S608
            f"SELECT {', '.join(columns)} FROM svc_rows"
        )
        reason = ""
        if statement.keyword in _COPIED:
            try:
                self._described(connection, wrapped)
            except QueryFailure as failure:
                reason = f" ({failure.message})"
            else:
                return wrapped
        unread = ", ".join(_quoted(name) for request, name in zip(wanted, names, strict=True) if not request.is_plain)
        raise QueryFailure(
            f"the types of these columns can be read from a query only, not from this statement: {unread}{reason}",
            hint="Cast them to text in it, or select from a table that it fills.",
            position=statement.lead,
            may_retry=bool(reason),  # the connection may have been lost
        )

    def _rows(self, connection: adbc.AdbcConnection, text: str) -> list[tuple[str, ...]]:
        with closing(adbc.AdbcStatement(connection)) as statement, _translated():
            statement.set_sql_query(text)
            handle, _ = statement.execute_query()
            return [tuple(row.values()) for batch in _batches(handle) for row in batch.to_pylist()]


def _may_be_cut(statement: Statement, sink: Sink) -> bool:
    """Return whether fewer rows are asked for, of a query that only reads."""
    if sink.limit is None or statement.keyword not in _COPIED:
        return False
    return _WRITING.isdisjoint(words_of(statement.text, Dialect.POSTGRESQL))


def _known_count(tuples: int | None) -> int | None:
    """Return PostgreSQL's estimate of a table's rows; a table that was never analysed has -1."""
    return tuples if tuples is not None and tuples >= 0 else None


def _batches(
    handle: adbc.ArrowArrayStreamHandle,
    arrays: Sequence[int] = (),
    became: Callable[[str, str], None] = lambda _name, _reason: None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows in plain types, at least one batch; call `became` for columns that became text, with the reason.

    `arrays` are the places of columns with arrays; their dimensions come in as many columns at the end.
    """
    with pa.RecordBatchReader._import_from_c(handle.address) as reader:
        nothing = [missing(0, kind) for kind in reader.schema.types]
        types = converted(pa.RecordBatch.from_arrays(nothing, schema=reader.schema)).schema.types
        names = reader.schema.names[: len(types) - len(arrays)]
        is_empty, untyped = True, set(arrays)
        for batch in reader:
            columns = converted(batch).columns
            for place, dimensions in zip(arrays, columns[len(names) :], strict=True):
                columns[place] = shaped(columns[place], dimensions)
            is_empty, untyped = False, {place for place in untyped if columns[place].type.equals(WITHOUT_ELEMENTS)}
            for name, kind, column in zip(names, types, columns, strict=False):
                if became_text(kind, column.type):
                    became(name, OUTSIDE)
            yield pa.RecordBatch.from_arrays(columns[: len(names)], names=names)
        if is_empty or untyped:
            kinds = [types[place] if is_empty or place in untyped else pa.null() for place in range(len(names))]
            yield pa.RecordBatch.from_arrays([missing(0, kind) for kind in kinds], names=names)


class _translated:  # noqa: N801  used as a statement: `with _translated():`
    """Turns the driver's errors into `QueryFailure`."""

    def __init__(self, prefix: int = 0) -> None:
        self._prefix = prefix

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: type[BaseException] | None, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, adbc.Error):
            raise _failure(error, self._prefix) from None
        if isinstance(error, (OSError, pa.ArrowException)):  # while rows arrive the driver reports only a text
            raise QueryFailure(_primary(str(error)), hint=_line(str(error), "DETAIL")) from None


def _failure(error: adbc.Error, prefix: int) -> QueryFailure:
    details = {_decoded(key): _decoded(value) for key, value in error.details}
    text = str(error)
    position = int(details.get("PG_DIAG_STATEMENT_POSITION", 0) or 0) - 1
    if "could not begin COPY" in text:
        position -= prefix
    hints = [details.get("PG_DIAG_MESSAGE_DETAIL"), details.get("PG_DIAG_MESSAGE_HINT")]
    return QueryFailure(
        details.get("PG_DIAG_MESSAGE_PRIMARY") or _primary(text),
        position=position if position >= 0 else None,
        hint=" ".join(filter(None, hints)) or None,
    )


def _decoded(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def _primary(text: str) -> str:
    found = re.search(r"(?:ERROR|FATAL|PANIC):\s+(.*)", text)
    return found[1] if found else text.removeprefix("[libpq] ").strip()


def _line(text: str, label: str) -> str | None:
    found = re.search(rf"{label}:\s+(.*)", text)
    return found[1] if found else None


def _connection_reason(text: str) -> str:
    """Return why libpq could not connect, without the address, which the message already has."""
    lines = [line.strip() for line in text.partition("Failed to connect:")[2].splitlines() if line.strip()]
    reasons = [re.sub(r"^connection to server .*? failed: ", "", line) for line in lines if not line.endswith("?")]
    shown = "; ".join(dict.fromkeys(re.sub(r"^(FATAL|ERROR):\s+", "", reason) for reason in reasons)) or text
    return f"{shown}; {_CLEAR_TEXT}" if "requested a cleartext password" in shown else shown


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
