"""Results of commands as grids: in cells, in saved notebooks and in the view of a command."""

from __future__ import annotations

import csv
import io
import itertools
import re
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Download, Locator, expect
from psycopg.conninfo import conninfo_to_dict
from tests.browser.conftest import switch_on
from tests.browser.lab_page import DARK, LabPage
from tests.browser.lab_process import LabProcess
from tests.support.pig import put_data
from tests.support.ports import free_port
from tests.support.postgres import PostgresCluster
from tests.support.service_process import ServiceProcess
from tests.support.socket_bridge import bridge_to

COUNT = 200_000
FLIGHTS = f"""WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {COUNT - 1})
SELECT i, substr('JFKLGAEWR', i % 3 * 3 + 1, 3) AS origin, i * 0.25 AS delay,
  CASE WHEN i % 1000 THEN 'note ' || i END AS note FROM n"""
HIGHEST = 400
"""Pixels that a result may take in a notebook."""
MARKUP = "<img src=x onerror=alert(1)> <b>b</b>"
HOSTILE = f"""SELECT 'costs $5 and not $6 today' AS a, '{MARKUP}' AS a,
  date '1492-10-12' AS "day", timestamp '0044-03-15 12:00:00' AS "then", 'NaN'::float8 AS nothing,
  12345678901234567890.123456789::numeric AS price, ARRAY[1, 2, NULL] AS list,
  '{{"k": [1, {{"$": "$"}}]}}'::jsonb AS tree, 9007199254740993 AS large,
  E'two\\nlines\\tand a tab' AS lines, repeat('x', 10000000) AS long,
  'سلام 🦆' AS "$day$ <i>"
UNION ALL SELECT NULL, '', NULL, NULL, '-Infinity', -0.10, '{{}}', 'null', -1, '', 'short', 'z'"""
UNUSUAL = """SELECT date 'infinity' AS a, timestamp '-infinity' AS b, date '12026-01-01' AS c,
  timestamptz '12026-01-01 00:00+00' AS d, date '0044-03-15 BC' AS e, '\\x00ff'::bytea AS f, ''::bytea AS g,
  interval '1 year 2 days 3 hours' AS h, int4range(1, 5) AS i, ROW(1, 'a b') AS j, 'Infinity'::numeric AS k,
  time '24:00' AS l, 1e300::float8 AS m"""
UNUSUAL_SHOWN = {
    "a": "infinity",
    "b": "-infinity",
    "c": "+12026-01-01",
    "d": "+12026-01-01T00:00:00Z",
    "e": "-0043-03-15",
    "f": "00ff",
    "g": "",
    "h": "1 year 2 days 03:00:00",
    "i": "[1,5)",
    "j": '(1,"a b")',
    "k": "Infinity",
    "l": "24:00:00",
    "m": "1e+300",
}
LONG_VALUES = """SELECT 'short' AS name, 12345678.123456::float8 AS price, repeat('x', 5000) || E'\\nEND' AS note,
  ARRAY[9007199254740993, 1] AS list, repeat('y', 10000001) AS long, NULL AS nothing"""
CLIPBOARD = ["clipboard-read", "clipboard-write"]
HAS_INK = """ink => {
  const canvas = document.querySelector('.jp-SvcResult-chart canvas');
  if (canvas === null) { return false; }
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] === 255 && ink.every((part, offset) => data[at + offset] === part)) { return true; }
  }
  return false;
}"""
"""Whether a chart has an opaque dot of a colour."""
IS_AS_WIDE = """() => {
  const box = document.querySelector('.jp-SvcResult-chart');
  return box.querySelector('canvas')?.clientWidth === box.clientWidth;
}"""
"""Whether a chart is as wide as its box."""
_numbers = itertools.count(1)


