"""The section "Data": taps with their tables and columns, queries and previews of them, and the form of a tap."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Locator, expect
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from tests.browser.lab_page import DARK, LIGHT, LabPage
from tests.browser.views import MAIN_AREA
from tests.support.postgres import PostgresCluster
from tests.support.service_process import ServiceProcess
from tests.support.socket_bridge import bridge_to

PASSWORD = "right-52-geheim"
HOSTILE = (
    "<img src=x onerror=document.title='broken'>",
    "quo'te\"d `name` [x]",
    "\u202eright to left",
    "x" * 255,
)
_numbers = itertools.count(1)


class Data:
    """The section's tree, in the words of a person who uses it."""

    def __init__(self, page: LabPage) -> None:
        self.page = page

    @property
    def tree(self) -> Locator:
        return self.page.panel.get_by_role("treegrid", name="Taps, schemas, tables and columns")

    def row(self, name: str) -> Locator:
        """The row of an item."""
        return self.tree.get_by_role("row").filter(has=self.page.page.get_by_text(name, exact=True))

    def open(self, *names: str) -> None:
        """Open items one in the other."""
        for name in names:
            self.row(name).press("ArrowRight")
            expect(self.row(name)).to_have_attribute("aria-expanded", "true")

    def step(self, name: str, step: str) -> Locator:
        """The button of a row, which is there while the pointer is on the row."""
        self.row(name).hover()
        return self.row(name).get_by_role("button", name=step)

    @property
    def form(self) -> Locator:
        return self.page.page.locator(f"{MAIN_AREA} form")


@pytest.fixture
def data(page: LabPage) -> Data:
    return Data(page)


@contextmanager
def tap(service: ServiceProcess, *statements: str, **where: Any) -> Iterator[str]:
    """Make a tap, of a SQLite database with these statements unless it is said where; yield its name."""
    name = f"data-{next(_numbers)}"
    if not where:
        file = service.data_dir / "storage" / f"{name}.db"
        file.parent.mkdir(exist_ok=True)
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("BEGIN")  # else each table is a commit of its own
            for statement in statements:
                connection.execute(statement)
            connection.commit()
        where = {"db_type": "sqlite", "db_name": str(file)}
    answer = service.http.post("/db_taps", json={"name": name, **where}).raise_for_status()
    try:
        yield name
    finally:
        service.http.delete(f"/db_taps/{answer.json()['id']}")


def test_a_table_is_found_queried_and_previewed(data: Data, service: ServiceProcess) -> None:
    page = data.page
    page.write_notebook("report.ipynb", "first = 1")
    rows = "INSERT INTO flights SELECT 'JFK', value FROM json_each('[1, 2, 3]')"
    with tap(service, "CREATE TABLE flights (origin TEXT, delay REAL)", rows) as name:
        page.open("report.ipynb")
        data.open(name, "flights")
        expect(data.row("flights")).to_contain_text("3 rows")
        expect(data.row("delay")).to_contain_text("REAL")
        data.step("flights", "Insert a query of 100 rows").click()
        cell = page.notebook.locator(".jp-CodeCell").nth(1)
        expect(cell.locator(".cm-line")).to_have_text(
            [f"%%svc_db --tap {name}", "SELECT *", 'FROM "flights"', "LIMIT 100"]
        )
        data.row("delay").press("Control+Enter")
        expect(cell).to_contain_text('"delay"')
        data.row("flights").press("Shift+Enter")
        preview = page.page.locator(MAIN_AREA)
        expect(preview.get_by_role("grid").get_by_role("row")).to_have_count(4)
        expect(preview).to_contain_text("Preview of flights")


def test_a_step_that_needs_a_notebook_is_disabled_without_one(data: Data, service: ServiceProcess) -> None:
    with tap(service, "CREATE TABLE flights (origin TEXT)") as name:
        data.page.open()
        data.open(name)
        insert = data.step("flights", "Insert query: open a notebook first")
        expect(insert).to_be_disabled()
        data.row("flights").click(button="right")
        item = data.page.page.get_by_role("menuitem", name="Insert query: open a notebook first")
        expect(item).to_have_attribute("aria-disabled", "true")
        data.page.page.keyboard.press("Escape")


