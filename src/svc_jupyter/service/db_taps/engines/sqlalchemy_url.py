"""Every other database, through its SQLAlchemy dialect and driver. Rows are streamed and converted to Arrow here."""

from __future__ import annotations

import importlib.util
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import pyarrow as pa

from svc_jupyter.service.db_taps.arrow import Kind
from svc_jupyter.service.db_taps.bindings import python_value, with_marks
from svc_jupyter.service.db_taps.catalogue_file import CatalogueTable, DatabaseTables
from svc_jupyter.service.db_taps.engines import duckdb_rows, duckdb_tables
from svc_jupyter.service.db_taps.engines.engine import Sink, TableName, cannot_connect, controls_transactions
from svc_jupyter.service.db_taps.engines.functions import FUNCTIONS
from svc_jupyter.service.db_taps.failures import QueryFailure, offset_of
from svc_jupyter.service.db_taps.job import Connection
from svc_jupyter.service.db_taps.statements import Statement, TableParts
from svc_jupyter.service.db_taps.values import UNREADABLE, decimal_type, record_batch
from svc_jupyter.sql_tokens import Dialect

if TYPE_CHECKING:
    import sqlalchemy as sa

_BATCH_ROWS = 8_192
_BUSY_SECONDS = 30.0
_LOOK_EVERY_SECONDS = 0.05
_LOCKED = "Could not set lock on file"
"""DuckDB's words for a file that another process has open."""
_AT_LINE = re.compile(r"\bat line (\d+)\b|\s*^LINE (\d+): .*\n *\^+\s*\Z", re.MULTILINE)
"""The line that MySQL counts, and the one that DuckDB and PostgreSQL's drivers show with a mark below the place."""
_READING = frozenset({"SELECT", "WITH", "VALUES", "TABLE", ""})
"""Statements whose rows a server-side cursor can hold; the first word is empty for `(SELECT …) UNION …`."""
_MYSQL_TYPES: Final[Mapping[int, Kind]] = {
    **dict.fromkeys((1, 2, 3, 8, 9, 13), pa.int64()),  # TINYINT, SMALLINT, INT, BIGINT, MEDIUMINT, YEAR
    **dict.fromkeys((4, 5), pa.float64()),
    **dict.fromkeys((7, 12), pa.timestamp("us")),  # TIMESTAMP, DATETIME
    10: pa.date32(),
    11: pa.duration("us"),  # TIME
}
"""By the number in MySQL's protocol (https://dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html)."""
_MYSQL_DECIMALS: Final = (0, 246)
_MYSQL = frozenset({"mysql", "mariadb"})
"""Databases whose drivers drop a zone, and read all rows of an open result before they close it."""
DriverValues: TypeAlias = tuple[Any, ...] | dict[str, Any]
_MARKS: Final[Mapping[str, str]] = {
    "qmark": "?",
    "format": "%s",
    "numeric": ":{}",
    "numeric_dollar": "${}",
    "named": ":p{}",
    "pyformat": "%(p{})s",
}
"""By SQLAlchemy's name of a driver's marks."""
_SYSTEM_SCHEMAS = frozenset({"information_schema", "mysql", "performance_schema", "pg_catalog", "sys"})
_DRIVERS = {"mysql": ("pymysql", "MySQLdb"), "mssql": ("pymssql", "pyodbc")}
"""Drivers to look for if the URL names none, in order."""
_DIALECT_NAMES = {"MySQLdb": "mysqldb"}
_PACKAGES = {
    "MySQLdb": "mysqlclient",
    "mysql.connector": "mysql-connector-python",
    "psycopg": "psycopg[binary]",
    "psycopg2": "psycopg2-binary",
}
_MISSING_DIALECTS = {
    "snowflake": "snowflake-sqlalchemy",
    "bigquery": "sqlalchemy-bigquery",
    "duckdb": "duckdb-engine",
    "trino": "trino[sqlalchemy]",
    "databricks": "databricks-sqlalchemy",
    "clickhouse": "clickhouse-sqlalchemy",
    "hive": "pyhive[hive]",
    "presto": "pyhive[presto]",
}


