"""A catalogue as a file: schemas, tables, columns and functions of a database, in a SQLite file that a worker writes.

The service only looks into it, so that 10,000 tables of 50 columns take no memory there.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

CATALOGUE_FILE = "catalogue.db"
_FORMAT = 2
"""A file of another one is as good as none: it is written anew."""
_SCHEMA = f"""
PRAGMA user_version = {_FORMAT};
CREATE TABLE facts (version TEXT NOT NULL, as_of REAL NOT NULL, default_schema TEXT);
CREATE TABLE tables (
  id INTEGER PRIMARY KEY, schema TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
  row_count INTEGER, column_count INTEGER NOT NULL
);
CREATE INDEX tables_by_name ON tables (schema, name);
CREATE TABLE columns (
  table_id INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
  PRIMARY KEY (table_id, position)
) WITHOUT ROWID;
CREATE TABLE functions (
  schema TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (schema, name, type)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class CatalogueTable:
    """A table or view. `rows` is None where the database does not count cheaply; some databases estimate it."""

    schema: str | None
    name: str
    type: str
    rows: int | None
    columns: Sequence[tuple[str, str]]
    """Names and types, in the table's order."""


@dataclass(frozen=True, slots=True)
class DatabaseTables:
    """All tables and functions of a database; `default_schema` is the one whose tables need no schema in a query."""

    default_schema: str | None
    tables: Iterable[CatalogueTable]
    functions: Iterable[tuple[str, ...]] = ()
    """Those that users have made: schema, name, and `function` or `table function`; an overloaded one several times."""


def grouped(rows: Iterable[tuple[Any, ...]], counts: Callable[[Any], int | None]) -> Iterator[CatalogueTable]:
    """Yield the tables of rows (schema, table, kind, count, column, type) that are ordered by table."""
    key: tuple[Any, ...] | None = None
    columns: list[tuple[str, str]] = []
    for schema, name, kind, count, column, column_type in rows:
        if key is not None and key[:2] != (schema, name):
            yield CatalogueTable(key[0], key[1], key[2], counts(key[3]), columns)
            columns = []
        key = (schema, name, kind, count)
        if column is not None:
            columns.append((str(column), str(column_type)))
    if key is not None:
        yield CatalogueTable(key[0], key[1], key[2], counts(key[3]), columns)


class CatalogueWriter:
    """Writes a catalogue's file. It is complete when the block ends without an error."""

    def __init__(self, file: Path, default_schema: str | None) -> None:
        self._connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._default_schema = default_schema
        self._digest = hashlib.blake2b(repr(default_schema).encode("utf-8", "surrogatepass"), digest_size=12)
        self._count = 0

    def __enter__(self) -> Self:
        # The file is new and nobody reads it yet: a journal would only cost time.
        self._connection.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {_SCHEMA} BEGIN;")
        return self

    def add(self, tables: Iterable[CatalogueTable]) -> None:
        """Write tables."""
        for table in tables:
            self._count += 1
            schema, name = _storable(table.schema or ""), _storable(table.name)
            columns = [(_storable(column), _storable(kind)) for column, kind in table.columns]
            self._connection.execute(
                "INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?)",
                (self._count, schema, name, table.type, table.rows, len(columns)),
            )
            self._connection.executemany(
                "INSERT INTO columns VALUES (?, ?, ?, ?)",
                ((self._count, position, *column) for position, column in enumerate(columns)),
            )
            self._digest.update(repr((schema, name, table.type, columns)).encode())

    def add_functions(self, functions: Iterable[tuple[str, ...]]) -> None:
        """Write functions: schema, name and type of each."""
        found = sorted({(_storable(schema), _storable(name), kind) for schema, name, kind in functions})
        self._connection.executemany("INSERT INTO functions VALUES (?, ?, ?)", found)
        self._digest.update(repr(found).encode())

    def __exit__(self, kind: object, *_: object) -> None:
        with closing(self._connection):
            if kind is None:
                facts = (self._digest.hexdigest(), time.time(), self._default_schema)
                self._connection.execute("INSERT INTO facts VALUES (?, ?, ?)", facts)
                self._connection.execute("COMMIT")


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def write_catalogue(file: Path, found: DatabaseTables) -> None:
    """Write a catalogue into a new file."""
    with CatalogueWriter(file, found.default_schema) as writer:
        writer.add(found.tables)
        writer.add_functions(found.functions)


@dataclass(frozen=True, slots=True)
class Facts:
    """The state of a catalogue. `version` changes with the names and types in it, not with counts of rows."""

    version: str
    as_of: float
    default_schema: str | None


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """A complete catalogue. Every method opens the file, and raises `FileNotFoundError` without one."""

    path: Path

    def facts(self) -> Facts:
        """Return the version and the time."""
        with self._open() as connection:
            return Facts(*connection.execute("SELECT version, as_of, default_schema FROM facts").fetchone())

    def schemas(self) -> list[tuple[str, int]]:
        """Return the schemas that have tables, by name, with their numbers of tables."""
        with self._open() as connection:
            return connection.execute("SELECT schema, count(*) FROM tables GROUP BY schema ORDER BY schema").fetchall()

    def tables(
        self, schema: str | None, search: str | None, offset: int, limit: int
    ) -> tuple[list[tuple[Any, ...]], int]:
        """Return a part of the tables, by schema and name, and the number of all that match.

        A row is schema, name, type, rows, number of columns. `search` is a part of the table's name, in any case.
        """
        where, values = ["1"], []
        if schema is not None:
            where.append("schema = ?")
            values.append(schema)
        if search:
            where.append("instr(lower(name), lower(?))")
            values.append(search)
        condition = " AND ".join(where)
        with self._open() as connection:
            total = connection.execute(f"SELECT count(*) FROM tables WHERE {condition}", values).fetchone()[0]  # noqa: S608
            rows = connection.execute(
                "SELECT schema, name, type, row_count, column_count FROM tables"  # noqa: S608  the conditions are ours
                f" WHERE {condition} ORDER BY schema, name LIMIT ? OFFSET ?",
                [*values, limit, offset],
            ).fetchall()
        return rows, total

    def columns(self, schema: str, names: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
        """Return the names and types of the columns of some tables of a schema, by the table's name."""
        found: dict[str, list[tuple[str, str]]] = {}
        with self._open() as connection:
            for name in names:
                row = connection.execute(
                    "SELECT id FROM tables WHERE schema = ? AND name = ?", (schema, name)
                ).fetchone()
                if row is not None:
                    found[name] = connection.execute(
                        "SELECT name, type FROM columns WHERE table_id = ? ORDER BY position", row
                    ).fetchall()
        return found

    def columns_of_all(self, names: Iterable[str]) -> list[tuple[str, str, list[str]]]:
        """Return the tables with these names, in any case and any schema: schema, name and columns of each."""
        wanted = {name.lower() for name in names}
        with self._open() as connection:
            found = [
                row for row in connection.execute("SELECT id, schema, name FROM tables") if row[2].lower() in wanted
            ]
            columns = "SELECT name FROM columns WHERE table_id = ? ORDER BY position"
            return [
                (schema, name, [column for (column,) in connection.execute(columns, (table,))])
                for table, schema, name in found
            ]

    def columns_with(self, search: str, limit: int) -> list[tuple[str, str, str, str]]:
        """Return the first columns with a text in their name, in any case: schema, table, name and type of each."""
        with self._open() as connection:
            return connection.execute(
                "SELECT tables.schema, tables.name, columns.name, columns.type"
                " FROM columns JOIN tables ON tables.id = columns.table_id"
                " WHERE instr(lower(columns.name), lower(?))"
                " ORDER BY tables.schema, tables.name, columns.position LIMIT ?",
                (search, limit),
            ).fetchall()

    def functions(self, limit: int) -> list[tuple[str, str, str]]:
        """Return the first functions by schema and name: schema, name and type of each."""
        with self._open() as connection:
            return connection.execute(
                "SELECT schema, name, type FROM functions ORDER BY schema, name LIMIT ?", (limit,)
            ).fetchall()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise FileNotFoundError(self.path)
        with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            if connection.execute("PRAGMA user_version").fetchone() != (_FORMAT,):
                raise FileNotFoundError(self.path)
            yield connection