def test_hostile_names_are_text_and_their_queries_run(data: Data, service: ServiceProcess) -> None:
    page = data.page
    tables = [f"CREATE TABLE {_quoted(name)} (column{number} INTEGER)" for number, name in enumerate(HOSTILE)]
    with tap(service, *tables) as name:
        page.open()
        data.open(name)
        for number, table in enumerate(HOSTILE):
            data.row(table).press("Shift+Enter")
            expect(page.page.locator(MAIN_AREA).get_by_role("grid")).to_contain_text(f"column{number}")
        assert "broken" not in page.page.title()


def test_ten_thousand_tables_are_there_and_few_of_them_in_the_page(data: Data, service: ServiceProcess) -> None:
    with tap(service, *(f"CREATE TABLE t{number:05} (a INTEGER)" for number in range(10_000))) as name:
        data.page.open()
        data.open(name)
        expect(data.row("t00000")).to_be_visible()
        data.row(name).press("End")
        data.page.page.keyboard.press("PageUp")
        expect(data.tree).to_have_attribute("aria-rowcount", re.compile(r"^1\d{4}$"))
        assert data.tree.get_by_role("row").count() < 100


def test_the_search_finds_tables_and_columns_of_what_was_read(data: Data, service: ServiceProcess) -> None:
    tables = ("CREATE TABLE flights (origin TEXT)", "CREATE TABLE planes (tailnum_of_mine TEXT)")
    with tap(service, *tables) as name, tap(service, "CREATE TABLE tailnum_of_mine (a INTEGER)") as unread:
        data.page.open()
        data.open(name)
        expect(data.row("planes")).to_be_visible()
        expect(data.row(unread)).to_be_visible()
        search = data.page.panel.get_by_role("searchbox")
        search.fill("TAILNUM_of_mine")
        expect(data.row("tailnum_of_mine")).to_have_attribute("aria-level", "3")
        expect(data.row("planes")).to_be_visible()
        expect(data.row("flights")).to_have_count(0)
        expect(data.row(unread)).to_have_count(0)
        search.fill("no-such-thing")
        expect(data.page.panel).to_contain_text("No tap, and no table or column that was read so far")
        search.press("Escape")
        expect(data.row("flights")).to_be_visible()


def test_a_database_that_takes_long_is_read_behind(data: Data, service: ServiceProcess) -> None:
    with tap(service, "CREATE TABLE flights (origin TEXT)") as name:
        with closing(sqlite3.connect(service.data_dir / "storage" / f"{name}.db")) as connection:
            connection.execute("BEGIN EXCLUSIVE")  # nobody can read it
            data.page.open()
            data.open(name)
            expect(data.tree).to_contain_text("reading the tables for the first time…")
        expect(data.row("flights")).to_be_visible()


def test_a_database_that_cannot_be_read_says_why_and_can_be_tried_again(data: Data, service: ServiceProcess) -> None:
    with tap(service, "CREATE TABLE flights (a INTEGER)") as name:
        file = service.data_dir / "storage" / f"{name}.db"
        content = file.read_bytes()
        file.write_bytes(b"no database" * 100)
        data.page.open()
        data.open(name)
        failed = data.tree.get_by_role("row").filter(has_text="try again")
        expect(failed).to_be_visible()
        file.write_bytes(content)
        # The service tries again by itself, too, and may be the first on a busy machine.
        failed.or_(data.row("flights")).press("Enter")
        expect(data.row("flights")).to_be_visible()