class SqlalchemyEngine:
    """A database with an SQLAlchemy dialect."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def run(self, statements: Sequence[Statement], sink: Sink) -> None:
        """See `Engine.run`."""
        import sqlalchemy.exc

        with self._connected(autocommit=controls_transactions(statements)) as connection:
            for written in statements:
                statement, values = _with_values(written, connection)
                sink.start(statement)
                try:
                    if self._connection.dialect is Dialect.SQLSERVER:
                        _run_batch(connection, statement, values, sink)
                    elif self._connection.dialect is Dialect.DUCKDB:
                        _run_on_duckdb(connection, statement, values, sink)
                    else:
                        _run_one(connection, statement, values, sink)
                except sqlalchemy.exc.SQLAlchemyError as error:
                    raise _failure(error, statement.text) from None
            try:
                connection.commit()
            except sqlalchemy.exc.SQLAlchemyError as error:
                raise _failure(error) from None

    def tables(self) -> list[TableName]:
        """See `Engine.tables`."""
        import sqlalchemy as sa

        with self._connected() as connection:
            try:
                return list(_tables(sa.inspect(connection)))
            except sa.exc.SQLAlchemyError as error:
                raise _failure(error) from None

    def known(self, tables: Sequence[TableParts], schema: TableParts = ()) -> Iterator[str]:
        """See `Engine.known`."""
        import sqlalchemy as sa

        with self._connected() as connection:
            inspector = sa.inspect(connection)
            if not tables:
                within = "".join(schema[-1:]).lower()
                yield from (
                    table.name for table in _tables(inspector) if within in ("", str(table.schema or within).lower())
                )
            for parts in tables:
                with suppress(sa.exc.NoSuchTableError):
                    owner = parts[-2] if len(parts) > 1 else None
                    yield from (column["name"] for column in inspector.get_columns(parts[-1], owner))

    def catalogue(self) -> DatabaseTables:
        """See `Engine.catalogue`. SQLAlchemy has no counts."""
        import sqlalchemy as sa

        default_schema: str | None
        with self._connected() as connection:
            try:
                if self._connection.dialect is Dialect.DUCKDB:
                    default_schema, tables = duckdb_tables.catalogue(connection)
                else:
                    inspector = sa.inspect(connection)
                    default_schema, tables = inspector.default_schema_name, list(_tables_with_columns(inspector))
            except sa.exc.SQLAlchemyError as error:
                raise _failure(error) from None
            return DatabaseTables(default_schema, tables, self._functions(connection))

    def cancel(self) -> None:
        """See `Engine.cancel`. The end of the process closes the connection, and the server ends its statement."""

    def _functions(self, connection: sa.Connection) -> list[tuple[str, ...]]:
        """Return the functions that users have made; none where they cannot be listed: the tables are worth having."""
        import sqlalchemy.exc

        query = FUNCTIONS.get(self._connection.dialect)
        if query is not None:
            with suppress(sqlalchemy.exc.SQLAlchemyError):
                return [tuple(row) for row in connection.exec_driver_sql(query)]
        return []

    @contextmanager
    def _connected(self, *, autocommit: bool = False) -> Iterator[sa.Connection]:
        import sqlalchemy as sa

        url = _with_driver(sa.make_url(self._connection.target))
        try:
            engine = sa.create_engine(
                url, poolclass=sa.pool.NullPool, hide_parameters=True, connect_args=_without_clear_text(url)
            )
        except (sa.exc.NoSuchModuleError, ImportError) as error:
            raise _missing(url, error) from None
        except (sa.exc.ArgumentError, ValueError, TypeError) as error:
            raise QueryFailure(f"the tap's URL cannot be used: {error}", may_retry=False) from None
        options: dict[str, Any] = {"no_parameters": True}  # a `%` is part of the query
        is_duckdb = self._connection.dialect is Dialect.DUCKDB
        if autocommit and not is_duckdb:
            options["isolation_level"] = "AUTOCOMMIT"
        try:
            connection = _connect(engine).execution_options(**options)
        except ImportError as error:
            raise _missing(url, error) from None
        except (sa.exc.SQLAlchemyError, OSError) as error:
            raise cannot_connect(self._connection.address, _reason(error)) from None
        with connection:
            if is_duckdb and not autocommit:  # its statements pass SQLAlchemy by
                connection.begin()
            yield connection


def _connect(engine: sa.Engine) -> sa.Connection:
    """Connect; to a DuckDB file once no other process has it open, be it another query, or a reading of its tables."""
    import sqlalchemy as sa

    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            return engine.connect()
        except sa.exc.SQLAlchemyError as error:
            if _LOCKED not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(_LOOK_EVERY_SECONDS)


def _with_values(written: Statement, connection: sa.Connection) -> tuple[Statement, DriverValues]:
    """Return a statement with the marks of the driver, and the values as the driver takes them."""
    style = "numeric_dollar" if connection.dialect.name == "duckdb" else connection.dialect.paramstyle
    percent = "%%" if style in ("format", "pyformat") and written.bound else "%"
    statement, found = with_marks(written, _MARKS[style], percent=percent)
    has_zones = connection.dialect.name not in _MYSQL
    values = [python_value(value, has_zones=has_zones) for value in found]
    if style in ("named", "pyformat"):
        return statement, {f"p{number}": value for number, value in enumerate(values, start=1)}
    return statement, tuple(values)


def _run_one(connection: sa.Connection, statement: Statement, values: DriverValues, sink: Sink) -> None:
    if sink.limit is not None and connection.dialect.name in _MYSQL:
        connection.exec_driver_sql(f"SET SESSION sql_select_limit = {sink.limit}")
    streamed = {"stream_results": True, "max_row_buffer": _BATCH_ROWS} if statement.keyword in _READING else {}
    result = connection.exec_driver_sql(statement.text, values or None, execution_options=streamed)
    if not result.returns_rows:
        sink.done(result.rowcount if result.rowcount >= 0 else None)
        return
    names = [str(name) for name in cast("Iterable[str]", result.keys())]
    sink.table()
    told = result.cursor.description if result.cursor is not None else None
    if told is not None and connection.dialect.driver == "pymysql":  # other drivers describe columns in other forms
        kinds = [_mysql_type(number, digits, scale) for _, number, _, _, digits, scale, _ in told]
        sink.write(pa.RecordBatch.from_arrays([pa.array([], kind) for kind in kinds], names=names))
    else:
        sink.write(record_batch(names, [], sink.became_text))
    for batch in _read(result.partitions(_BATCH_ROWS), names, sink):
        sink.write(batch)
        if sink.is_full:
            result.close()
            break
    sink.done(None)


def _read(rows: Iterator[Sequence[Any]], names: Sequence[str], sink: Sink) -> Iterator[pa.RecordBatch]:
    """Yield a driver's rows; one that it cannot convert fails in words, as its text cannot be had."""
    count = 0
    while True:
        try:
            batch = record_batch(names, next(rows), sink.became_text)
        except StopIteration:
            return
        except UNREADABLE as error:
            raise QueryFailure(
                f"the driver cannot read a value after row {count:,}: {_words(error)}; convert its column to text in "
                "the query (CAST)",
                may_retry=False,
            ) from None
        count += batch.num_rows
        yield batch


