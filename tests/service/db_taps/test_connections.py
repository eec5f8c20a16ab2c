from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from svc_jupyter.api.db_taps import DbType
from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.job import Connection, EngineName
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.sql_tokens import Dialect

SECRET = "pass'wo\\rd @/:%41"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(data_dir=tmp_path / "data", file_roots=[tmp_path])
    settings.storage_dir.mkdir(parents=True)
    return settings


def make_database(file: Path) -> Path:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t (a)")
    return file


def connected(settings: Settings, **attributes: object) -> Connection:
    return connection_of(TapAttributes(name="warehouse", **attributes), settings)


def test_postgresql_is_reached_by_its_own_protocol_with_any_password(settings):
    found = connected(
        settings,
        db_type="postgresql",
        db_host="db.example",
        port=6000,
        db_name="my db",
        db_user="reader",
        password=SECRET,
    )
    assert (found.engine, found.dialect, found.address) == (
        EngineName.POSTGRESQL,
        Dialect.POSTGRESQL,
        "db.example:6000",
    )
    parsed = psycopg.conninfo.conninfo_to_dict(found.target)
    assert (parsed["host"], parsed["port"], parsed["dbname"]) == ("db.example", "6000", "my db")
    assert (parsed["user"], parsed["password"]) == ("reader", SECRET)


def test_each_type_has_its_port_and_its_engine(settings):
    types = {
        "postgresql": ("h:5432", EngineName.POSTGRESQL),
        "redshift": ("h:5439", EngineName.POSTGRESQL),
        "mysql": ("h:3306", EngineName.SQLALCHEMY),
        "sqlserver": ("h:1433", EngineName.SQLALCHEMY),
    }
    found = {db_type: connected(settings, db_type=db_type, db_host="h") for db_type in types}
    assert {db_type: (connection.address, connection.engine) for db_type, connection in found.items()} == types


def test_redshift_is_asked_at_its_own_port(settings):
    found = connected(settings, db_type="redshift", db_host="h")
    assert psycopg.conninfo.conninfo_to_dict(found.target)["port"] == "5439"


def test_mysql_gets_its_url_with_any_password(settings):
    found = connected(settings, db_type="mysql", db_host="h", db_user="reader", password=SECRET, db_name="d")
    assert sa.make_url(found.target).password == SECRET
    assert found.dialect is Dialect.MYSQL


def test_a_postgresql_url_goes_the_fast_way_too(settings):
    schemes = ("postgresql", "postgres", "postgresql+psycopg")
    found = [connected(settings, db_type="url", url=f"{s}://reader:pw@h:1/d?sslmode=require") for s in schemes]
    assert [(connection.engine, connection.address) for connection in found] == [(EngineName.POSTGRESQL, "h:1")] * 3
    parsed = [psycopg.conninfo.conninfo_to_dict(connection.target) for connection in found]
    assert [(one["user"], one["password"], one["sslmode"]) for one in parsed] == [("reader", "pw", "require")] * 3


def test_another_url_goes_to_sqlalchemy_as_it_is(settings):
    url = "oracle+oracledb://reader:pw@h:1521/?service_name=x"
    found = connected(settings, db_type="url", url=url)
    assert (found.engine, found.dialect, found.target) == (EngineName.SQLALCHEMY, Dialect.ORACLE, url)


def test_a_url_names_the_database_whose_rules_hold(settings):
    dialects = {
        "mariadb": Dialect.MYSQL,
        "mssql": Dialect.SQLSERVER,
        "duckdb": Dialect.DUCKDB,
        "trino": Dialect.PRESTO,
        "databricks": Dialect.SPARK,
        "redshift": Dialect.REDSHIFT,
        "snowflake": Dialect.SNOWFLAKE,
        "firebird": Dialect.OTHER,
    }
    found = {name: connected(settings, db_type="url", url=f"{name}://h//d").dialect for name in dialects}
    assert found == dialects


def test_no_representation_shows_a_secret(settings):
    tap = TapAttributes("t", "postgresql", db_host="h", password=SECRET, url=None)
    assert SECRET not in repr(tap)
    assert "wo" not in repr(connection_of(tap, settings)).replace("wor", "")


