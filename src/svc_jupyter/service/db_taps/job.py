"""The job that the service passes to a worker process through a pipe: one line of JSON, never a file or an argument.

The worker imports it too, so it needs little but the standard library.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from svc_jupyter.sql_tokens import Dialect

RESULT_FILE = "result.arrow"
"""The rows, an Arrow IPC stream; exists once the query has succeeded and returned a table."""
PART_SUFFIX = ".part"
"""Suffix of the rows' file while it is written."""
SUMMARY_FILE = "result.json"
"""The summary of a successful job: `rows`, `size` (bytes), `columns`, `message`, `tables`, or `catalogue`."""
ERROR_FILE = "error.json"
"""Why a job failed: `message` and `may_retry`."""
PROGRESS_FILE = "progress"
"""`<percent> <rows so far>`, rewritten a few times a second."""
JOBS_FILE = "jobs.json"
"""The engine's jobs so far, as `GET commands/ID/jobs` shows them; only some engines write it."""


class EngineName(StrEnum):
    """The engine that accesses a database."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    SQLALCHEMY = "sqlalchemy"
    HIVE = "hive"
    PRESTO = "presto"


class JobKind(StrEnum):
    """The worker's task."""

    QUERY = "query"
    TABLES = "tables"
    CATALOGUE = "catalogue"
    EXPORT = "export"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class Connection:
    """A database as a worker connects to it. Only `target` may hold a secret, and no repr shows it."""

    tap: str
    db_type: str
    engine: EngineName
    dialect: Dialect
    address: str
    """Host and port, or the file, for messages."""
    target: str = field(repr=False)
    """The file of a SQLite database, libpq's connection string, an SQLAlchemy URL, or the facts of a HiveServer2 or a
    Presto coordinator."""
    noun: str = "tap"
    """The kind of object that `tap` names, for messages."""
    is_spark: bool = False
    """Whether a HiveServer2 is known to be Spark's."""


@dataclass(frozen=True, slots=True)
class Job:
    """One query, one listing of tables or of all their columns, or one transfer, whose plan is JSON in `query`.

    `folder` receives the result, `log` the worker's messages.
    """

    kind: JobKind
    folder: Path
    log: Path
    connection: Connection
    query: str = field(default="", repr=False)
    source: str = "query"
    """The query's name in messages: `query`, or the script's location."""
    bindings: dict[str, Any] = field(default_factory=dict, repr=False)
    """Values for the query's names, as in the record."""
    dry_run: bool = False
    """Only the plan of the query is wanted."""
    limit: int | None = None
    """The most rows that are wanted of a table; None for all."""
    min_free_bytes: int = 0
    """The job fails rather than leave less free space than this on its disk."""
    hive: Connection | None = None
    """The other side of a transfer."""


def from_line(line: bytes) -> Job:
    """Return the job that a line encodes."""
    value = json.loads(line)
    connection, hive = value.pop("connection"), value.pop("hive")
    return Job(
        kind=JobKind(value.pop("kind")),
        folder=Path(value.pop("folder")),
        log=Path(value.pop("log")),
        connection=_connection(connection),
        hive=None if hive is None else _connection(hive),
        **value,
    )


def _connection(value: dict[str, Any]) -> Connection:
    return Connection(engine=EngineName(value.pop("engine")), dialect=Dialect(value.pop("dialect")), **value)
