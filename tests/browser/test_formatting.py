"""SQL is laid out where it is written: from the palette, and by the magic."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.browser.lab_page import LabPage

WRITTEN = (
    "%%svc_db\nselect a,b from t where x=1 "
    "and y in (select max(y) from another_table group by origin having count(*)>1)"
)
LAID_OUT = """%%svc_db
select a, b
from t
where
    x = 1
    and y in (select max(y) from another_table group by origin having count(*) > 1)"""


def test_the_palette_lays_a_cell_out_and_one_step_takes_it_back(page: LabPage) -> None:
    page.traffic.expect_errors("422")
    page.write_notebook("format.ipynb", WRITTEN, "x = 1", "%%svc_db\nselect  'x")
    page.open("format.ipynb", panel=False)
    expect(page.page.locator("#jp-main-statusbar")).to_contain_text("| Idle")  # by then it has taken the focus
    sql, python, odd = (page.notebook.locator(".jp-CodeCell").nth(number) for number in range(3))
    lines = sql.locator(".cm-line")
    sql.locator(".cm-line").last.click()
    page.page.keyboard.press("Control+End")
    page.run("apputils:activate-command-palette")
    words = page.page.locator(".lm-CommandPalette-input")
    words.fill("Format SQL")
    # The palette lists everything until it has found the words; Enter runs the item that is marked then.
    expect(page.page.locator(".lm-CommandPalette-item.lm-mod-active")).to_contain_text("Format SQL")
    words.press("Enter")
    expect(lines).to_have_text(LAID_OUT.split("\n"))
    page.run("notebook:enter-edit-mode")
    page.page.keyboard.type(" -- my end")  # the cursor is at the end of the SQL, as before
    expect(lines.last).to_have_text(f"{LAID_OUT.split(chr(10))[-1]} -- my end")
    page.page.keyboard.press("Control+z")
    page.page.keyboard.press("Control+z")
    expect(lines).to_have_text(WRITTEN.split("\n"))
    notices = page.page.locator(".Toastify__toast")
    odd.locator(".cm-line").last.click()
    page.run("svc-jupyter:format-sql")
    expect(notices.filter(has_text="The SQL at line 2 stays as written")).to_be_visible()
    python.locator(".cm-line").last.click()
    page.run("svc-jupyter:format-sql")
    expect(notices.filter(has_text="the cell has no SQL")).to_be_visible()


def test_the_magic_puts_the_layout_in_its_place(page: LabPage) -> None:
    page.write_notebook("magic.ipynb", "%load_ext svc_jupyter", f"%%svc_format\n{WRITTEN}")
    page.open("magic.ipynb", panel=False)
    page.wait_for_kernel()
    page.run_cell(0)
    page.run_cell(1)
    expect(page.notebook.locator(".jp-CodeCell").nth(1).locator(".cm-line")).to_have_text(LAID_OUT.split("\n"))