class Grid:
    """A result in a page, in the words of a person who reads it."""

    def __init__(self, page: LabPage, within: Locator, name: str | None = None) -> None:
        self.page = page
        named = None if name is None else within.page.get_by_role("region", name=name, exact=True)
        self.view = within.locator(".jp-SvcResult-view") if named is None else within.locator(named)
        self.grid = self.view.get_by_role("grid")
        self.footer = self.view.locator("footer")

    def cells(self, row: int) -> list[str]:
        """The texts of a row of those in the page, after the row's number."""
        return self.grid.get_by_role("row").nth(row + 1).get_by_role("gridcell").all_text_contents()

    def begins_with(self, *texts: str) -> None:
        """Wait until the first row shows these values."""
        expect(self.grid.get_by_role("row").nth(1).get_by_role("gridcell")).to_have_text(list(texts))

    def press(self, *keys: str) -> None:
        """Press keys on the grid itself."""
        self.grid.focus()
        for key in keys:
            self.page.page.keyboard.press(key)

    def column(self, name: str) -> Locator:
        """Open the filter and the statistics of a column."""
        self.grid.get_by_role("button", name=f"Filter and statistics of {name}", exact=True).click()
        return self.view.get_by_role("dialog", name=f"Column {name}")

    def filter(self, name: str, operator: str, value: str | None = None) -> None:
        """Filter by a column."""
        opened = self.column(name)
        opened.get_by_role("combobox", name="Condition").select_option(operator)
        if value is not None:
            opened.get_by_role("textbox", name="Value").fill(value)
        opened.get_by_role("button", name="Filter", exact=True).click()
        expect(opened).to_have_count(0)

    def found(self, count: int) -> None:
        """Wait until so many of all rows are found, then remove the filter."""
        words = f"of {count:,} (of {COUNT:,})" if count else f"no rows (of {COUNT:,})"
        expect(self.footer).to_contain_text(words)
        self.view.get_by_role("button", name="Remove the filter").click()
        expect(self.footer).to_contain_text(f"of {COUNT:,} ·")

    def copied(self, button: str = "Copy") -> str:
        """Copy by a button, and return what is on the clipboard."""
        self.view.get_by_role("button", name=button, exact=True).click()
        expect(self.footer).to_contain_text("copied")
        return str(self.page.page.evaluate("navigator.clipboard.readText()"))

    def save(self, form: str) -> None:
        """Choose a form of *Download*."""
        self.view.get_by_role("button", name="Download").click()
        self.view.get_by_role("dialog", name="Download").get_by_role("button", name=form).click()

    def saved(self, form: str) -> Download:
        """Choose a form of *Download*, and return the file."""
        with self.page.page.expect_download() as download:
            self.save(form)
        return download.value


def database_tap(service: ServiceProcess, **where: Any) -> str:
    """Make a tap, of an empty SQLite database unless it is said where, and return its name."""
    name = f"results-{next(_numbers)}"
    if not where:
        file = service.data_dir / "storage" / f"{name}.db"
        file.parent.mkdir(exist_ok=True)
        sqlite3.connect(file).close()
        where = {"db_type": "sqlite", "db_name": str(file)}
    answer = service.http.post("/db_taps", json={"name": name, **where})
    assert answer.status_code == 200, answer.text
    return name


def query(service: ServiceProcess, tap: str, text: str) -> int:
    """Run a query; return the id of its command."""
    taps = {item["name"]: item["id"] for item in service.http.get("/db_taps").json()["db_taps"]}
    body = {"command_type": "DbTapQueryCommand", "db_tap_id": taps[tap], "query": text}
    command_id = int(service.http.post("/commands", json=body).json()["id"])
    record = service.ended(command_id)
    assert record["status"] == "done", record["message"]
    return command_id


def opened(page: LabPage, command_id: int) -> Grid:
    """Open the view of a command."""
    page.run("svc-jupyter:open-command", id=command_id)
    return Grid(page, page.page.locator(f"#svc-jupyter-command-{command_id}"))


def height_of(element: Locator) -> float:
    box = element.bounding_box()
    assert box is not None
    return box["height"]


@pytest.fixture
def reading_page(page: LabPage) -> Iterator[LabPage]:
    """A page that may read the clipboard."""
    page.page.context.grant_permissions(CLIPBOARD)
    yield page
    page.page.context.clear_permissions()


@pytest.fixture
def postgres_tap(service: ServiceProcess, postgres_cluster: PostgresCluster) -> Iterator[str]:
    """A tap of an empty PostgreSQL database."""
    with postgres_cluster.database() as url:
        facts = conninfo_to_dict(url)
        with bridge_to(f"{facts['host']}/.s.PGSQL.{facts.get('port') or 5432}") as port:
            where = {"db_host": "127.0.0.1", "port": port, "db_name": facts["dbname"], "db_passwd": "-"}
            yield database_tap(service, db_type="postgresql", db_user=facts.get("user") or "postgres", **where)