def test_an_invalid_tap_is_refused_with_the_name_of_its_field(settings):
    def refusal(attributes: dict[str, object]) -> str:
        with pytest.raises(Invalid) as refused:
            connected(settings, **attributes)
        return refused.value.message

    no_host = "db_host: must be a host name or an address, without scheme, port and path"
    unreadable = "url: cannot be read; it must have the form dialect+driver://user:password@host:port/database"
    relative = "url: a duckdb URL must name a file by its absolute path: duckdb:////folder/file.duckdb"
    no_file = "url: a sqlite URL must name a file by its absolute path: sqlite:////folder/file.db"
    invalid = [
        ({"db_type": "oracle"}, "db_type: unknown; known are " + ", ".join(DbType)),
        ({"db_type": "postgresql"}, "db_host: a postgresql tap needs the host of its database"),
        ({"db_type": "mysql", "db_host": "a b"}, no_host),
        ({"db_type": "mysql", "db_host": "/socket"}, no_host),
        ({"db_type": "postgresql", "db_host": "u@h"}, no_host),
        (
            {"db_type": "postgresql", "db_host": "h\0"},
            "db_host: must not contain control characters or halves of a character",
        ),
        (
            {"db_type": "postgresql", "db_host": "h", "password": "\ud800"},
            "db_passwd: must not contain control characters or halves of a character",
        ),
        ({"db_type": "postgresql", "db_host": "h", "url": "x://"}, "url: only a tap with db_type url has one"),
        (
            {"db_type": "url"},
            "url: a tap with db_type url needs one: dialect+driver://user:password@host:port/database",
        ),
        ({"db_type": "url", "url": "geheim"}, unreadable),
        ({"db_type": "url", "url": "mysql://u:p@h:geheim/x"}, unreadable),
        ({"db_type": "url", "url": "sqlite://"}, no_file),
        ({"db_type": "url", "url": "sqlite:///file:/etc/x?uri=true"}, no_file),
        ({"db_type": "url", "url": "duckdb:///flights.duckdb"}, relative),
        ({"db_type": "url", "url": "duckdb:///a/flights"}, relative),
        ({"db_type": "sqlite"}, "db_name: a sqlite tap needs the path of its file"),
        ({"db_type": "sqlite", "db_name": "missing.db"}, "db_name: the file missing.db does not exist"),
    ]
    assert [(attributes, refusal(attributes)) for attributes, _ in invalid] == invalid


def opened(settings: Settings, file: Path) -> Connection:
    return connected(settings, db_type="sqlite", db_name=str(file))


def test_a_database_in_the_storage_folder_may_be_opened(settings):
    file = make_database(settings.storage_dir / "a.db")
    by_url = connected(settings, db_type="url", url=f"sqlite:///{file}")
    for found in (opened(settings, file), by_url):
        assert (found.engine, found.target) == (EngineName.SQLITE, str(file.resolve()))


def test_nothing_else_in_the_data_folder_may(settings):
    file = make_database(settings.data_dir / "service.db")
    with pytest.raises(Invalid, match="the service's own"):
        opened(settings, file)
    with pytest.raises(Invalid, match="the service's own"):
        connected(settings, db_type="url", url=f"sqlite:///{file}")


def test_a_link_does_not_lead_to_the_services_database(settings):
    own = make_database(settings.data_dir / "service.db")
    symbolic, hard = settings.storage_dir / "symbolic.db", settings.storage_dir / "hard.db"
    symbolic.symlink_to(own)
    hard.hardlink_to(own)
    for file in (symbolic, hard):
        with pytest.raises(Invalid, match="the service's own"):
            opened(settings, file)


def test_no_link_leads_out_of_the_allowed_folders(settings, tmp_path_factory):
    outside = make_database(tmp_path_factory.mktemp("outside") / "a.db")
    link = settings.storage_dir / "a.db"
    link.symlink_to(outside)
    for file in (outside, link, settings.storage_dir / ".." / ".." / ".." / outside):
        with pytest.raises(Invalid, match="outside the folders"):
            opened(settings, file)


def test_a_file_that_is_no_database_is_refused(settings):
    file = settings.storage_dir / "a.db"
    file.write_text("carrier,delay\n")
    with pytest.raises(Invalid, match="is not a SQLite database"):
        opened(settings, file)


def test_a_folder_is_refused(settings):
    with pytest.raises(Invalid, match="cannot be read"):
        opened(settings, settings.storage_dir)


def test_a_relative_file_lies_in_the_storage_folder(settings):
    file = make_database(settings.storage_dir / "a.db")
    assert connected(settings, db_type="sqlite", db_name="a.db").target == str(file.resolve())


@pytest.mark.parametrize("database", ["/folder/x.duckdb", "~/x.duckdb", ":memory:", "md:x"])
def test_a_duckdb_that_is_the_same_for_each_query_is_taken(settings, database):
    assert connected(settings, db_type="url", url=f"duckdb:///{database}").target == f"duckdb:///{database}"


def test_a_name_that_no_file_can_have_is_refused(settings):
    settings.storage_dir.mkdir(exist_ok=True)
    (settings.data_dir / "service.db").touch()
    for name in ("x" * 400, "/" + "x" * 4000, "a/" * 2000 + "b"):
        with pytest.raises(Invalid, match=r"^(db_name|file://)"):
            connected(settings, db_type="sqlite", db_name=name)
