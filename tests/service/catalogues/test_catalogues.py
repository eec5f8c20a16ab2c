"""Catalogues over HTTP, with real databases, real workers and without the other rooms."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import duckdb
import httpx
import psycopg
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from tests.support.ports import refusing_port

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.db_taps import DbTapCreate, DbTapUpdate
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.dependencies import authenticated_caller
from svc_jupyter.service.catalogues import catalogues as module
from svc_jupyter.service.catalogues.catalogues import Catalogues, changed_by
from svc_jupyter.service.catalogues.routes import router
from svc_jupyter.service.catalogues.sources import TapSources
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.http.responses import install_error_handlers
from svc_jupyter.service.http.rooms import Parts
from svc_jupyter.service.kinds.queries.worker_query import Workers
from svc_jupyter.sql_tokens import Dialect

PASSWORD = "geheim-42"


@pytest.fixture
async def place(settings, database, account_id) -> AsyncIterator[SimpleNamespace]:
    """The room over HTTP, its taps, and the clock of its catalogues."""
    settings.storage_dir.mkdir()
    member = Caller(1, account_id, "member@example.org", frozenset({BuiltinGroup.USER}), 1)
    db_taps = DbTaps(settings, database, SecretBox(settings.data_dir / "secret.key"))
    workers = Workers()
    later = [0.0]
    catalogues = Catalogues(settings, clock=lambda: module.time.time() + later[0])
    await catalogues.start()
    app = FastAPI()
    app.state.parts = Parts([TapSources(db_taps, workers), catalogues])
    app.dependency_overrides[authenticated_caller] = lambda: member
    install_error_handlers(app)
    app.include_router(router)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://service/api/v1.2") as http:

        def make(name: str, db_type: str, **fields: object) -> str:
            tap = db_taps.create(DbTapCreate(name=name, db_type=db_type, **fields), by=member)
            return f"/db_taps/{tap.id}/catalogue"

        async def get(path: str, **params: object) -> dict:
            answer = await http.get(path, params=params)
            assert answer.status_code == 200, answer.text
            assert PASSWORD not in answer.text
            return answer.json()

        yield SimpleNamespace(
            make=make, get=get, http=http, later=later, catalogues=catalogues, db_taps=db_taps, by=member,
            folder=settings.storage_dir, data_dir=settings.data_dir,
        )  # fmt: skip
    await catalogues.stop()
    await workers.stop()


def run(file, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


async def test_a_catalogue_is_read_behind_and_again_after_changes_and_after_a_time(place):
    file = place.folder / "shop.db"
    run(
        file,
        'CREATE TABLE "odd name; --" (id INTEGER, "a ""b" TEXT)',
        "CREATE TABLE flights (origin VARCHAR(3), delay REAL, twice AS (delay * 2))",
        "INSERT INTO flights VALUES ('JFK', 1), ('LGA', 2)",
        "CREATE VIEW late AS SELECT origin FROM flights",
        "CREATE VIEW broken AS SELECT x FROM gone",
    )
    path = place.make("shop", "sqlite", db_name="shop.db")
    first = await place.get(path)
    assert (first["state"], first["version"], first["schemas"]) == ("filling", None, [])
    ready = await place.get(path, wait=30)
    assert (ready["state"], ready["schemas"]) == ("ready", [{"name": "", "tables": 4}])
    listed = await place.get(f"{path}/tables", offset=1, limit=2)
    assert (listed["version"], listed["total"], listed["offset"]) == (ready["version"], 4, 1)
    assert [(t["name"], t["type"], t["rows"], t["columns"]) for t in listed["tables"]] == [
        ("flights", "table", 2, 3),
        ("late", "view", None, 1),
    ]
    assert [t["name"] for t in (await place.get(f"{path}/tables", search="LIGH"))["tables"]] == ["flights"]
    columns = await place.get(f"{path}/columns", table=["flights", "odd name; --", "broken", "gone"])
    assert {t["name"]: [(c["name"], c["type"]) for c in t["columns"]] for t in columns["tables"]} == {
        "flights": [("origin", "VARCHAR(3)"), ("delay", "REAL"), ("twice", "")],
        "odd name; --": [("id", "INTEGER"), ('a "b', "TEXT")],
        "broken": [],
    }
    found = (await place.get(f"{path}/columns", search="ORIG"))["tables"]
    assert [(t["name"], [c["name"] for c in t["columns"]]) for t in found] == [
        ("flights", ["origin"]),
        ("late", ["origin"]),
    ]
    assert (await place.http.get(f"{path}/columns")).status_code == 422
    run(file, "CREATE TABLE planes (id INTEGER)")
    assert (await place.get(path, wait=30))["version"] == ready["version"]  # still fresh: nobody waits
    row = SimpleNamespace(
        command_type="DbTapQueryCommand", command={"db_tap_id": int(path.split("/")[2]), "query": "create table planes"}
    )
    await asyncio.to_thread(place.catalogues.on_command_end, None, row)
    changed = await reached(place, path, lambda one: one["version"] != ready["version"])
    assert changed["schemas"] == [{"name": "", "tables": 5}]
    run(file, "DROP TABLE planes")
    place.later[0] = module.FRESH_SECONDS + 1
    assert (await place.get(path))["version"] == changed["version"]  # answered at once, and read again behind
    place.later[0] = 0
    assert (await reached(place, path, lambda one: one["version"] != changed["version"]))["version"] == ready["version"]
    found = (await place.get(f"{path}/columns", search="ORIG"))["tables"]
    assert [(t["name"], [c["name"] for c in t["columns"]]) for t in found] == [
        ("flights", ["origin"]),
        ("late", ["origin"]),
    ]
    assert (await place.http.get(f"{path}/columns")).status_code == 422
    run(file, "CREATE TABLE planes (id INTEGER)")
    assert (await place.get(path, refresh=True, wait=30))["version"] == changed["version"]
    assert {entry.suffix for entry in (place.data_dir / "catalogues").iterdir()} == {".db"}


async def reached(place, path, is_it):
    """Return the catalogue once it is so, and its reading has ended: meanwhile no other one begins."""
    async with asyncio.timeout(30):
        while not is_it(found := await place.get(path)) or found["reading"]:  # noqa: ASYNC110  it is over HTTP
            await asyncio.sleep(0.02)
    return found


_LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked(file):
    """Let no other connection read a SQLite file. A process's locks are gone once it closes the file anywhere."""
    command = [sys.executable, "-c", _LOCK, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "locked\n"
        yield


async def test_a_reading_under_way_is_told_of_with_what_is_known(place):
    file = place.folder / "shop.db"
    run(file, "CREATE TABLE flights (id INTEGER)")
    path = place.make("shop", "sqlite", db_name="shop.db")
    with locked(file):
        first = await place.get(path, wait=0.1)
        assert (first["state"], first["reading"], first["version"]) == ("filling", True, None)
    known = await place.get(path, wait=30)
    assert (known["state"], known["reading"]) == ("ready", False)
    with locked(file):
        again = await place.get(path, wait=0.1, refresh=True)
        assert (again["state"], again["reading"], again["version"]) == ("ready", True, known["version"])
    assert not (await place.get(path, wait=30, refresh=True))["reading"]


async def test_a_tap_that_does_not_answer_says_since_when_and_keeps_what_is_known(place):
    file = place.folder / "shop.db"
    run(file, "CREATE TABLE flights (id INTEGER)")
    path = place.make("shop", "sqlite", db_name="shop.db")
    known = await place.get(path, wait=30)
    file.rename(place.folder / "away.db")
    failed = await place.get(path, refresh=True, wait=30)
    assert (failed["state"], failed["version"]) == ("failed", known["version"])
    assert "the file shop.db does not exist" in failed["error"]
    assert (known["dialect"], failed["dialect"]) == ("sqlite", None)
    again = await place.get(path, refresh=True, wait=30)
    assert again["failing_since"] == failed["failing_since"]
    assert [t["name"] for t in (await place.get(f"{path}/tables"))["tables"]] == ["flights"]
    (place.folder / "away.db").rename(file)
    assert (await place.get(path, refresh=True, wait=30))["state"] == "ready"
    run(place.folder / "other.db", "CREATE TABLE other (id INTEGER)")
    place.db_taps.update(int(path.split("/")[2]), DbTapUpdate(db_name="other.db"), by=place.by)
    moved = await place.get(path, wait=30)
    assert moved["version"] != known["version"]
    assert [t["name"] for t in (await place.get(f"{path}/tables"))["tables"]] == ["other"]
    with refusing_port() as port:
        gone = place.make("gone", "postgresql", db_host="127.0.0.1", port=port, db_passwd=SecretStr(PASSWORD))
        assert "cannot connect to 127.0.0.1" in (await place.get(gone, wait=30))["error"]
    assert (await place.http.get("/db_taps/999/catalogue")).status_code == 404


async def test_schemas_counts_and_rights_of_postgresql(place, empty_postgres_url):
    with psycopg.connect(empty_postgres_url) as connection:
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.t (a int, b numeric(9, 2)[])")
        connection.execute("CREATE VIEW v AS SELECT 1 AS a; INSERT INTO s.t VALUES (1, NULL), (2, NULL)")
    with psycopg.connect(empty_postgres_url, autocommit=True) as connection:
        connection.execute("ANALYZE s.t")
    path = place.make("warehouse", "url", url=SecretStr(empty_postgres_url))
    found = await place.get(path, wait=30)
    assert (found["error"], found["default_schema"], found["dialect"]) == (None, "public", "postgresql")
    assert found["schemas"] == [{"name": "public", "tables": 1}, {"name": "s", "tables": 1}]
    tables = (await place.get(f"{path}/tables", schema="s"))["tables"]
    assert [(t["name"], t["type"], t["rows"]) for t in tables] == [("t", "table", 2)]
    columns = (await place.get(f"{path}/columns", schema="s", table="t"))["tables"][0]["columns"]
    assert [column["name"] for column in columns] == ["a", "b"]
    assert columns[0]["type"] == "integer"


async def functions(place, path: str) -> list[tuple[str, str, str]]:
    found = (await place.get(f"{path}/functions"))["functions"]
    return [(one["schema_name"], one["name"], one["type"]) for one in found]


async def test_functions_that_users_of_postgresql_have_made(place, empty_postgres_url):
    with psycopg.connect(empty_postgres_url) as connection:
        connection.execute(
            """
            CREATE SCHEMA s; CREATE TABLE t (a int);
            CREATE FUNCTION net(price numeric) RETURNS numeric LANGUAGE sql AS 'SELECT price / 1.19';
            CREATE FUNCTION net(price int) RETURNS numeric LANGUAGE sql AS 'SELECT price / 1.19';
            CREATE FUNCTION s."Days of"(year int) RETURNS SETOF date LANGUAGE sql AS 'SELECT current_date';
            CREATE FUNCTION pairs() RETURNS TABLE (a int, b int) LANGUAGE sql AS 'SELECT 1, 2';
            CREATE AGGREGATE product(numeric) (sfunc = numeric_mul, stype = numeric);
            CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
            CREATE FUNCTION of_server(internal) RETURNS bool LANGUAGE internal STRICT AS 'boolin';
            CREATE PROCEDURE tidy() LANGUAGE sql AS 'DELETE FROM t';
            CREATE FUNCTION pg_temp.passing() RETURNS int LANGUAGE sql AS 'SELECT 1';
            """
        )
        connection.commit()
        path = place.make("warehouse", "url", url=SecretStr(empty_postgres_url))
        assert await functions(place, path) == []  # it is read behind
        first = await place.get(path, wait=30)
        made = [
            ("public", "net", "function"),
            ("public", "pairs", "table function"),
            ("public", "product", "function"),
            ("s", "Days of", "table function"),
        ]
        assert await functions(place, path) == made
        with psycopg.connect(empty_postgres_url) as other:
            other.execute("CREATE FUNCTION gross(a int) RETURNS int LANGUAGE sql AS 'SELECT a'")
        assert (await place.get(path, refresh=True, wait=30))["version"] != first["version"]
        assert await functions(place, path) == [("public", "gross", "function"), *made]


async def test_a_catalogue_of_an_older_version_is_read_anew(place):
    run(place.folder / "shop.db", "CREATE TABLE flights (id INTEGER)")
    path = place.make("shop", "sqlite", db_name="shop.db")
    await place.get(path, wait=30)
    (kept,) = (place.data_dir / "catalogues").iterdir()
    run(kept, "DROP TABLE functions", "PRAGMA user_version = 0")
    assert await functions(place, path) == []
    assert (await place.get(path, wait=30))["schemas"] == [{"name": "", "tables": 1}]


async def test_a_script_is_compared_with_the_tables_that_there_are_now(place, monkeypatch):
    monkeypatch.setattr(module, "_CHECK_WAITS_SECONDS", 30)
    file = place.folder / "shop.db"
    run(file, "CREATE TABLE flights (origin)")
    path = place.make("shop", "sqlite", db_name=str(file))
    check = path.replace("catalogue", "check")

    async def problems(query: str) -> list[dict]:
        answer = await place.http.post(check, json={"query": query})
        return answer.json()["problems"]

    expected = {"start": 7, "end": 12, "message": "There is no column orign", "did_you_mean": ["origin"]}
    assert await problems("SELECT orign FROM flights") == [expected]  # it has waited for the first reading
    run(file, "CREATE TABLE carriers (code)")
    assert [one["message"] for one in await problems("SELECT 1 FROM carriers")] == ["There is no table carriers"]
    tap_id = int(path.split("/")[2])
    row = SimpleNamespace(command_type="DbTapQueryCommand", command={"db_tap_id": tap_id, "query": "CREATE TABLE …"})
    place.catalogues.on_command_end(None, row)
    await asyncio.sleep(0)  # so that the reading begins, for which it waits
    assert await problems("SELECT 1 FROM carriers") == []
    refused = await place.http.post(check, json={"query": "x" * 100_001})
    assert refused.status_code == 422
    assert "query" in refused.json()["error"]["fields"]


class Sleeping:
    """A double of Hive whose metastore does not run, or, awake, of a database of another kind."""

    key, identity, is_read = "hive", "metastore", False

    def __init__(self, *, is_asleep: bool) -> None:
        self.is_asleep = is_asleep

    async def write(self, folder: Path) -> Path:
        self.is_read = True
        raise Invalid("it should not be read")


async def test_a_check_starts_nothing_and_reads_nothing_that_it_cannot_use(place):
    for is_asleep, dialect in ((True, Dialect.HIVE), (False, Dialect.SNOWFLAKE)):
        source = Sleeping(is_asleep=is_asleep)
        found = await place.catalogues.problems(source, "SELECT 1 FORM x", dialect)
        assert [one.did_you_mean for one in found.problems] == ([["FROM"]] if is_asleep else [])
        assert not source.is_read


async def test_schemas_counts_and_types_of_duckdb(place):
    file = place.folder / "flights.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE flights AS SELECT 'UA' AS carrier, 1.5::DECIMAL(9, 2) AS delay, [1] AS ids")
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.t (a INT); CREATE VIEW v AS SELECT 1 AS one")
        connection.execute("CREATE MACRO net(a) AS a / 1.19; CREATE MACRO s.late(a) AS TABLE SELECT a AS delay")
    path = place.make("duck", "url", url=SecretStr(f"duckdb:///{file}"))
    found = await place.get(path, wait=30)
    assert (found["error"], found["default_schema"], found["dialect"]) == (None, "main", "duckdb")
    assert found["schemas"] == [{"name": "main", "tables": 2}, {"name": "s", "tables": 1}]
    tables = (await place.get(f"{path}/tables", schema="main"))["tables"]
    assert [(t["name"], t["type"], t["rows"]) for t in tables] == [("flights", "table", 1), ("v", "view", None)]
    columns = (await place.get(f"{path}/columns", schema="main", table="flights"))["tables"][0]["columns"]
    types = [("carrier", "varchar"), ("delay", "decimal(9,2)"), ("ids", "integer[]")]
    assert [(column["name"], column["type"]) for column in columns] == types
    assert await functions(place, path) == [("main", "net", "function"), ("s", "late", "table function")]


def test_the_changed_catalogues_follow_from_the_ended_command():
    changed = [
        ("DbTapQueryCommand", {"db_tap_id": 3, "query": "SELECT 1"}, []),
        ("DbTapQueryCommand", {"db_tap_id": 3, "query": "select a into t from b"}, ["tap-3"]),
        ("DbTapQueryCommand", {"db_tap_id": 3, "query": None, "script_location": "s"}, ["tap-3"]),
        ("HiveCommand", {"query": "DROP TABLE t"}, ["hive"]),
        ("SparkCommand", {"program": "x"}, ["hive"]),
        ("DbImportCommand", {"dbtap_id": 3}, ["hive", "tap-3"]),
        ("ShellCommand", {"script": "create"}, []),
    ]
    rows = [SimpleNamespace(command_type=kind, command=command) for kind, command, _ in changed]
    assert [(row.command_type, row.command, changed_by(row)) for row in rows] == changed
