"""SQL is marked where it is written, before it runs, and what was meant is one press away."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.browser.lab_page import LabPage
from tests.support.service_process import ServiceProcess


def test_a_name_is_marked_corrected_and_known_once_its_table_is_made(page: LabPage, service: ServiceProcess) -> None:
    file = service.data_dir / "storage" / "checked.db"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    tap = service.http.post("/db_taps", json={"name": "checked", "db_type": "sqlite", "db_name": str(file)})
    assert tap.status_code == 200, tap.text
    page.write_notebook(
        "checked.ipynb",
        "%load_ext svc_jupyter\n%svc_config default_tap checked",
        "%%svc_db\nCREATE TABLE flights (origin, dest)",
        "%%svc_db\nSELECT orign FROM flihgts",
        "%%svc_hive\nSELECT '\U0001f600' FORM flights",
        "x = 'SELECT orign FORM flights'",
    )
    page.open("checked.ipynb", panel=False)
    page.wait_for_kernel()
    marks = page.notebook.locator(".cm-lintRange")
    expect(marks).to_have_text(["FORM"])  # nothing is known of tables yet
    page.run_cell(0)
    page.run_cell(1)
    expect(marks).to_have_text(["flihgts", "FORM"])
    marks.first.hover()
    box = page.page.locator(".cm-tooltip-lint")
    expect(box).to_contain_text("There is no table flihgts")
    assert page.accessibility_findings(".cm-tooltip-lint") == []
    box.get_by_role("button", name="Change to flights").click()
    expect(marks).to_have_text(["orign", "FORM"])
    cell = page.notebook.locator(".jp-CodeCell").nth(2)
    expect(cell.locator(".cm-line")).to_have_text(["%%svc_db", "SELECT orign FROM flights"])
    cell.locator(".cm-line").last.click()
    page.page.keyboard.press("Control+End")
    page.page.keyboard.type(" WHERE dset = 1")
    expect(marks).to_have_text(["orign", "dset", "FORM"])
