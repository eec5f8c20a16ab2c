"""SQLAlchemy's way, on the two databases that are at hand; taps on them go by ADBC otherwise."""

from __future__ import annotations

import sqlite3
from decimal import Decimal

import psycopg
import pytest
import sqlalchemy as sa
from psycopg import conninfo
from tests.service.conftest import DATABASES
from tests.support.ports import refusing_port

from svc_jupyter.service.db_taps.catalogue_file import CatalogueFile
from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.engines import sqlalchemy_url
from svc_jupyter.service.db_taps.engines.functions import FUNCTIONS
from svc_jupyter.service.db_taps.job import Connection, EngineName, JobKind
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.sql_tokens import Dialect


def connection(url: str, dialect: Dialect = Dialect.OTHER) -> Connection:
    return Connection("other", "url", EngineName.SQLALCHEMY, dialect, "h:1", url)


@pytest.fixture(params=DATABASES)
def query(request, tap_file, make_job, run_job, monkeypatch):
    """Runs a query through SQLAlchemy, in batches of two rows."""
    monkeypatch.setattr(sqlalchemy_url, "_BATCH_ROWS", 2)
    url = f"sqlite:///{tap_file}"
    if request.param == "postgresql":
        url = psycopg_url(request.getfixturevalue("postgres_connection"))
    return lambda text: run_job(make_job(connection(url, Dialect(request.param)), text))


def psycopg_url(found: Connection) -> str:
    parts = conninfo.conninfo_to_dict(found.target)
    query = {"host": parts["host"]}
    url = sa.URL.create("postgresql+psycopg", parts["user"], database=parts["dbname"], query=query)
    return url.render_as_string(hide_password=False)


