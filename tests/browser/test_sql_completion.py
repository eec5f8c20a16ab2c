"""Tab in a cell with SQL, in JupyterLab's editor."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

from playwright.sync_api import Locator, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from tests.browser.lab_page import SECONDS, LabPage
from tests.browser.test_data import tap
from tests.support.service_process import ServiceProcess, wait_until


def test_tab_completes_tables_and_columns(page: LabPage, completed_tap: str) -> None:
    sql = f"%%svc_db --tap {completed_tap}\nSELECT f.\nFROM fli"
    cell = opened_cell(page, "%load_ext svc_jupyter\nfloat_of_python = 1", sql)
    press_tab(page, cell, "FROM flights")
    page.page.keyboard.type(" f, fle")
    press_tab(page, cell, 'FROM flights f, "fleet of 2013"')
    # In the middle of the text, with several choices.
    for key in ("Control+Home", "ArrowDown", "End"):
        page.page.keyboard.press(key)
    completer = page.page.locator(".jp-Completer:visible")

    def is_open() -> bool:
        page.page.keyboard.press("Tab")
        with suppress(PlaywrightTimeoutError):
            completer.wait_for(timeout=2000)
            return True
        return False

    wait_until(is_open, "the choices", SECONDS)
    expect(completer.locator(".jp-Completer-match")).to_have_text(["flight_id", "dep_delay"])
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Enter")
    expect(cell.locator(".cm-line")).to_have_text(
        [f"%%svc_db --tap {completed_tap}", "SELECT f.dep_delay", 'FROM flights f, "fleet of 2013"']
    )
    # Nothing of Python, and nothing at all in a string.
    page.page.keyboard.type(", float_of_py")
    page.page.keyboard.press("Tab")
    page.page.keyboard.type(", 'fl")
    page.page.keyboard.press("Tab")
    page.page.keyboard.type("y'")
    expect(cell.locator(".cm-line").nth(1)).to_have_text("SELECT f.dep_delay, float_of_py, 'fly'")


def test_tab_waits_for_no_catalogue(page: LabPage, service: ServiceProcess) -> None:
    with tap(service, "CREATE TABLE orders (a INTEGER)") as name:
        with closing(sqlite3.connect(service.data_dir / "storage" / f"{name}.db")) as connection:
            connection.execute("BEGIN EXCLUSIVE")  # nobody can read it
            cell = opened_cell(page, "%load_ext svc_jupyter", f"%%svc_db --tap {name}\nSELECT\ncoal")
            press_tab(page, cell, "coalesce")
        page.page.keyboard.type("(a) FROM ord")
        press_tab(page, cell, "coalesce(a) FROM orders")


def opened_cell(page: LabPage, *cells: str) -> Locator:
    """Open a notebook of these cells and run the first one; return the second one, with the cursor at its end."""
    page.write_notebook("sql.ipynb", *cells)
    page.open("sql.ipynb", panel=False)
    page.run_cell(0)
    cell = page.notebook.locator(".jp-CodeCell").nth(1)
    cell.locator(".cm-content").click()
    page.page.keyboard.press("Control+End")
    return cell


def press_tab(page: LabPage, cell: Locator, expected: str) -> None:
    """Press Tab where one choice is left, which is inserted. JupyterLab waits for a kernel for one second only."""
    line = cell.locator(".cm-line").nth(2)

    def is_there() -> bool:
        page.page.keyboard.press("Tab")
        with suppress(AssertionError):
            expect(line).to_have_text(expected, timeout=2000)
            return True
        return False

    wait_until(is_there, expected, SECONDS)
