"""Catalogues: the schemas, tables, columns and functions of a tap's database or of Hive, as the service last read them.

An extension: services without it answer 404.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from svc_jupyter.api.fields import Record, Request

TABLES_LIMIT = 20_000
"""Tables in one answer."""
COLUMNS_LIMIT = 200
"""Tables whose columns one answer has."""
FOUND_COLUMNS_LIMIT = 500
"""Columns that one search finds."""
FUNCTIONS_LIMIT = 20_000
"""Functions in an answer."""

CHECKED_LIMIT = 100_000
"""Characters of a script that is checked."""


class CatalogueState(StrEnum):
    """Whether there is something to show."""

    FILLING = "filling"
    """It is being read for the first time."""
    READY = "ready"
    FAILED = "failed"
    """It was never read, or the last attempt to read it again failed; `error` says why."""


class CatalogueSchema(Record):
    """A schema with its number of tables; its name is empty in databases without schemas."""

    name: str
    tables: int


class Catalogue(Record):
    """A catalogue without its tables. Times are ISO 8601 UTC with `Z`.

    `version` changes with names and types, so clients can keep what they have read of a version. `reading` is whether
    the database is being read at present. `failing_since` is the time of the first failure after the last success.
    `dialect` is that of the database's SQL, such as `duckdb`, or `other`; none for a tap that cannot be used.
    """

    state: CatalogueState
    version: str | None = None
    as_of: str | None = None
    reading: bool = False
    default_schema: str | None = None
    dialect: str | None = None
    schemas: list[CatalogueSchema] = Field(default_factory=list)
    error: str | None = None
    failing_since: str | None = None


class CatalogueTable(Record):
    """A table or view; `rows` is null where the database does not count cheaply, and may be an estimate."""

    schema_name: str
    name: str
    type: str
    rows: int | None = None
    columns: int


class CatalogueTables(Record):
    """A part of the tables, by schema and name; `total` counts all that match."""

    version: str | None = None
    tables: list[CatalogueTable]
    offset: int
    total: int


class CatalogueColumn(Record):
    """A column with its type in the database's own words."""

    name: str
    type: str


class ColumnsOfTable(Record):
    """The columns of a table, in its order."""

    schema_name: str
    name: str
    columns: list[CatalogueColumn]


class CatalogueColumns(Record):
    """The columns of the requested tables that exist; in answer to a search, only the columns that were found."""

    version: str | None = None
    tables: list[ColumnsOfTable]


class CatalogueFunction(Record):
    """A function that users of the database have made; `type` is `function`, or `table function` behind FROM."""

    schema_name: str
    name: str
    type: str


class CatalogueFunctions(Record):
    """Functions by schema and name, at most 20,000."""

    version: str | None = None
    functions: list[CatalogueFunction]


class SqlToCheck(Request):
    """A script for a tap, as its author has it so far."""

    query: Annotated[str, Field(max_length=CHECKED_LIMIT)]


class HiveSqlToCheck(SqlToCheck):
    """A script for Hive, or for Presto or Spark over Hive's tables."""

    dialect: Literal["hive", "presto", "spark"] = "hive"


class SqlProblem(Record):
    """Something wrong in a script, from the character `start` up to, without, `end`, counted from 0.

    `did_you_mean` has what may be written there instead, the likeliest first.
    """

    start: int
    end: int
    message: str
    did_you_mean: list[str] = Field(default_factory=list)


class SqlProblems(Record):
    """What is wrong with a script, in its order, as far as it is certain without the database."""

    problems: list[SqlProblem]