def test_a_cell_shows_all_rows_and_so_does_its_saved_notebook(own_page: LabPage, service: ServiceProcess) -> None:
    page = own_page
    page.page.context.grant_permissions(CLIPBOARD)
    tap = database_tap(service)
    page.write_notebook("flights.ipynb", "%load_ext svc_jupyter", f"%%svc_db --tap {tap}\n{FLIGHTS}")
    page.open("flights.ipynb", panel=False)
    page.run_cell(0)
    grid = Grid(page, page.run_cell(1))

    grid.begins_with("0", "JFK", "0.00", "null")
    expect(grid.footer).to_contain_text(f"of {COUNT:,} · values as in the data when copied")
    assert height_of(grid.view) <= HIGHEST
    assert {height_of(row) for row in grid.grid.get_by_role("row").all()[1:]} == {24}
    grid.press("Control+End")
    expect(grid.grid.get_by_role("row").last).to_have_text("199,999199,999LGA49,999.75note 199999")
    head = grid.grid.get_by_role("columnheader").nth(1)
    top, index = head.bounding_box(), grid.grid.get_by_role("rowheader").last.bounding_box()
    box = grid.grid.bounding_box()
    assert top
    assert index
    assert box
    assert (round(top["y"] - box["y"]), round(index["x"] - box["x"])) == (0, 0)

    sorter = grid.grid.get_by_role("button", name="origin", exact=True)
    sorter.click()
    grid.begins_with("2", "EWR", "0.50", "note 2")
    sorter.click()
    grid.begins_with("1", "LGA", "0.25", "note 1")
    grid.grid.get_by_role("button", name="delay", exact=True).click(modifiers=["Shift"])
    expect(grid.footer).to_contain_text("sorted by origin, delay")
    grid.grid.get_by_role("button", name="delay", exact=True).click(modifiers=["Shift"])
    grid.begins_with("199,999", "LGA", "49,999.75", "note 199999")
    grid.grid.get_by_role("button", name="i", exact=True).click()
    grid.begins_with("0", "JFK", "0.00", "null")

    for name, operator, value, count in (
        ("origin", "=", "JFK", 66_667),
        ("origin", "!=", "JFK", 133_333),
        ("i", "<", "10", 10),
        ("i", "<=", "10", 11),
        ("delay", ">", "49999.5", 1),
        ("delay", ">=", "49,999.5", 2),
        ("note", "contains", "NOTE 19999", 11),
        ("note", "is_null", None, 200),
        ("origin", "=", "nowhere", 0),
    ):
        grid.filter(name, operator, value)
        grid.found(count)
    wrong = grid.column("i")
    wrong.get_by_role("textbox", name="Value").fill("ten")
    wrong.get_by_role("button", name="Filter", exact=True).click()
    expect(wrong.get_by_role("alert")).to_have_text("Enter a number.")
    page.page.keyboard.press("Escape")

    search = grid.view.get_by_role("searchbox")
    search.fill("note 12345")
    expect(grid.footer).to_contain_text(f"of 11 (of {COUNT:,})")
    search.fill("")
    expect(grid.footer).to_contain_text(f"of {COUNT:,} ·")

    statistics = grid.column("delay")
    for words in ("rows200,000", "null0", "distinct200,000", "smallest0", "largest49,999.75", "mean24,999.88"):
        expect(statistics).to_contain_text(words)
    page.page.keyboard.press("Escape")
    expect(grid.column("origin").get_by_role("list", name="Most frequent values")).to_contain_text("JFK66,667")
    page.page.keyboard.press("Escape")

    grid.grid.get_by_role("gridcell", name="JFK").first.click()
    grid.press("Shift+ArrowDown", "Shift+ArrowRight")
    assert grid.copied() == "JFK\t0\nLGA\t0.25"
    file = grid.saved("CSV").path()
    with file.open(newline="") as text:
        lines = list(csv.reader(text))
    assert (len(lines), lines[0], lines[-1]) == (
        COUNT + 1,
        ["i", "origin", "delay", "note"],
        ["199999", "LGA", "49999.75", "note 199999"],
    )

    stream = grid.saved("Arrow")
    assert stream.suggested_filename.endswith(".arrows")
    assert pa.ipc.open_stream(stream.path().read_bytes()).read_all().column("delay")[COUNT - 1].as_py() == 49999.75

    expect(grid.view.get_by_role("button", name="Download")).to_be_focused()  # the menu is gone

    table = pq.read_table(grid.saved("Parquet").path())
    assert (table.num_rows, table.column("note")[COUNT - 1].as_py()) == (COUNT, "note 199999")

    grid.view.get_by_role("button", name="Plot").click()
    expect(grid.view.locator(".jp-SvcResult-chart svg.marks, .jp-SvcResult-chart canvas.marks")).to_be_visible()
    grid.view.get_by_label("Chart", exact=True).select_option("histogram")
    expect(grid.footer).to_contain_text("the 3 most frequent values of origin")
    assert height_of(grid.view) <= HIGHEST
    assert page.accessibility_findings(".jp-SvcResult-view") == []

    page.run("docmanager:save")
    page.reload()
    expect(page.notebook).to_be_visible()
    again = Grid(page, page.notebook)
    again.begins_with("0", "JFK", "0.00", "null")
    expect(again.view.get_by_role("searchbox")).to_be_enabled()  # all rows can be reached
    again.press("Control+End")
    expect(again.grid.get_by_role("row").last).to_contain_text("note 199999")

    page.notebook.get_by_role("button", name="Log", exact=True).click()
    log = page.page.get_by_role("log", name="Log")
    expect(log).to_be_focused()
    expect(log).to_be_in_viewport()
    expect(page.page.get_by_role("grid", name="Rows of command")).to_be_visible()


