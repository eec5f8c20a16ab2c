"""Completion in SQL cells: a real service with real databases, through the shell's own completer."""

import sqlite3
import threading
from contextlib import closing, contextmanager

import duckdb
import httpx
import psycopg
import pytest
from IPython.core.completer import provisionalcompleter
from tests.support.double.service import ServiceDouble
from tests.support.service_process import wait_until

from svc_jupyter.magics.completion import known_catalogues

LONG = "n" * 255
HELD_SECONDS = 1000


@pytest.fixture
def complete(at_work, monkeypatch):
    """Return what the shell offers at the mark `|` in a cell, each with the cell's text as it becomes.

    A completion waits longer for the service here than people would, so that a busy machine changes nothing.
    """
    monkeypatch.setattr(known_catalogues, "WAIT_SECONDS", 30)
    monkeypatch.setattr(known_catalogues, "FRESH_SECONDS", 0)
    yield lambda cell: offered(at_work, cell)
    for thread in threading.enumerate():
        if thread.name == "svc-completion":  # it looks behind; after the test it would take this machine's own service
            thread.join(30)


def offered(notebook, cell):
    cursor = cell.index("|")
    text = cell.replace("|", "", 1)
    with provisionalcompleter():
        found = list(notebook.shell.Completer.completions(text, cursor))
    return {one.text: text[: one.start] + one.text + text[one.end :] for one in found}


@pytest.fixture
def shop(shared_service, tmp_path):
    """A tap of a SQLite file in the service's storage."""
    file = shared_service.data_dir / "storage" / f"{tmp_path.name}.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            "CREATE TABLE orders (id INTEGER, total REAL, placed_at TEXT);"
            'CREATE TABLE "order lines" (order_id INTEGER, "unit ""price""" REAL, größe TEXT, "select" TEXT);'
            f'CREATE TABLE "{LONG}" ("{LONG}" TEXT);'
        )
    yield from tap_of(shared_service, "shop", db_type="sqlite", db_name=file.name)
    file.unlink()


@pytest.fixture
def store(shared_service, empty_postgres_url):
    """A tap of a PostgreSQL database with three schemas."""
    with psycopg.connect(empty_postgres_url, autocommit=True) as connection:
        connection.execute(
            'CREATE TABLE parts (id int, "Colour" text); CREATE SCHEMA archive; '
            "CREATE TABLE archive.parts_2020 (old int);"
            'CREATE SCHEMA "Old Data"; CREATE TABLE "Old Data"."Parts" (was int);'
            "CREATE FUNCTION net(price int) RETURNS int LANGUAGE sql AS 'SELECT price';"
            'CREATE FUNCTION "Old Data"."Net of"(price int) RETURNS int LANGUAGE sql AS \'SELECT price\';'
            "CREATE FUNCTION archive.lost_parts() RETURNS SETOF int LANGUAGE sql AS 'SELECT 1'"
        )
        about = connection.info
        fields = {"db_host": about.host, "db_name": about.dbname, "db_user": about.user}
        yield from tap_of(shared_service, "store", db_type="postgresql", **fields)


def tap_of(service, name, **fields):
    answer = service.http.post("/db_taps", json={"name": name, **fields})
    assert answer.status_code == 200, answer.text
    tap = answer.json()["id"]
    catalogue = f"/db_taps/{tap}/catalogue"
    wait_until(lambda: service.http.get(catalogue, params={"wait": 30}).json()["state"] == "ready", "the catalogue")
    yield tap
    service.http.delete(f"/db_taps/{tap}")


def test_tables_and_columns_of_the_tap_that_the_magic_names(shop, complete):
    found = complete("%%svc_db --tap shop\nSELECT o.|\nFROM orders o")
    assert list(found) == ["id", "total", "placed_at"]
    assert found["total"] == "%%svc_db --tap shop\nSELECT o.total\nFROM orders o"
    assert list(complete("%%svc_db --tap shop\nSELECT 1;\nSELECT *\nFROM or|")) == ['"order lines"', "orders"]
    assert list(complete("%%svc_db --tap=shop -o x\nselect * from orders where pl|")) == ["placed_at"]


def test_names_that_need_quotes_get_them(shop, complete):
    line = "%%svc_db --tap shop\n"
    found = complete(f'{line}SELECT | FROM "order lines"')
    assert list(found) == ["order_id", '"unit ""price"""', '"größe"', '"select"', '"order lines"']
    assert complete(f'{line}SELECT * FROM "ord|') == {
        '"order lines"': f'{line}SELECT * FROM "order lines"',
        '"orders"': f'{line}SELECT * FROM "orders"',
    }
    assert complete(f'{line}SELECT "gr|" FROM "order lines"') == {'"größe': f'{line}SELECT "größe" FROM "order lines"'}
    assert next(iter(complete(f"{line}SELECT n| FROM {LONG}"))) == LONG


def test_schemas_of_postgresql(store, complete):
    line = "%%svc_db --tap store\nSELECT * FROM "
    assert list(complete(f"{line}|")) == ["parts", '"Old Data"', "archive", "public"]
    assert list(complete(f"{line}par|")) == ["parts", '"Old Data"."Parts"', "archive.parts_2020"]
    assert complete(f'{line}"Old Data".|') == {'"Parts"': f'{line}"Old Data"."Parts"'}
    assert next(iter(complete(f"{line}archive.parts_2020 WHERE o|"))) == "old"
    assert list(complete("%%svc_db --tap store\nSELECT parts.c| FROM parts")) == ['"Colour"']