def _mysql_type(number: Any, digits: Any, scale: Any) -> Kind:
    """Return the type of a column of which no row may have a value; null for one that its values tell."""
    return decimal_type(digits, scale) if number in _MYSQL_DECIMALS else _MYSQL_TYPES.get(number, pa.null())


def _run_on_duckdb(connection: sa.Connection, statement: Statement, values: DriverValues, sink: Sink) -> None:
    try:
        duckdb_rows.run(connection, statement, list(values), sink)
    except (connection.dialect.loaded_dbapi.Error, OSError) as error:
        raise _failure(error, statement.text) from None


def _run_batch(connection: sa.Connection, statement: Statement, values: DriverValues, sink: Sink) -> None:
    """Run a batch that may return several tables; the last one is kept."""
    cursor = connection.connection.cursor()
    try:
        cursor.execute(statement.text, values) if values else cursor.execute(statement.text)
        has_more = True
        while has_more:
            if cursor.description is not None:
                names = [column[0] for column in cursor.description]
                sink.table()
                sink.write(record_batch(names, [], sink.became_text))
                for batch in _read(takewhile(bool, iter(partial(cursor.fetchmany, _BATCH_ROWS), None)), names, sink):
                    sink.write(batch)
            has_more = bool(cursor.nextset())
        sink.done(None)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _failure(error, statement.text) from None
    finally:
        cursor.close()