def test_each_table_of_a_script_is_a_grid_in_its_cell_and_in_the_view_of_its_command(
    own_page: LabPage, service: ServiceProcess
) -> None:
    page = own_page
    put_data(service)
    numbers = service.data_dir / "storage" / "pig" / "numbers.txt"
    numbers.write_text("".join(f"{number}\n" for number in range(1000)))
    script = "n = LOAD 'pig/numbers.txt' AS (number:int); DUMP n; l = FILTER n BY number < 3; DUMP l;"
    page.write_notebook("dumps.ipynb", "%load_ext svc_jupyter", f"%%svc_pig\n{script}")
    page.open("dumps.ipynb", panel=False)
    page.run_cell(0)
    cell = page.run_cell(1)
    expect(cell.get_by_role("region")).to_have_count(2)
    command = service.http.get("/commands", params={"per_page": 1}).json()["commands"][0]

    def has_both(within: Locator) -> Grid:
        """Look for both tables, of each all rows, and return the first one."""
        last = Grid(page, within, f"Result of command {command['id']}")
        last.begins_with("0")
        expect(last.footer).to_contain_text("rows 1–3 of 3")
        first = Grid(page, within, f"DUMP 1 of command {command['id']}")
        first.begins_with("0")
        expect(first.view.get_by_role("searchbox")).to_be_enabled()  # all rows can be reached
        sorter = first.grid.get_by_role("button", name="number", exact=True)
        sorter.click()
        sorter.click()
        first.begins_with("999")
        expect(first.footer).to_contain_text("of 1,000")
        return first

    first = has_both(cell)
    expect(first.column("number")).to_contain_text("rows1,000")
    page.page.keyboard.press("Escape")
    file = first.saved("CSV")
    assert file.suggested_filename == f"command-{command['id']}-dump-1.csv"
    with file.path().open(newline="") as text:
        assert [row for [row] in csv.reader(text)] == ["number", *map(str, range(1000))]

    page.run("docmanager:save")
    page.reload()
    expect(page.notebook).to_be_visible()
    has_both(page.notebook)

    page.run("svc-jupyter:open-command", id=command["id"])
    view = page.page.locator(f"#svc-jupyter-command-{command['id']}")
    has_both(view)
    assert view.locator(".jp-SvcCommand-table").all_text_contents() == ["DUMP n", "DUMP l"]
    assert page.accessibility_findings(f"#svc-jupyter-command-{command['id']}") == []


