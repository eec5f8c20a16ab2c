"""Cells of magics are shown in the language of their body, in the editor of a real notebook."""

from __future__ import annotations

from playwright.sync_api import Locator, expect
from tests.browser.lab_page import SECONDS, LabPage
from tests.support.service_process import wait_until

KEYWORDS = """node => [...node.querySelectorAll('.cm-line span')]
  .filter(span => getComputedStyle(span).fontWeight >= 600).map(span => span.textContent)"""
"""What stands in bold, as JupyterLab shows keywords."""


def keywords_of(cell: Locator, *wanted: str) -> None:
    """Wait until exactly these words of a cell stand out as keywords."""
    wait_until(
        lambda: [word for word in cell.evaluate(KEYWORDS) if word.isalpha()] == list(wanted), str(wanted), SECONDS
    )


def test_the_language_follows_the_first_line(page: LabPage) -> None:
    page.write_notebook(
        "cells.ipynb", "%%svc_db --tap 'x\nSELECT carrier FROM flights", "import os", "%%svc_pig\nDUMP totals;"
    )
    page.open("cells.ipynb", panel=False)
    sql, python, pig = (page.notebook.locator(".jp-CodeCell").nth(number) for number in range(3))
    keywords_of(sql, "SELECT", "FROM")
    keywords_of(python, "import")
    keywords_of(pig, "DUMP")

    pig.locator(".cm-line").first.click()
    page.page.keyboard.press("End")
    for _ in "pig":
        page.page.keyboard.press("Backspace")
    page.page.keyboard.type("shell")
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("End")
    page.page.keyboard.type("\nfor day in week")
    keywords_of(pig, "for", "in")
    expect(pig.locator(".cm-content")).to_contain_text("%%svc_shell")