def _tables(inspector: Any) -> Iterator[TableName]:
    for schema in _schemas(inspector):
        for name in inspector.get_table_names(schema=schema):
            yield TableName(name, schema, "table")
        for name in inspector.get_view_names(schema=schema):
            yield TableName(name, schema, "view")


def _schemas(inspector: Any) -> list[str | None]:
    schemas = [name for name in inspector.get_schema_names() if str(name).lower() not in _SYSTEM_SCHEMAS]
    return sorted({inspector.default_schema_name, *schemas}, key=str)


def _tables_with_columns(inspector: Any) -> Iterator[CatalogueTable]:
    from sqlalchemy.engine.reflection import ObjectKind

    for schema in _schemas(inspector):
        views = {*inspector.get_view_names(schema=schema)}
        found = inspector.get_multi_columns(schema=schema, kind=ObjectKind.ANY)
        for (_, name), columns in sorted(found.items()):
            typed = [(column["name"], _type_name(column["type"])) for column in columns]
            yield CatalogueTable(schema, name, "view" if name in views else "table", None, typed)


def _type_name(kind: Any) -> str:
    """Return a type as SQL; a type that SQLAlchemy does not know has no text."""
    from sqlalchemy.exc import CompileError

    try:
        return str(kind).lower()
    except CompileError:
        return "unknown"


def _with_driver(url: sa.URL) -> sa.URL:
    """Return the URL with the first installed driver, if it names a database but no driver."""
    for module in _DRIVERS.get(url.drivername, ()):
        if _is_installed(module):
            return url.set(drivername=f"{url.drivername}+{_DIALECT_NAMES.get(module, module)}")
    first = _DRIVERS.get(url.drivername)
    return url.set(drivername=f"{url.drivername}+{first[0]}") if first else url


class _NoClearText:
    """PyMySQL's plugin for a server that requests the password itself, which it would send over any connection."""

    def __init__(self, _connection: object) -> None:
        pass

    def authenticate(self, _packet: object) -> object:
        """Refuse. The drivers of other databases, and MySQL's own, do so by themselves."""
        raise QueryFailure(
            "the server asks for the password in clear text; the password was not sent. Let the user log in with "
            "caching_sha2_password, or give a URL with ssl_ca and ssl_verify_identity=true",
            may_retry=False,
        )


def _without_clear_text(url: sa.URL) -> dict[str, Any]:
    """Return the options that keep the driver from sending a clear-text password to an unverified server."""
    if url.get_driver_name() != "pymysql" or (
        url.query.get("ssl_ca") and _is_true(url.query.get("ssl_verify_identity"))
    ):
        return {}
    return {"auth_plugin_map": dict.fromkeys(("mysql_clear_password", "dialog"), _NoClearText)}


def _is_true(value: object) -> bool:
    return str(value).lower() in ("1", "true", "yes")


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _missing(url: sa.URL, error: Exception) -> QueryFailure:
    name = url.get_backend_name()
    module = getattr(error, "name", None)
    package = _PACKAGES.get(module, module) if module else _MISSING_DIALECTS.get(name)
    what = f"the driver {module} for {name}" if module else f"an SQLAlchemy dialect for {name}"
    how = f": pip install '{package}'" if package else ""
    return QueryFailure(f"{what} is not installed; install it where the service runs{how}", may_retry=False)


def _failure(error: Exception, statement: str = "") -> QueryFailure:
    """Return a driver's error with the line that the driver tells, if any."""
    reason = _reason(error)
    position = None
    if (line := _AT_LINE.search(reason)) is not None:
        position = offset_of(statement, int(line[1] or line[2]), 0)
        if line[2]:  # our report shows it, too
            reason = reason[: line.start()]
    return QueryFailure(reason, position=position)


def _reason(error: Exception) -> str:
    """Return the driver's own words: SQLAlchemy adds the statement and a link."""
    return _words(getattr(error, "orig", None) or error)


def _words(error: BaseException) -> str:
    """Return a driver's message; many give `(code, message)`, some the message as bytes."""
    texts = [part.decode("utf-8", "replace") if isinstance(part, bytes) else str(part) for part in error.args]
    return max(texts, key=len, default="").strip() or type(error).__name__