def test_rows_come_typed_in_batches(query):
    answer = query("SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, NULL UNION ALL SELECT 3, 'y' ORDER BY a")
    assert answer.rows == [{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": 3, "b": "y"}]
    assert answer.types == {"a": "int64", "b": "string"}


def test_readers_are_told_why_a_column_is_text(tap_file, make_job, run_job):
    rows = "SELECT 9007199254740993 AS n, 'a' AS t UNION ALL SELECT 0.5, 'b'"
    answer = run_job(make_job(connection(f"sqlite:///{tap_file}"), rows))
    assert answer.summary["notes"] == ["column n is text: as numbers they would lose digits"]
    assert answer.types == {"n": "string", "t": "string"}


def test_a_value_that_the_driver_cannot_read_fails_in_words(tap_file, make_job, run_job, monkeypatch):
    monkeypatch.setattr(sqlalchemy_url, "_BATCH_ROWS", 1)
    sqlite3.register_converter("whole", int)
    tap = connection(f"sqlite:///{tap_file}?detect_types={sqlite3.PARSE_COLNAMES}")
    answer = run_job(make_job(tap, """SELECT '1' AS "n [whole]" UNION ALL SELECT 'x'"""))
    assert answer.message.startswith("the driver cannot read a value after row 1: invalid literal for int()")
    assert "convert its column to text in the query (CAST)" in answer.message
    assert (answer.code, answer.error["may_retry"], answer.table) == (1, False, None)


def test_percent_signs_and_colons_are_the_querys_own(query):
    assert query("SELECT 'a%s :b %% %(c)s' AS a").rows == [{"a": "a%s :b %% %(c)s"}]


def test_no_rows_keep_their_columns(query):
    answer = query("SELECT 1 AS a WHERE 1 = 0")
    assert (answer.rows, answer.types) == ([], {"a": "null"})


def test_statements_count_together_or_not_at_all(query):
    assert query("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)").message.endswith(
        "2 rows changed, no table returned"
    )
    answer = query("DELETE FROM t;\nSELECT nosuch FROM t")
    assert "nosuch" in answer.message
    assert "query, line 2: SELECT nosuch FROM t" in answer.message
    assert query("SELECT count(*) AS n FROM t").rows == [{"n": 2}]
    query("CREATE TABLE delays (carrier int)")
    failure = query("SELECT 1;\nSELECT *,\n carriers FROM delays").failure
    assert (failure["line"], failure["text"], failure["did_you_mean"]) == (3, "carriers FROM delays", ["carrier"])
    assert query("SELECT * FROM delayz").failure["did_you_mean"] == ["delays"]


def test_a_table_that_is_not_there_is_looked_for_in_its_schema(tap_file, make_job, run_job):
    tap = connection(f"sqlite:///{tap_file}", Dialect.SQLITE)
    assert run_job(make_job(tap, "SELECT * FROM main.flihgts")).failure["did_you_mean"] == ["flights"]
    assert run_job(make_job(tap, "SELECT * FROM temp.flihgts")).failure["did_you_mean"] == []


def test_a_script_with_its_own_transactions_is_run_as_it_stands(query):
    query("CREATE TABLE t (a int)")
    assert query("BEGIN; INSERT INTO t VALUES (1); COMMIT; BEGIN; INSERT INTO t VALUES (2); ROLLBACK").code == 0
    assert query("SELECT a FROM t").rows == [{"a": 1}]


def test_an_error_has_the_drivers_words_alone(query):
    message = query("SELECT * FROM nosuch").message
    assert "nosuch" in message.splitlines()[0]
    assert "sqlalche.me" not in message
    assert message.endswith("tap other (url)")


def test_tables_and_views_are_listed(tap_file):
    found = sqlalchemy_url.SqlalchemyEngine(connection(f"sqlite:///{tap_file}")).tables()
    assert [(table.name, table.type) for table in found] == [("flights", "table"), ("late", "view")]


def test_a_batch_of_several_tables_gives_the_last(postgres_connection, make_job, run_job):
    url = psycopg_url(postgres_connection)
    job = make_job(
        connection(url, Dialect.SQLSERVER), "CREATE TABLE t (a int); SELECT 1 AS a; SELECT 2.5 AS b, 'x' AS c"
    )
    assert run_job(job).rows == [{"b": Decimal("2.5"), "c": "x"}]
    assert "nosuch" in run_job(make_job(connection(url, Dialect.SQLSERVER), "SELECT nosuch")).message


def test_a_missing_driver_is_reported_with_what_installs_it(make_job, run_job):
    answer = run_job(make_job(connection("oracle+cx_oracle://u:geheim@h:1/x"), "SELECT 1"))
    assert answer.message.startswith(
        "the driver cx_Oracle for oracle is not installed; install it where the service runs"
    )
    assert "pip install 'cx_Oracle'" in answer.message
    assert answer.error["may_retry"] is False


def test_a_missing_dialect_is_reported(make_job, run_job):
    answer = run_job(make_job(connection("clickhouse://u:geheim@h:1/x"), "SELECT 1"))
    assert "an SQLAlchemy dialect for clickhouse is not installed" in answer.message
    assert "pip install 'clickhouse-sqlalchemy'" in answer.message
    assert "geheim" not in answer.message


def test_a_database_that_is_down_is_reported_without_the_password(make_job, run_job):
    with refusing_port() as port:
        url = f"postgresql+psycopg://reader:geheim@127.0.0.1:{port}/x"
        message = run_job(make_job(connection(url), "SELECT 1")).message
    assert message.startswith("cannot connect to h:1: ")
    assert "refused" in message
    assert "geheim" not in message


@pytest.mark.parametrize(
    ("db_type", "drivers"), [("mysql", ("pymysql", "mysqldb")), ("sqlserver", ("pymssql", "pyodbc"))]
)
def test_a_type_without_a_named_driver_takes_a_known_one(tmp_path, db_type, drivers):
    found = connection_of(TapAttributes("t", db_type, db_host="h"), Settings(data_dir=tmp_path))
    assert sqlalchemy_url._with_driver(sa.make_url(found.target)).get_driver_name() in drivers


@pytest.mark.parametrize("database", DATABASES)
def test_the_catalogue_has_tables_views_and_their_columns(tap_file, make_job, run_job, request, database):
    url = f"sqlite:///{tap_file}"
    if database == "postgresql":
        found = request.getfixturevalue("postgres_connection")
        url = psycopg_url(found)
        with psycopg.connect(found.target) as made:
            made.execute("CREATE TABLE flights (id int, carrier varchar(2), delay real, seats int)")
            made.execute("CREATE VIEW late AS SELECT * FROM flights")
    job = make_job(connection(url), kind=JobKind.CATALOGUE)
    assert run_job(job).error is None
    file = CatalogueFile(job.folder / "catalogue.db")
    schema = file.facts().default_schema
    rows, total = file.tables(schema, None, 0, 10)
    assert total == 2
    assert [row[1:3] for row in rows] == [("flights", "table"), ("late", "view")]
    columns = file.columns(schema, ["late"])["late"]
    assert [name for name, _ in columns] == ["id", "carrier", "delay", "seats"]
    assert columns[1][1] == "varchar(2)"


def test_its_tables_are_known_where_its_functions_cannot_be_listed(make_job, run_job, postgres_connection, monkeypatch):
    with psycopg.connect(postgres_connection.target) as made:
        made.execute("CREATE TABLE flights (id int); CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    functions = []
    for query in (FUNCTIONS[Dialect.POSTGRESQL], "SELECT nothing"):
        monkeypatch.setitem(FUNCTIONS, Dialect.POSTGRESQL, query)
        job = make_job(connection(psycopg_url(postgres_connection), Dialect.POSTGRESQL), kind=JobKind.CATALOGUE)
        assert run_job(job).error is None
        file = CatalogueFile(job.folder / "catalogue.db")
        assert [row[1] for row in file.tables("public", None, 0, 10)[0]] == ["flights"]
        functions.append(file.functions(10))
    assert functions == [[("public", "one", "function")], []]
