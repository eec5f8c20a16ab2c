"""Copies a whole database: from SQLite to PostgreSQL, which the data folder then uses, and for backups in both ways.

One transaction holds the new schema and every row: a copy that fails or is killed leaves an empty database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from svc_jupyter.service.data_folder import at_start, identity
from svc_jupyter.service.data_folder.data_folder import DataFolder, DataFolderTakenError
from svc_jupyter.service.database import migrations
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.database.ids import go_above
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.metadata import metadata

_ROWS_AT_ONCE = 500
_NAMES = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}
_LAST = {
    "sqlite": sa.text("SELECT seq FROM sqlite_sequence WHERE name = :name"),
    "postgresql": sa.text("SELECT pg_sequence_last_value(pg_get_serial_sequence(:name, 'id')::regclass)"),
}


class CopyFailure(Exception):
    """The database could not be copied; nothing was changed."""


def copy(source: Settings, target: Settings, tell: Callable[[str, int], None]) -> None:
    """Copy the SQLite database of a data folder into an empty PostgreSQL database, and bind the folder to it.

    `tell` gets each table and the number of its rows. Raises `CopyFailure`, `DataFolderTakenError`, `OSError`,
    `RuntimeError` (including `ForeignDatabaseError`) and `DBAPIError` for a database that cannot be reached.
    """
    if not identity.has_sqlite(source.data_dir):
        raise CopyFailure(f"there is no SQLite database in the data folder {source.data_dir}: nothing can be copied")
    folder = DataFolder(source)
    try:
        folder.open()
    except DataFolderTakenError:
        message = f"a service works on the data folder {source.data_dir}: stop it first"
        raise DataFolderTakenError(message) from None
    old, new = Database(source), Database(target)
    try:
        identity.check(source, old)
        migrations.upgrade(old)
        at_start.join(source, old)
        with old.connect() as reading:
            fill(new, target, reading, tell)
            key = reading.execute(sa.text("SELECT key FROM database_identity")).scalar_one()
        identity.identity_of(target, key).write(source.data_dir)
    finally:
        old.close()
        new.close()
        folder.close()


def fill(new: Database, target: Settings, reading: sa.Connection, tell: Callable[[str, int], None]) -> None:
    """Make the schema and copy every row into an empty PostgreSQL database, in one transaction; raises as `copy`."""
    with _unbounded(new) as writing:
        refuse_unless_empty(writing, target)
        migrations.upgrade_within(writing)
        copy_rows(reading, writing, tell)


def copy_rows(
    reading: sa.Connection, writing: sa.Connection, tell: Callable[[str, int], None] = lambda *_: None
) -> None:
    """Copy every row into a database with the newest schema and without rows. Raises `CopyFailure`, `DBAPIError`."""
    if forgotten := set(sa.inspect(reading).get_table_names()) - {*metadata.tables, "alembic_version"}:
        raise CopyFailure(f"the database has tables that this version does not know: {', '.join(sorted(forgotten))}")
    with _references_at_last(writing):
        for table in metadata.sorted_tables:
            tell(table.name, _copy_table(table, reading, writing))


@contextmanager
def one_moment(database: Database) -> Iterator[sa.Connection]:
    """Yield a connection to PostgreSQL that reads everything as of one moment, however long that takes."""
    with database.engine.connect() as connection:
        connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
        yield connection


@contextmanager
def _unbounded(database: Database) -> Iterator[sa.Connection]:
    """Yield a write transaction without limits on the time of its statements."""
    with database.begin() as connection:
        connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
        yield connection


def refuse_unless_empty(connection: sa.Connection, target: Settings) -> None:
    """Raise `CopyFailure` for a database with tables."""
    there = sorted(sa.inspect(connection).get_table_names())
    if there:
        raise CopyFailure(
            f"the database {identity.name_of(target)} is not empty: it has {len(there)} tables, such as {there[0]}; "
            "make a new one and give its address"
        )


def _copy_table(table: sa.Table, reading: sa.Connection, writing: sa.Connection) -> int:
    """Copy the rows of a table; return how many. Raises `CopyFailure` for a row that is refused."""
    rows = reading.execute(sa.select(table), execution_options={"yield_per": _ROWS_AT_ONCE}).mappings()
    for part in rows.partitions():
        try:
            writing.execute(sa.insert(table), [dict(row) for row in part])
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
            raise CopyFailure(
                f"a row of {table.name} is not taken by {_NAMES[writing.dialect.name]}: {error.orig}"
            ) from error
    counting = sa.select(sa.func.count()).select_from(table)
    before, after = reading.execute(counting).scalar_one(), writing.execute(counting).scalar_one()
    if before != after:
        raise CopyFailure(f"{table.name} has {before} rows, and {after} arrived")
    if table.autoincrement_column is not None:
        _go_on_counting(table, reading, writing)
    return int(before)


@contextmanager
def _references_at_last(connection: sa.Connection) -> Iterator[None]:
    """Allow rows before the rows that they refer to, such as a folder before its parent; all are checked at the end."""
    if connection.dialect.name == "sqlite":
        connection.execute(sa.text("PRAGMA defer_foreign_keys=ON"))
        yield
        return
    references = [
        (table.name, constraint["name"])
        for table in metadata.sorted_tables
        for constraint in sa.inspect(connection).get_foreign_keys(table.name)
    ]
    quote = connection.dialect.identifier_preparer.quote
    alter = "ALTER TABLE {} ALTER CONSTRAINT {} {}"
    for table, name in references:
        text = alter.format(quote(table), quote(str(name)), "DEFERRABLE INITIALLY DEFERRED")
        connection.execute(sa.text(text))
    yield
    connection.execute(sa.text("SET CONSTRAINTS ALL IMMEDIATE"))
    for table, name in references:
        connection.execute(sa.text(alter.format(quote(table), quote(str(name)), "NOT DEFERRABLE")))


def _go_on_counting(table: sa.Table, reading: sa.Connection, writing: sa.Connection) -> None:
    """Continue the table's ids where they were, also above rows that are deleted."""
    last = reading.execute(_LAST[reading.dialect.name], {"name": table.name}).scalar()
    highest = reading.execute(sa.select(sa.func.max(table.c.id))).scalar()
    if number := max(last or 0, highest or 0):
        go_above(writing, {table: number})
