"""What the service's tests run on: a real SQLite file and a real PostgreSQL, each with a fresh database per test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import sqlalchemy as sa
import structlog
from pydantic import SecretStr
from tests.support.postgres import PostgresCluster

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.database import migrations
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.job import Connection
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.marks import mark_of, marked_processes
from svc_jupyter.service.schema.access import users

# By default structlog shows all variables of all frames in a traceback, which takes seconds on a busy machine.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S"),
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)
POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.service)
DATABASES = ("sqlite", POSTGRESQL)
ON_POSTGRESQL = pytest.mark.parametrize("database_kind", [POSTGRESQL])
_TEMPLATE = "svc_template"
Start = Callable[..., DurableProcess]


@pytest.fixture(scope="session")
def postgres_schema(postgres_cluster: PostgresCluster) -> str:
    """The name of a database with the service's tables, to be copied."""
    _create_tables(Settings(database_url=SecretStr(postgres_cluster.create(_TEMPLATE))))
    return _TEMPLATE


@pytest.fixture(scope="session")
def sqlite_schema(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the service's tables, to be copied."""
    folder = tmp_path_factory.mktemp("schema")
    _create_tables(Settings(data_dir=folder))
    return folder / "service.db"


@pytest.fixture
def postgres_url(postgres_cluster: PostgresCluster, postgres_schema: str) -> Iterator[str]:
    """The address of a PostgreSQL database with the service's tables."""
    with postgres_cluster.database(postgres_schema) as url:
        yield url


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what needs the service's tables on SQLite in the gate, on PostgreSQL in `--all`; on both where marked."""
    chosen = [mark for mark in metafunc.definition.iter_markers("parametrize") if mark.args[0] == "database_kind"]
    if "database_kind" in metafunc.fixturenames and not chosen:
        if metafunc.definition.get_closest_marker("both_databases") is not None:
            metafunc.parametrize("database_kind", DATABASES)
            return
        sqlite = pytest.param("sqlite", marks=pytest.mark.gate_only)
        metafunc.parametrize("database_kind", [sqlite, pytest.param("postgresql", marks=pytest.mark.all)])


@pytest.fixture(scope="session")
def usual_settings() -> Settings:
    """What an empty environment sets. To read it takes as long as to copy a database and open it."""
    return Settings()


@pytest.fixture
def settings(request: pytest.FixtureRequest, database_kind: str, tmp_path: Path, usual_settings: Settings) -> Settings:
    """Settings of a service with a data folder of its own; the tables are there, empty."""
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    own: dict[str, object] = {"data_dir": data_dir}
    if database_kind == "postgresql":
        own["database_url"] = SecretStr(request.getfixturevalue("postgres_url"))
    else:
        shutil.copy(request.getfixturevalue("sqlite_schema"), data_dir / "service.db")
    return usual_settings.model_copy(update=own)


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """The service's database with its tables and nothing in them."""
    database = Database(settings)
    yield database
    database.close()


@pytest.fixture
def account_id(database: Database, settings: Settings) -> int:
    """The account, with its groups and its first administrator."""
    with database.begin() as connection:
        return ensure_account(connection, settings)


@pytest.fixture
def count_statements(database: Database) -> Iterator[list[str]]:
    """The statements that the database gets from now on."""
    statements: list[str] = []

    def record(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        statements.append(statement)

    sa.event.listen(database.engine, "before_cursor_execute", record)
    yield statements
    sa.event.remove(database.engine, "before_cursor_execute", record)


def _create_tables(settings: Settings) -> None:
    database = Database(settings)
    migrations.upgrade(database)
    database.close()


@pytest.fixture
def caller(database: Database, account_id: int) -> Caller:
    """The first administrator."""
    with database.connect() as connection:
        row = connection.execute(sa.select(users.c.id, users.c.email)).one()
    return Caller(row.id, account_id, row.email, frozenset({BuiltinGroup.ADMIN}), token_id=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An attempt's folder with its working folder."""
    folder = tmp_path / "7" / "1"
    (folder / "work").mkdir(parents=True)
    return folder


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Starts a Bash script in the folder; whatever it leaves behind is ended afterwards."""

    def start(script: str, **environment: str) -> DurableProcess:
        return DurableProcess.start(
            folder=folder,
            argv=["bash", "-c", script],
            cwd=folder / "work",
            environment={"PATH": "/usr/local/bin:/usr/bin:/bin", **environment},
            log=folder.parent / "log",
        )

    yield start
    for process in marked_processes():
        if mark_of(process) == str(folder):
            with suppress(psutil.NoSuchProcess):
                process.kill()


@pytest.fixture
def postgres_connection(empty_postgres_url: str, tmp_path: Path) -> Connection:
    """An empty PostgreSQL database as a tap."""
    tap = TapAttributes("warehouse", "url", url=empty_postgres_url)
    found = connection_of(tap, Settings(data_dir=tmp_path))
    return Connection("warehouse", "postgresql", found.engine, found.dialect, "localhost:5432", found.target)