def test_functions_that_users_have_made(store, complete):
    line = "%%svc_db --tap store\n"
    found = complete(f"{line}SELECT id, net| FROM parts")
    assert list(found) == ["net", '"Old Data"."Net of"', "netmask", "network"]
    assert found['"Old Data"."Net of"'] == f'{line}SELECT id, "Old Data"."Net of" FROM parts'
    assert list(complete(f"{line}SELECT * FROM archive.|")) == ["parts_2020", "lost_parts"]


def test_a_tap_of_a_url_has_the_functions_and_the_quotes_of_its_database(shared_service, tmp_path, complete):
    file = shared_service.data_dir / "storage" / f"{tmp_path.name}.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute('CREATE TABLE flights ("Carrier" TEXT, "dep delay" INT)')
    with contextmanager(tap_of)(shared_service, "duck", db_type="url", url=f"duckdb:///{file}"):
        line = "%%svc_db --tap duck\n"
        assert list(complete(f"{line}SELECT approx_c| FROM flights")) == ["approx_count_distinct"]
        assert list(complete(f"{line}SELECT Car| FROM flights")) == ["Carrier", "CARDINALITY"]
        assert list(complete(f"{line}SELECT f.| FROM flights f")) == ["Carrier", '"dep delay"']
    file.unlink()


def test_engines_over_the_tables_of_hive_have_functions_of_their_own(complete):
    offered = {magic: [*complete(f"%%{magic}\nSELECT get_j|")] for magic in ("svc_hive", "svc_sql", "svc_presto")}
    assert offered == {"svc_hive": ["get_json_object"], "svc_sql": ["get_json_object"], "svc_presto": []}
    offered = {magic: [*complete(f"%%{magic}\nSELECT json_ex|")] for magic in offered}
    assert offered == {"svc_hive": [], "svc_sql": [], "svc_presto": ["json_extract", "json_extract_scalar"]}


def test_nothing_else_is_offered_in_an_sql_cell(shop, complete, at_work):
    at_work.shell.user_ns["placed_in_python"] = 1
    assert list(complete("placed_in|")) == ["placed_in_python"]
    cells = ("SELECT 'placed_in|", "-- placed_in|", "SELECT * FROM placed_in|", "SELECT 12|", "SELECT x AS placed_in|")
    for cell in cells:
        assert complete(f"%%svc_db --tap shop\n{cell}") == {}, cell


def test_the_default_tap_and_cells_within_cells(shop, complete, at_work):
    at_work.value("%svc_config default_tap shop")
    assert list(complete("%%svc_db\nSELECT * FROM orde|")) == ['"order lines"', "orders"]
    composite = "%%svc_composite\n%%svc_db\nSELECT t| FROM orders\n%%svc_shell\nls FROM"
    assert next(iter(complete(composite))) == "total"


def test_a_table_that_was_just_made_is_there(shop, complete, at_work):
    cell = "%%svc_db --tap shop\nSELECT * FROM fresh|"
    assert complete(cell) == {}
    at_work.value("%%svc_db --tap shop --quiet\nCREATE TABLE fresh_one (a)")
    wait_until(lambda: list(complete(cell)) == ["fresh_one"], "the new table")


class FirstReading(ServiceDouble):
    """A service, without functions, that reads a database for the first time until `is_read` is set."""

    def __init__(self):
        super().__init__(first_command=128)
        self.is_read = threading.Event()

    def answer(self, request):
        if request.url.path.endswith("/catalogue"):
            if "wait" in request.url.params:
                self.is_read.wait(HELD_SECONDS)
            ready = {"state": "ready", "version": "1", "default_schema": "main"}
            return httpx.Response(200, json=ready if self.is_read.is_set() else {"state": "filling"})
        if request.url.path.endswith("/catalogue/tables"):
            tables = [{"schema_name": "main", "name": "flown", "type": "table", "columns": 1}]
            return httpx.Response(200, json={"version": "1", "tables": tables, "offset": 0, "total": 1})
        return super().answer(request)


def test_a_first_reading_is_not_waited_for(notebook_of, monkeypatch):
    monkeypatch.setattr(known_catalogues, "WAIT_SECONDS", HELD_SECONDS)  # waiting would be the end of this test
    with FirstReading() as service:
        try:
            notebook = notebook_of(service)
            service.add_tap("flights")
            assert list(offered(notebook, "%%svc_db\nSELECT * FROM fl|")) == []
            assert list(offered(notebook, "%%svc_db\nSELECT * FROM flights wh|")) == ["where", "when"]
        finally:
            service.is_read.set()
        wait_until(lambda: list(offered(notebook, "%%svc_db\nSELECT * FROM fl|")) == ["flown"], "the table")


def test_a_tap_that_there_is_not_and_one_that_goes(shop, shared_service, complete):
    assert complete("%%svc_db --tap nowhere\nSELECT * FROM or|") == {}
    assert complete("%%svc_db --tap nowhere\nsel|").keys() == {"select"}
    assert complete("%%svc_db --tap nowhere --la\nSELECT * FROM orders WH|").keys() == {"WHERE", "WHEN"}


def test_a_service_without_catalogues(bare_service, notebook_of, monkeypatch):
    monkeypatch.setattr(known_catalogues, "WAIT_SECONDS", 30)
    notebook = notebook_of(bare_service)
    bare_service.add_tap("flights")
    assert list(offered(notebook, "%%svc_db\nSELECT * FROM fl|")) == ["flights"]
    assert list(offered(notebook, "%%svc_db\nSELECT f.| FROM flights f")) == []
