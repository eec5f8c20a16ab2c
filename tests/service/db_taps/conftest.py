"""Databases to tap, and queries run on them."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.service.db_taps.answers import Answer, Query, read_json, read_table, sqlite_connection

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.db_taps.job import Connection, Job, JobKind
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.queries.worker_query import Workers
from svc_jupyter.service.kinds.query_worker import execution_of


@pytest.fixture
def tap_file(tmp_path: Path) -> Path:
    """A SQLite database with a few flights."""
    file = tmp_path / "flights.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            """
            CREATE TABLE flights (id INTEGER PRIMARY KEY, carrier VARCHAR(2), delay REAL, seats INT);
            INSERT INTO flights VALUES (1, 'UA', 2.5, 100), (2, 'AA', NULL, 200), (3, NULL, -7.25, NULL);
            CREATE VIEW late AS SELECT * FROM flights WHERE delay > 0;
            """
        )
    return file


@pytest.fixture
def make_job(tmp_path: Path) -> Callable[..., Job]:
    """Makes jobs, each in a folder of its own."""
    count = 0

    def make_job(connection: Connection, query: str = "", **more: Any) -> Job:
        nonlocal count
        count += 1
        folder = tmp_path / f"job-{count}"
        folder.mkdir()
        kind = more.pop("kind", JobKind.QUERY)
        return Job(kind, folder, folder / "log", connection, query, **more)

    return make_job


@pytest.fixture
def run_job() -> Callable[[Job], Answer]:
    """Runs a job in this process."""

    def run_job(job: Job) -> Answer:
        log = io.StringIO()
        code = execution_of(job, log).run()
        assert not list(job.folder.glob("*.part*"))
        return Answer(
            code,
            read_json(job.folder / "result.json"),
            read_json(job.folder / "error.json"),
            read_table(job.folder / "result.arrow"),
            log.getvalue(),
        )

    return run_job


@pytest.fixture
def query_sqlite(tap_file: Path, make_job: Callable[..., Job], run_job: Callable[[Job], Answer]) -> Query:
    """Runs a query on the flights."""
    return lambda text, **more: run_job(make_job(sqlite_connection(tap_file), text, **more))


@pytest.fixture
def query_postgres(
    postgres_connection: Connection, make_job: Callable[..., Job], run_job: Callable[[Job], Answer]
) -> Query:
    """Runs a query on PostgreSQL."""
    return lambda text, **more: run_job(make_job(postgres_connection, text, **more))


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    """Worker processes; their parent is gone afterwards."""
    workers = Workers()
    yield workers
    await workers.stop()


@pytest.fixture
def db_taps(settings: Settings, database: Database, account_id: int) -> Iterator[DbTaps]:
    """The account's taps: none yet."""
    settings.storage_dir.mkdir()
    return DbTaps(settings, database, SecretBox(settings.data_dir / "secret.key"), clock=lambda: 1_900_000_000.0)


@pytest.fixture
def member(account_id: int) -> Caller:
    """An ordinary user of the account."""
    return Caller(1, account_id, "member@example.org", frozenset({BuiltinGroup.USER}), 1)


@pytest.fixture
def stored_file(settings: Settings, db_taps: DbTaps, tap_file: Path) -> str:
    """The flights in the account's storage folder; the name a tap gives."""
    tap_file.rename(settings.storage_dir / "flights.db")
    return "flights.db"
