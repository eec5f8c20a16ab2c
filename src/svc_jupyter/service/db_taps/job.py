"""What the service hands a worker process, and how it crosses the pipe: one line of JSON, never a file or an argument.

Imported by the worker too, so it needs nothing but the standard library.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

RESULT_FILE = "result.arrow"
"""The rows, an Arrow IPC stream; there once the query has succeeded and returned a table."""
PART_SUFFIX = ".part"
"""What the name of the rows' file ends with while they are written."""
SUMMARY_FILE = "result.json"
"""What a job that succeeded has to tell: `rows`, `size` (bytes), `columns`, `message`, or `tables`."""
ERROR_FILE = "error.json"
"""Why a job failed: `message` and `may_retry`."""
PROGRESS_FILE = "progress"
"""`<percent> <rows so far>`, rewritten a few times a second."""
JOBS_FILE = "jobs.json"
"""The engine's jobs so far, as `GET commands/ID/jobs` shows them; only some engines write it."""


class EngineName(StrEnum):
    """Through what a database is reached."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    SQLALCHEMY = "sqlalchemy"
    HIVE = "hive"
    PRESTO = "presto"


class Dialect(StrEnum):
    """By whose rules a script is split into statements."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    MYSQL = "mysql"
    SQLSERVER = "sqlserver"
    HIVE = "hive"
    PRESTO = "presto"
    OTHER = "other"


class JobKind(StrEnum):
    """What the worker is to do."""

    QUERY = "query"
    TABLES = "tables"
    EXPORT = "export"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class Connection:
    """A database as a worker reaches it. Only `target` may hold a secret, and no repr shows it."""

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
    """What `tap` is the name of, for messages."""
    posted: str = field(default="", repr=False)
    """The engine's answer, as JSON, to the script's first statement, where it has been sent already."""


@dataclass(frozen=True, slots=True)
class Job:
    """One query, one listing of tables, or one transfer, whose plan is JSON in `query`.

    `folder` takes the result, `log` what the worker has to say.
    """

    kind: JobKind
    folder: Path
    log: Path
    connection: Connection
    query: str = field(default="", repr=False)
    source: str = "query"
    """What the query is called in messages: `query`, or where the script lies."""
    min_free_bytes: int = 0
    """The job fails rather than leave less free space than this on its disk."""
    hive: Connection | None = None
    """The other side of a transfer."""


def to_line(job: Job) -> bytes:
    """Return the job as one line of JSON, ended by a newline."""
    value = asdict(job)
    value["folder"], value["log"] = str(job.folder), str(job.log)
    return json.dumps(value).encode("ascii") + b"\n"


def from_line(line: bytes) -> Job:
    """Return the job that `to_line` took."""
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
