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


@pytest.mark.parametrize(
    ("db_type", "address", "engine"),
    [
        ("postgresql", "h:5432", EngineName.POSTGRESQL),
        ("redshift", "h:5439", EngineName.POSTGRESQL),
        ("mysql", "h:3306", EngineName.SQLALCHEMY),
        ("sqlserver", "h:1433", EngineName.SQLALCHEMY),
    ],
)
def test_each_type_has_its_port_and_its_engine(settings, db_type, address, engine):
    found = connected(settings, db_type=db_type, db_host="h")
    assert (found.address, found.engine) == (address, engine)


def test_redshift_is_asked_at_its_own_port(settings):
    found = connected(settings, db_type="redshift", db_host="h")
    assert psycopg.conninfo.conninfo_to_dict(found.target)["port"] == "5439"


def test_mysql_gets_its_url_with_any_password(settings):
    found = connected(settings, db_type="mysql", db_host="h", db_user="reader", password=SECRET, db_name="d")
    assert sa.make_url(found.target).password == SECRET
    assert found.dialect is Dialect.MYSQL


@pytest.mark.parametrize(
    "url", ["postgresql://reader:pw@h:1/d?sslmode=require", "postgres://reader:pw@h:1/d?sslmode=require",
            "postgresql+psycopg://reader:pw@h:1/d?sslmode=require"]
)  # fmt: skip
def test_a_postgresql_url_goes_the_fast_way_too(settings, url):
    found = connected(settings, db_type="url", url=url)
    assert (found.engine, found.address) == (EngineName.POSTGRESQL, "h:1")
    parsed = psycopg.conninfo.conninfo_to_dict(found.target)
    assert (parsed["user"], parsed["password"], parsed["sslmode"]) == ("reader", "pw", "require")


def test_another_url_goes_to_sqlalchemy_as_it_is(settings):
    url = "oracle+oracledb://reader:pw@h:1521/?service_name=x"
    found = connected(settings, db_type="url", url=url)
    assert (found.engine, found.dialect, found.target) == (EngineName.SQLALCHEMY, Dialect.ORACLE, url)


@pytest.mark.parametrize(
    ("backend", "dialect"),
    [
        ("mariadb", Dialect.MYSQL),
        ("mssql", Dialect.SQLSERVER),
        ("duckdb", Dialect.DUCKDB),
        ("trino", Dialect.PRESTO),
        ("databricks", Dialect.SPARK),
        ("redshift", Dialect.REDSHIFT),
        ("snowflake", Dialect.SNOWFLAKE),
        ("firebird", Dialect.OTHER),
    ],
)
def test_a_url_names_the_database_whose_rules_hold(settings, backend, dialect):
    assert connected(settings, db_type="url", url=f"{backend}://h/d").dialect is dialect


def test_no_representation_shows_a_secret(settings):
    tap = TapAttributes("t", "postgresql", db_host="h", password=SECRET, url=None)
    assert SECRET not in repr(tap)
    assert "wo" not in repr(connection_of(tap, settings)).replace("wor", "")


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"db_type": "oracle"}, "db_type: unknown; known are " + ", ".join(DbType)),
        ({"db_type": "postgresql"}, "db_host: a postgresql tap needs the host"),
        ({"db_type": "mysql", "db_host": "a b"}, "db_host: must be a host name"),
        ({"db_type": "mysql", "db_host": "/socket"}, "db_host: must be a host name"),
        ({"db_type": "postgresql", "db_host": "u@h"}, "db_host: must be a host name"),
        ({"db_type": "postgresql", "db_host": "h\0"}, "db_host: must not contain control characters"),
        ({"db_type": "postgresql", "db_host": "h", "password": "\ud800"}, "db_passwd: must not contain"),
        ({"db_type": "postgresql", "db_host": "h", "url": "x://"}, "url: only a tap with db_type url"),
        ({"db_type": "url"}, "url: a tap with db_type url needs one"),
        ({"db_type": "url", "url": "geheim"}, "url: cannot be read"),
        ({"db_type": "url", "url": "mysql://u:p@h:geheim/x"}, "url: cannot be read"),
        ({"db_type": "url", "url": "sqlite://"}, "url: a sqlite URL must name a file"),
        ({"db_type": "url", "url": "sqlite:///file:/etc/x?uri=true"}, "url: a sqlite URL must name a file"),
        ({"db_type": "sqlite"}, "db_name: a sqlite tap needs the path"),
        ({"db_type": "sqlite", "db_name": "missing.db"}, "db_name: the file missing.db does not exist"),
    ],
)
def test_an_invalid_tap_is_refused_with_the_name_of_its_field(settings, attributes, message):
    with pytest.raises(Invalid) as refused:
        connected(settings, **attributes)
    assert message in refused.value.message
    assert "geheim" not in refused.value.message


