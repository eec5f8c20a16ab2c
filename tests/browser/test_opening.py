"""A notebook is opened and run in JupyterLab beside the extension."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.browser.lab_page import LabPage


def test_a_notebook_runs_and_its_magics_reach_the_service(page: LabPage) -> None:
    page.write_notebook("hello.ipynb", "%load_ext svc_jupyter", "%%svc_shell\necho from the browser")
    page.open("hello.ipynb", panel=False)
    page.run_cell(0)
    expect(page.run_cell(1)).to_contain_text("from the browser")