def test_a_chart_is_of_all_rows_and_its_code_draws_it_in_a_cell(own_page: LabPage, service: ServiceProcess) -> None:
    page = own_page
    page.page.context.grant_permissions(CLIPBOARD)
    tap = database_tap(service)
    code = "%svc_plot flights -x origin -y i --chart bar --where 'i > 9' --search=note"
    page.write_notebook("plot.ipynb", "%load_ext svc_jupyter", f"%%svc_db --tap {tap} -o flights\n{FLIGHTS}", code)
    page.open("plot.ipynb", panel=False)
    page.run_cell(0)
    grid = Grid(page, page.run_cell(1))
    grid.begins_with("0", "JFK", "0.00", "null")
    grid.view.get_by_role("button", name="Plot").click()
    picture = grid.view.locator(".jp-SvcResult-chart canvas")
    for chart, words in (
        ("bar", "mean of i for each origin · all 200,000 rows"),
        ("line", "mean of i over delay, in a band from the least to the largest · all 200,000 rows"),
        ("scatter", "i against delay · all 200,000 rows"),
        ("histogram", "histogram of delay · all 200,000 rows"),
    ):
        grid.view.get_by_label("Chart", exact=True).select_option(chart)
        expect(grid.footer).to_contain_text(words)
        expect(picture).to_be_visible()
    grid.view.get_by_label("Column", exact=True).select_option("origin")
    expect(grid.footer).to_contain_text("the 3 most frequent values of origin · all 200,000 rows")

    grid.view.get_by_role("button", name="Plot").click()
    grid.filter("i", ">", "9")
    grid.view.get_by_role("searchbox").fill("note")
    expect(grid.footer).to_contain_text("of 199,791")
    grid.view.get_by_role("button", name="Plot").click()
    expect(grid.footer).to_contain_text("mean of i for each origin · all 199,791 rows")
    assert grid.copied("Copy code") == code
    expect(page.run_cell(2).get_by_role("img")).to_be_visible()
    assert page.accessibility_findings(".jp-SvcResult-view") == []


def test_a_chart_follows_the_theme_and_the_width(own_page: LabPage, service: ServiceProcess) -> None:
    page = own_page
    tap = database_tap(service)
    page.write_notebook("theme.ipynb", "%load_ext svc_jupyter", f"%%svc_db --tap {tap}\n{FLIGHTS}")
    page.open("theme.ipynb", panel=False)
    page.run_cell(0)
    grid = Grid(page, page.run_cell(1))
    grid.view.get_by_role("button", name="Plot").click()
    picture = grid.view.locator(".jp-SvcResult-chart canvas")
    expect(picture).to_be_visible()
    page.page.wait_for_function(HAS_INK, arg=[0, 0, 0])
    page.run("apputils:change-theme", theme=DARK)
    page.page.wait_for_function(HAS_INK, arg=[255, 255, 255])
    page.page.set_viewport_size({"width": 800, "height": 900})
    page.page.wait_for_function(IS_AS_WIDE)


@pytest.mark.gate
def test_a_deleted_result_shows_the_saved_rows_and_says_so(own_page: LabPage, service: ServiceProcess) -> None:
    page = own_page
    page.traffic.expect_errors("404")
    tap = database_tap(service)
    page.write_notebook("deleted.ipynb", "%load_ext svc_jupyter", f"%%svc_db --tap {tap}\n{FLIGHTS}")
    page.open("deleted.ipynb", panel=False)
    page.run_cell(0)
    grid = Grid(page, page.run_cell(1))
    grid.begins_with("0", "JFK", "0.00", "null")
    page.run("docmanager:save")
    command_id = int(re.findall(r"\d+", grid.grid.get_attribute("aria-label") or "")[0])
    kept = {file: file.rename(file.with_suffix(".away")) for file in service.folder(command_id).rglob("*.arrow")}
    assert kept
    page.reload()
    grid = Grid(page, page.notebook)
    problem = grid.view.locator(".jp-SvcResult-problem")
    expect(problem).to_contain_text("The first 100 of 200,000 rows, as saved")
    expect(problem).to_contain_text("is no longer on the service's disk")
    grid.begins_with("0", "JFK", "0.00", "null")
    expect(grid.view.get_by_role("searchbox")).to_be_disabled()
    for file, away in kept.items():
        away.rename(file)
    problem.get_by_role("button", name="Try again").click()
    expect(grid.footer).to_contain_text(f"of {COUNT:,} ·")
    expect(problem).to_have_count(0)