def test_a_tap_is_added_and_its_problems_stand_beside_their_fields(
    data: Data, postgres_cluster: PostgresCluster, service: ServiceProcess
) -> None:
    page = data.page
    page.traffic.expect_errors("422")
    name = f"a-warehouse-{next(_numbers)}"  # the first in the list, of which the page has only the rows in sight
    with guarded_database(postgres_cluster) as fields:
        page.open()
        page.panel.get_by_role("button", name="Add a tap", exact=True).click()
        form = data.form
        form.get_by_role("button", name="Save", exact=True).click()
        expect(form.get_by_label("Name")).to_be_focused()
        expect(form).to_contain_text("Enter the host of the database")
        form.get_by_label("Name").fill(name)
        form.get_by_label("Host").fill("no host")
        form.get_by_role("button", name="Save", exact=True).click()
        expect(form.get_by_label("Host")).to_have_attribute("aria-invalid", "true")
        expect(form).to_contain_text("must be a host name")
        for label, field in (("Host", "db_host"), ("Port", "port"), ("Database", "db_name"), ("User", "db_user")):
            form.get_by_label(label).fill(str(fields[field]))
        form.get_by_label("Password", exact=True).fill("wrong-52-geheim")
        form.get_by_role("button", name="Save and test").click()
        expect(form.get_by_role("status")).to_contain_text("password authentication failed")
        expect(form.get_by_label("Password", exact=True)).to_have_value("")
        form.get_by_label("Password", exact=True).fill(PASSWORD)
        form.get_by_role("button", name="Save and test").click()
        expect(form.get_by_role("status")).to_contain_text("and has 1 table")
        expect(form.get_by_role("button", name="Test connection")).to_be_enabled()
        data.open(name, 'odd "schema"')
        expect(data.row("flights")).to_be_visible()
        kept = page.page.evaluate("JSON.stringify([localStorage, sessionStorage, location.href])")
        seen = [page.page.content(), kept, page.lab.log_file.read_text(), *map(_read, _files(page.lab.folder))]
        assert not [text for text in seen if "geheim" in text]
        assert not [one.url for one in page.traffic.requests if "geheim" in one.url]
        _remove(data, name)
    assert name not in service.http.get("/db_taps").text


def test_the_section_and_the_form_are_accessible(data: Data, service: ServiceProcess) -> None:
    page = data.page
    with tap(service, "CREATE TABLE flights (origin TEXT)") as name:
        page.open()
        page.narrow_the_sidebar()
        data.open(name, "flights")
        data.row("flights").hover()
        data.row(name).press("F2")
        expect(data.form.get_by_label("Name")).to_have_value(name)
        for theme in (LIGHT, DARK):
            page.run("apputils:change-theme", theme=theme)
            data.row("flights").hover()
            assert page.accessibility_findings(".jp-SvcData", MAIN_AREA) == []


def _remove(data: Data, name: str) -> None:
    """Remove a tap that a schedule uses, by the keyboard; the answer at hand is no."""
    dialog = data.page.dialog
    data.row(name).press("Delete")
    expect(dialog).to_contain_text(f"Remove tap {name} (PostgreSQL)? No schedule uses it.")
    expect(dialog.get_by_role("button", name="No, leave it")).to_be_focused()
    data.page.page.keyboard.press("Enter")
    dialog.wait_for(state="detached")
    data.row(name).press("Delete")
    data.page.answer_dialog("Remove tap")
    expect(data.row(name)).to_have_count(0)


@contextmanager
def guarded_database(cluster: PostgresCluster) -> Iterator[dict[str, Any]]:
    """Yield the attributes of a tap, without its password, of a PostgreSQL database that asks for one."""
    role = f"reader_{next(_numbers)}"
    with cluster.database() as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(role), PASSWORD))
        connection.execute(f'CREATE SCHEMA "odd ""schema""" AUTHORIZATION {role}')
        connection.execute('CREATE TABLE "odd ""schema""".flights (a integer)')
        connection.execute(f'ALTER TABLE "odd ""schema""".flights OWNER TO {role}')
        shown = connection.execute("SHOW hba_file").fetchone()
        assert shown is not None
        rules = Path(shown[0])
        before = rules.read_text()
        rules.write_text(f"local all {role} scram-sha-256\n{before}")
        connection.execute("SELECT pg_reload_conf()")
        facts = conninfo_to_dict(url)
        try:
            with bridge_to(f"{facts['host']}/.s.PGSQL.{facts.get('port') or 5432}") as port:
                yield {"db_host": "127.0.0.1", "port": port, "db_name": facts["dbname"], "db_user": role}
        finally:
            rules.write_text(before)
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def _read(path: Path) -> str:
    """Return what is in a file; nothing of one that is gone by now."""
    with suppress(FileNotFoundError):
        return path.read_bytes().decode("utf-8", "replace")
    return ""