@pytest.mark.parametrize("as_url", [False, True])
class TestSqliteFiles:
    def connect(self, settings: Settings, file: Path, *, as_url: bool) -> Connection:
        named = (
            {"db_type": "url", "url": f"sqlite:///{file}"} if as_url else {"db_type": "sqlite", "db_name": str(file)}
        )
        return connected(settings, **named)

    def test_a_database_in_the_storage_folder_may_be_opened(self, settings, as_url):
        file = make_database(settings.storage_dir / "a.db")
        found = self.connect(settings, file, as_url=as_url)
        assert (found.engine, found.target) == (EngineName.SQLITE, str(file.resolve()))

    def test_nothing_else_in_the_data_folder_may(self, settings, as_url):
        file = make_database(settings.data_dir / "service.db")
        with pytest.raises(Invalid, match="the service's own"):
            self.connect(settings, file, as_url=as_url)

    def test_a_link_does_not_lead_to_the_services_database(self, settings, as_url):
        own = make_database(settings.data_dir / "service.db")
        symbolic, hard = settings.storage_dir / "symbolic.db", settings.storage_dir / "hard.db"
        symbolic.symlink_to(own)
        hard.hardlink_to(own)
        for file in (symbolic, hard):
            with pytest.raises(Invalid, match="the service's own"):
                self.connect(settings, file, as_url=as_url)

    def test_nor_out_of_the_allowed_folders(self, settings, as_url, tmp_path_factory):
        outside = make_database(tmp_path_factory.mktemp("outside") / "a.db")
        link = settings.storage_dir / "a.db"
        link.symlink_to(outside)
        for file in (outside, link, settings.storage_dir / ".." / ".." / ".." / outside):
            with pytest.raises(Invalid, match="outside the folders"):
                self.connect(settings, file, as_url=as_url)

    def test_a_file_that_is_no_database_is_refused(self, settings, as_url):
        file = settings.storage_dir / "a.db"
        file.write_text("carrier,delay\n")
        with pytest.raises(Invalid, match="is not a SQLite database"):
            self.connect(settings, file, as_url=as_url)

    def test_a_folder_is_refused(self, settings, as_url):
        with pytest.raises(Invalid, match="cannot be read"):
            self.connect(settings, settings.storage_dir, as_url=as_url)


def test_a_relative_file_lies_in_the_storage_folder(settings):
    file = make_database(settings.storage_dir / "a.db")
    assert connected(settings, db_type="sqlite", db_name="a.db").target == str(file.resolve())


@pytest.mark.parametrize("name", ["x" * 400, "/" + "x" * 4000, "a/" * 2000 + "b"], ids=["short", "long", "deep"])
def test_a_name_that_no_file_can_have_is_refused(settings, name):
    settings.storage_dir.mkdir(exist_ok=True)
    (settings.data_dir / "service.db").touch()
    with pytest.raises(Invalid, match=r"^(db_name|file://)"):
        connection_of(TapAttributes("t", "sqlite", db_name=name), settings)