def test_a_service_that_goes_away_between_pages_is_reported_and_tried_again(
    new_service: Callable[..., ServiceProcess],
    new_lab: Callable[..., LabProcess],
    new_page: Callable[..., LabPage],
) -> None:
    port = str(free_port())
    service = new_service().start("--port", port)
    switch_on(service)
    command_id = query(service, database_tap(service), FLIGHTS)
    page = new_page(new_lab(service))
    page.traffic.expect_errors("50[23]")
    page.open(panel=False)
    grid = opened(page, command_id)
    grid.begins_with("0", "JFK", "0.00", "null")
    service.kill()
    grid.press("Control+End")
    problem = grid.view.locator(".jp-SvcResult-problem")
    expect(problem).to_contain_text("Not all rows could be read: the service does not answer.")
    service.start("--port", port)
    problem.get_by_role("button", name="Try again").click()
    expect(grid.grid.get_by_role("row").last).to_contain_text("note 199999")
    expect(problem).to_have_count(0)


def test_hostile_values_are_shown_as_they_are(
    reading_page: LabPage, service: ServiceProcess, postgres_tap: str
) -> None:
    page = reading_page
    page.write_notebook("hostile.ipynb", "%load_ext svc_jupyter", f"%%svc_db --tap {postgres_tap}\n{HOSTILE}")
    page.open("hostile.ipynb", panel=False)
    page.run_cell(0)
    grid = Grid(page, page.run_cell(1))
    for name in ("a", "a#2", "day", "then"):
        expect(grid.grid.get_by_role("button", name=name, exact=True)).to_have_count(1)
    # The saved rows, which are shown first, have null for NaN, as pandas has.
    expect(grid.grid.get_by_role("row").nth(1)).to_contain_text("NaN")
    assert grid.cells(0)[:5] == ["costs $5 and not $6 today", MARKUP, "1492-10-12", "0044-03-15 12:00", "NaN"]
    assert grid.cells(1)[:5] == ["null", "", "null", "null", "-Infinity"]
    grid.press("End")
    expect(grid.grid.get_by_role("button", name="$day$ <i>", exact=True)).to_be_visible()
    texts = ("12,345,678,901,234,567,890.123456789", "[1, 2, null]", "9,007,199,254,740,993", "two↵lines→and a tab")
    assert set(texts) <= set(grid.cells(0))
    expect(grid.grid.locator(f"[title='{'x' * 1000}…']")).to_have_count(1)
    assert {height_of(row) for row in grid.grid.get_by_role("row").all()[1:]} == {24}
    expect(grid.view.locator("img, i, b, mjx-container")).to_have_count(0)

    grid.press("Escape")
    names, first, second = csv.reader(io.StringIO(grid.copied()), delimiter="\t")
    expect(grid.footer).to_contain_text("1 text cut at 1,000 characters (whole in a download)")
    assert names[:2] == ["a", "a#2"]
    assert first[1:6] == [MARKUP, "1492-10-12", "0044-03-15T12:00:00", "NaN", "12345678901234567890.123456789"]
    assert first[8:] == ["9007199254740993", "two\nlines\tand a tab", "x" * 1000 + "…", "سلام 🦆"]
    assert second[:2] == ["", ""]
    page.traffic.expect_errors("422")
    grid.save("CSV")
    expect(grid.footer).to_contain_text("row 1 of the result")
    expect(grid.footer).to_contain_text("a row may take 8 MiB")


def test_values_that_no_frame_can_hold_are_shown_whole_and_a_query_without_columns_says_so(
    page: LabPage, service: ServiceProcess, postgres_tap: str
) -> None:
    cells = [f"%%svc_db --tap {postgres_tap}\n{query}" for query in (UNUSUAL, "SELECT")]
    page.write_notebook("unusual.ipynb", "%load_ext svc_jupyter", *cells)
    page.open("unusual.ipynb", panel=False)
    page.run_cell(0)
    grid = Grid(page, page.run_cell(1))
    expect(grid.view.get_by_role("searchbox")).to_be_enabled()  # the rows are the service's
    shown: dict[str, str] = {}
    for key, name in (("Home", "a"), ("End", "m")):  # the columns between are in one of the two views
        grid.press(key)
        expect(grid.grid.get_by_role("button", name=name, exact=True)).to_be_visible()
        heads = grid.grid.locator("[role=columnheader] button:first-of-type").all_text_contents()
        shown |= zip(heads, grid.cells(0), strict=True)
    assert shown == UNUSUAL_SHOWN
    output = page.run_cell(2)
    expect(output).to_contain_text("no table returned")
    expect(output.get_by_role("grid")).to_have_count(0)


