"""Notebook 7: one document has the window, our views are beside it, and other documents get windows of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.lab_process import LabProcess
from tests.browser.notebook_page import NotebookPage
from tests.browser.test_formatting import LAID_OUT, WRITTEN
from tests.browser.test_reopened_cells import lost_cell
from tests.browser.test_results import COUNT, FLIGHTS, Grid, database_tap
from tests.browser.test_schedule_form import form_of
from tests.browser.test_sql_completion import opened_cell, press_tab
from tests.support.service_process import ServiceProcess


@pytest.fixture(scope="module")
def server(service: ServiceProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabProcess]:
    """A Jupyter Server with Notebook 7."""
    server = LabProcess(tmp_path_factory.mktemp("notebook"), service, has_notebook=True)
    try:
        yield server.start()
    finally:
        server.stop()


@pytest.fixture
def page(new_page: Callable[..., NotebookPage], server: LabProcess) -> Iterator[NotebookPage]:
    """A new page of Notebook 7, not opened yet, with a folder of its own."""
    yield new_page(server, kind=NotebookPage)
    server.end_kernels()


def test_a_result_is_a_grid_in_its_cell_and_in_the_saved_notebook(page: NotebookPage, service: ServiceProcess) -> None:
    query = f"%%svc_db --tap {database_tap(service)}\n{FLIGHTS}"
    page.write_notebook("flights.ipynb", "%load_ext svc_jupyter", query, "%svc_cluster")
    page.open("flights.ipynb", panel=False)
    page.run_cell(0)
    Grid(page, page.run_cell(1)).begins_with("0", "JFK", "0.00", "null")
    expect(page.run_cell(2).get_by_role("button", name="Refresh")).to_be_visible()
    page.run("docmanager:save")
    page.page.goto("about:blank")
    page.lab.end_kernels()
    page.open("flights.ipynb", panel=False)
    grid = Grid(page, page.notebook.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea"))
    expect(grid.view.get_by_role("searchbox")).to_be_enabled()  # by then it has the rows that the file lacks
    expect(grid.footer).to_contain_text(f"of {COUNT:,}")
    grid.press("Control+End")
    expect(grid.grid.get_by_role("row").last).to_have_text("199,999199,999LGA49,999.75note 199999")


def test_views_open_beside_the_notebook(page: NotebookPage) -> None:
    page.write_notebook("shell.ipynb", "%load_ext svc_jupyter", "%%svc_shell\necho first", "%%svc_shell\necho second")
    page.open("shell.ipynb", panel=False)
    page.run_cell(0)
    first = page.run_cell(1)
    page.run_cell(2)
    first.get_by_role("button", name="Open").click()
    view = page.page.locator("[id^=svc-jupyter-command-]:visible")
    expect(view).to_contain_text("echo first")
    page.page.get_by_role("menuitem", name="View", exact=True).click()
    page.page.locator(".lm-Menu-item", has_text="Left Sidebar").hover()  # without a role, as it has a menu of its own
    page.page.get_by_role("menuitem", name="Show Service").click()
    page.panel.get_by_role("row").filter(has_text="echo second").click()
    expect(view).to_contain_text("echo second")
    view.get_by_role("button", name="Insert as a cell").click()
    cells = page.notebook.locator(".jp-CodeCell")
    expect(cells).to_have_count(4)
    expect(cells.filter(has_text="echo second")).to_have_count(2)
    page.run("svc-jupyter:show-runs")
    runs = page.page.locator("#svc-jupyter-runs")
    expect(runs).to_contain_text("seven days back and ahead")


def test_a_notebook_is_scheduled_from_its_toolbar_and_from_the_list_of_files(page: NotebookPage) -> None:
    page.write_notebook("report.ipynb", "print('of', 'Notebook 7')")
    page.open("report.ipynb")
    form = form_of(page, "report.ipynb")
    form.get_by_label("Name", exact=True).fill(f"once {page.name}")
    form.get_by_role("button", name="Run once now").click()
    page.page.locator(".Toastify__toast").get_by_role("button", name="Show").click()
    view = page.page.locator("[id^=svc-jupyter-command-]:visible")
    expect(view).to_contain_text("of Notebook 7")
    assert view.locator(".jp-SvcText").evaluate("path => path.scrollWidth <= path.clientWidth")
    page.page.evaluate("void window.jupyterapp.commands.execute('svc-jupyter:schedule-chosen-notebook')")
    expect(page.dialog).to_contain_text("report.ipynb")  # it begins in the notebook's folder
    page.answer_dialog("Cancel")
    page.open()
    page.files.get_by_text("report.ipynb").click(button="right")
    page.page.get_by_role("menuitem", name="Schedule notebook…").click()
    form = page.page.get_by_role("form", name="Schedule report.ipynb")
    form.get_by_label("Name", exact=True).fill(f"daily {page.name}")
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(page.panel.get_by_role("grid", name="Schedules")).to_contain_text(f"daily {page.name}")


def test_a_new_note_opens_in_a_window_of_its_own_beside_the_open_notebook(page: NotebookPage) -> None:
    page.write_notebook("open.ipynb")
    page.open("open.ipynb", panel=False)
    name = f"note of {page.name}"
    with page.page.expect_popup() as opened:
        page.page.evaluate("void window.jupyterapp.commands.execute('svc-jupyter:new-note')")
        page.dialog.get_by_role("textbox").fill(name)
        page.answer_dialog("Ok")
    note = opened.value
    expect(note).to_have_url(re.compile(rf"/notebooks/{page.name}/note%20of%20{page.name}[.]ipynb"))
    expect(note.get_by_role("button", name=re.compile("Spark [(]svc[)]"))).to_be_visible()
    expect(note.locator(".jp-NotebookPanel-toolbar")).to_contain_text("Run as a job")
    assert (page.folder / f"{name}.ipynb").exists()


def test_tab_completes_sql_and_format_sql_lays_it_out(page: NotebookPage, completed_tap: str) -> None:
    cell = opened_cell(page, "%load_ext svc_jupyter", f"%%svc_db --tap {completed_tap}\nSELECT 1\nFROM fli", WRITTEN)
    press_tab(page, cell, "FROM flights")
    written = page.notebook.locator(".jp-CodeCell").nth(2)
    written.locator(".cm-line").last.click()
    page.run("svc-jupyter:format-sql")
    expect(written.locator(".cm-line")).to_have_text(LAID_OUT.split("\n"))


def test_a_cell_whose_kernel_was_killed_and_whose_page_was_closed_is_followed(page: NotebookPage, signal: Path) -> None:
    output = lost_cell(page, signal)
    signal.touch()
    Grid(page, output).begins_with("1")
    expect(output).to_contain_text(re.compile(r"✓\s*command \d+ · .* · 3 lines"))