def test_a_value_that_a_cell_cuts_is_whole_on_a_press(
    reading_page: LabPage, service: ServiceProcess, postgres_tap: str
) -> None:
    page = reading_page
    page.open(panel=False)
    keyboard = page.page.keyboard
    grid = opened(page, query(service, postgres_tap, LONG_VALUES))
    value = grid.view.get_by_role("dialog", name=re.compile("^Value of "))

    def cell(column: int) -> Locator:
        return grid.grid.get_by_role("row").nth(1).get_by_role("gridcell").nth(column)

    cell(0).click()
    expect(cell(0)).to_have_attribute("aria-selected", "true")
    expect(value).to_have_count(0)
    cell(1).dblclick()
    expect(value).to_contain_text("price number · row 0 · 15 characters12345678.123456")
    value.get_by_role("button", name="Copy value").click()
    keyboard.press("Escape")
    expect(grid.grid).to_be_focused()
    cell(1).dblclick()
    expect(value).to_be_visible()
    grid.press("ArrowRight")
    expect(value).to_have_count(0)

    cell(2).click()
    expect(value).to_contain_text("note text · row 0 · 5,004 characters")
    expect(value.locator("pre")).to_have_text("x" * 5000 + "\nEND", use_inner_text=True)
    expect(grid.grid).to_be_focused()
    assert page.accessibility_findings(".jp-SvcResult-view") == []
    keyboard.press("Control+C")
    expect(grid.footer).to_contain_text("copied 1 × 1")
    assert page.page.evaluate("navigator.clipboard.readText()") == '"' + "x" * 5000 + '\nEND"'
    keyboard.press("Escape")
    expect(value).to_have_count(0)
    expect(cell(2)).to_have_attribute("aria-selected", "true")

    grid.press("ArrowRight", "Enter")
    expect(value.locator("pre")).to_have_text("[\n  9007199254740993,\n  1\n]", use_inner_text=True)
    copy = value.get_by_role("button", name="Copy value")
    expect(copy).to_be_focused()
    copy.click()
    expect(value.get_by_role("button", name="Copied")).to_be_visible()
    assert page.page.evaluate("navigator.clipboard.readText()") == "[9007199254740993, 1]"
    keyboard.press("Escape")
    expect(grid.grid).to_be_focused()

    cell(4).click()
    expect(value).to_contain_text("the first 10,000,000 characters · whole in a download · 100,000 of them below")
    keyboard.press("Escape")
    grid.press("ArrowRight", "Enter")
    expect(cell(5)).to_have_text("null")
    expect(value).to_have_count(0)


def test_rows_are_there_again_once_the_head_is_low_again(page: LabPage, service: ServiceProcess) -> None:
    page.open(panel=False)
    grid = opened(page, query(service, database_tap(service), FLIGHTS))
    grid.begins_with("0", "JFK", "0.00", "null")
    rows = grid.grid.get_by_role("row")
    expect(rows.nth(20)).to_be_attached()
    head = grid.grid.locator(".jp-SvcResult-head")
    # As while the styles of another theme are read: the head takes the room of the rows, for more than a frame.
    head.evaluate(
        """async head => {
            head.style.height = '2000px'
            head.parentElement.dispatchEvent(new Event('scroll'))
            await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
        }"""
    )
    expect(rows).to_have_count(1)
    head.evaluate("head => { head.style.height = '' }")
    expect(rows.nth(20)).to_be_attached()


def test_a_column_is_as_wide_as_one_wants(page: LabPage, service: ServiceProcess) -> None:
    page.open(panel=False)
    mouse = page.page.mouse
    text = f"SELECT 1 AS i, 12345678 AS many, 'the end of this is cut: {'word ' * 12}.' AS note, '{'x' * 190}' AS long"
    grid = opened(page, query(service, database_tap(service), f"{text} UNION ALL SELECT 2, 1, 'b', 'c'"))
    grid.begins_with("1", "12,345,678", re.compile("^the end"), re.compile("^xxx"))

    def head(name: str) -> Locator:
        return grid.grid.get_by_role("columnheader", name=re.compile(f"^{name} "))

    def widths() -> dict[str, int]:
        boxes = {name: head(name).bounding_box() for name in ("i", "many", "note", "long")}
        return {name: round(box["width"]) for name, box in boxes.items() if box is not None}

    def edge(name: str) -> tuple[float, float]:
        box = head(name).bounding_box()
        assert box is not None
        return box["x"] + box["width"] - 3, box["y"] + 12

    def drag(name: str, by: float) -> None:
        x, y = edge(name)
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + by / 2, y)
        mouse.move(x + by, y + 100)  # beside the head
        mouse.up()
        mouse.move(x + by + 50, y)  # moves nothing any more

    def is_cut(column: int) -> bool:
        cell = grid.grid.get_by_role("row").nth(1).get_by_role("gridcell").nth(column)
        return bool(cell.evaluate("cell => cell.scrollWidth > cell.clientWidth"))

    def is_within(name: str) -> bool:
        column, box = head(name).bounding_box(), grid.grid.bounding_box()
        assert column is not None
        assert box is not None
        return bool(column["x"] + column["width"] <= box["x"] + box["width"] + 1)

    first = widths()
    assert (is_cut(2), is_cut(3)) == (True, True)
    drag("note", 60)
    assert widths() == {**first, "note": first["note"] + 60}
    drag("many", -300)
    narrow = widths()["many"]
    assert 40 < narrow < first["many"]
    assert not is_cut(1), "a number is cut"
    drag("note", -600)
    assert widths() == {**first, "many": narrow, "note": 40}
    grid.grid.get_by_role("button", name="i", exact=True).click()
    expect(head("i")).to_have_attribute("aria-sort", "ascending")
    assert widths() == {**first, "many": narrow, "note": 40}

    mouse.dblclick(*edge("note"))
    assert (is_cut(2), is_cut(3)) == (False, True)
    fitting = widths()["note"]
    assert fitting > first["note"]
    grid.press("ArrowRight", "ArrowRight", "ArrowRight")  # the first key selects a cell
    grid.press("Alt+ArrowRight", "Alt+ArrowRight", "Alt+ArrowLeft")
    assert widths()["note"] == fitting + 16

    chosen = grid.column("long")
    expect(chosen.get_by_role("button", name="Reset width")).to_have_count(0)
    chosen.get_by_role("button", name="Fit width").click()
    expect(chosen).to_have_count(0)
    expect(head("long")).to_be_in_viewport()
    box, shown = grid.grid.bounding_box(), widths()
    assert box is not None
    assert fitting < shown["long"] <= box["width"]

    # The column with the active cell stays in view where it is made wider itself, not where another one is.
    grid.press("Home", "ArrowRight", "ArrowRight")
    assert is_within("note")
    drag("many", 400)
    assert not is_within("note")
    grid.press("ArrowLeft", "ArrowRight")
    assert is_within("note")
    grid.press(*["Alt+ArrowRight"] * 6)
    assert is_within("note")
    for name in ("many", "note", "long"):
        grid.column(name).get_by_role("button", name="Reset width").click()
    assert widths() == first
    assert page.accessibility_findings(".jp-SvcResult-view") == []


@pytest.mark.gate
def test_a_result_of_many_columns_or_no_rows_is_a_grid(page: LabPage, service: ServiceProcess) -> None:
    tap = database_tap(service)
    numbers = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
    names = ", ".join(f"iif(i < 300, {number}, 1000000000000000) AS c{number}" for number in range(2000))
    wide = query(service, tap, f"{numbers} SELECT {names} FROM n")
    empty = query(service, tap, "SELECT 1 AS one WHERE 0")
    page.open(panel=False)
    grid = opened(page, wide)
    grid.press("Control+End")
    last = grid.grid.get_by_role("row").last.get_by_role("gridcell").last
    expect(last).to_have_text("1,000,000,000,000,000")
    expect(last).to_be_in_viewport()
    assert last.evaluate("cell => cell.scrollWidth <= cell.clientWidth"), "a number is cut"
    assert grid.grid.get_by_role("gridcell").count() < 400  # of 602,000
    grid.view.get_by_role("button", name="Columns").click()
    grid.view.get_by_role("dialog", name="Columns").get_by_role("searchbox").fill("c1234")
    page.page.keyboard.press("Escape")
    grid = opened(page, empty)
    expect(grid.grid.get_by_role("columnheader").nth(1)).to_contain_text("one")
    expect(grid.footer).to_contain_text("no rows")
    assert page.accessibility_findings(f"#svc-jupyter-command-{empty}") == []
