"""The form with notebooks that cannot be scheduled as they stand, wrong input, and a service that goes away."""

from __future__ import annotations

import re
from collections.abc import Callable

from nbformat.v4 import new_code_cell, new_output
from playwright.sync_api import expect
from tests.browser.conftest import switch_on
from tests.browser.lab_page import LabPage
from tests.browser.lab_process import LabProcess
from tests.browser.test_schedule_form import form_of
from tests.support.ports import free_port
from tests.support.service_process import ServiceProcess

_WARNED = new_code_cell(
    "import warnings; warnings.warn('old')",
    outputs=[new_output("stream", name="stderr", text="/tmp/1.py:1: UserWarning: old\n")],
)
_FAILED = new_code_cell(
    "1 / 0", outputs=[new_output("error", ename="ZeroDivisionError", evalue="by zero", traceback=[])]
)


def test_the_palette_opens_the_form_and_wrong_input_is_reported_at_its_field_while_it_is_typed(page: LabPage) -> None:
    page.traffic.expect_errors("422")
    page.write_notebook("Untitled.ipynb", "1", _WARNED, _FAILED)
    page.open("Untitled.ipynb", panel=False)
    expect(page.page.locator("#jp-main-statusbar")).to_contain_text("| Idle")  # by then it has taken the focus
    page.run("apputils:activate-command-palette")
    words = page.page.locator(".lm-CommandPalette-input")
    words.fill("Schedule this notebook")
    expect(page.page.locator(".lm-CommandPalette-item.lm-mod-active")).to_contain_text("Schedule this notebook")
    words.press("Enter")
    form = page.page.get_by_role("form", name="Schedule Untitled.ipynb")
    expect(form).to_contain_text("saved")
    expect(form).to_contain_text("has no name of its own yet")
    expect(form).to_contain_text("Cell 2 shows a warning when run")
    expect(form).to_contain_text("Cell 3 ends in an error when run")
    form.get_by_role("button", name="Show cell 2").click()
    expect(page.notebook.locator(".jp-CodeCell.jp-mod-active")).to_contain_text("warnings.warn")
    name = form.get_by_label("Name", exact=True).first  # a parameter has one, too
    name.fill("<b>")
    expect(name).to_have_accessible_description("✗ A name has at most 255 characters and none of these: & < > \" '")
    name.fill("fine")
    form.get_by_label("Number").fill("0")
    expect(form.get_by_label("Number")).to_have_attribute("aria-invalid", "true")
    form.get_by_label("Number").fill("1")
    expect(form.get_by_label("Number")).to_have_attribute("aria-invalid", "false")
    form.get_by_role("button", name="+ Add a parameter").click()
    expect(form).not_to_contain_text("A parameter needs a name")
    form.get_by_label("Cron", exact=True).check()
    form.get_by_label("Cron expression").fill("0 9 *")
    expect(form.get_by_label("Cron expression")).to_have_accessible_description(re.compile("not a cron expression"))
    name.fill("<b>")
    expect(name).to_have_attribute("aria-invalid", "true")
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(form).to_contain_text("A parameter needs a name")
    expect(name).to_be_focused()
    expect(form.get_by_role("alert")).to_have_text("Fix the marked fields.")
    form.get_by_role("button", name="Cancel").click()
    expect(form).to_be_hidden()


def test_three_fields_that_the_service_refuses_at_once_are_marked_in_the_form_s_words(page: LabPage) -> None:
    page.traffic.expect_errors("422")
    page.write_notebook("refused.ipynb", "1")
    page.open("refused.ipynb", panel=False)
    form = form_of(page, "refused.ipynb")
    name, number = form.get_by_label("Name", exact=True), form.get_by_label("Number")
    limit, fold = form.get_by_label("Time limit (minutes)"), form.get_by_text("If a run fails")
    name.fill("<b>")
    number.fill("0")
    fold.click()
    limit.fill("99999")
    expect(limit).to_have_attribute("aria-invalid", "true")
    fold.click()
    expect(limit).to_be_hidden()
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(name).to_have_accessible_description("✗ A name has at most 255 characters and none of these: & < > \" '")
    expect(number).to_have_accessible_description("✗ Enter a whole number from 1")
    expect(limit).to_be_visible()
    expect(limit).to_have_accessible_description("✗ Enter minutes up to 2,160 (36 hours)")
    expect(name).to_be_focused()
    expect(form.get_by_role("alert")).to_have_text("Fix the marked fields.")
    expect(form.locator("[aria-invalid=true]")).to_have_count(3)
    name.fill("fine")
    expect(form.locator("[aria-invalid=true]")).to_have_count(2)


def test_a_read_only_notebook_with_changes_is_not_scheduled_and_a_hostile_name_is_text(page: LabPage) -> None:
    name = "<img onerror=alert(1)> '%2e.ipynb"
    page.write_notebook(name, "1")
    page.open(panel=False)
    page.run("docmanager:open", path=f"{page.name}/{name}")
    page.notebook.wait_for()
    # Whoever runs as root may write every file: what the server would say of a read-only one is put in its place.
    page.page.evaluate(
        "async () => { const { context } = window.jupyterapp.shell.currentWidget; await context.ready;"
        " context._contentsModel.writable = false; }"
    )
    page.notebook.locator(".cm-content").first.click()
    page.page.keyboard.type("2")
    page.page.get_by_role("button", name="Schedule this notebook").click()
    form = page.page.get_by_role("form", name=f"Schedule {name}")
    expect(form.get_by_role("alert")).to_contain_text(f"{name} is read-only")
    expect(form.get_by_role("heading")).to_contain_text(name)
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(form.get_by_role("alert")).to_contain_text("Save it under another name")
    expect(form.locator("img")).to_have_count(0)
    assert not [request for request in page.traffic.to_the_extension("schedules") if request.url.endswith("schedules")]


def test_a_notebook_chosen_in_the_file_browser_and_deleted_meanwhile_is_reported(page: LabPage) -> None:
    page.traffic.expect_errors("404")
    file = page.write_notebook("gone.ipynb", "1")
    page.open(panel=False)
    page.page.locator(".jp-DirListing-item", has_text="gone.ipynb").click(button="right")
    page.page.get_by_role("menuitem", name="Schedule notebook…").click()
    form = page.page.get_by_role("form", name="Schedule gone.ipynb")
    expect(form).to_contain_text("saved")
    file.unlink()
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(form.get_by_role("alert")).to_contain_text("gone.ipynb")


def test_nothing_typed_is_lost_when_the_service_restarts_or_the_page_is_loaded_again(
    new_service: Callable[..., ServiceProcess],
    new_lab: Callable[..., LabProcess],
    new_page: Callable[..., LabPage],
) -> None:
    port = str(free_port())
    service = new_service().start("--port", port)
    switch_on(service)
    page = new_page(new_lab(service))
    page.traffic.expect_errors("50[23]")
    page.write_notebook("kept.ipynb", "1")
    page.open("kept.ipynb", panel=False)
    form = form_of(page, "kept.ipynb")
    service.kill()
    form.get_by_label("Name", exact=True).fill("typed while it was away")
    expect(form).to_contain_text("What you typed is kept")
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(form.get_by_role("alert")).to_contain_text("try again when the service is back")
    with page.page.expect_response(lambda answer: answer.ok and '"every":"3"' in (answer.request.post_data or "")):
        form.get_by_label("Number").fill("3")
    page.reload()
    form = page.page.get_by_role("form", name="Schedule kept.ipynb")
    expect(form.get_by_label("Name", exact=True)).to_have_value("typed while it was away")
    expect(form.get_by_label("Number")).to_have_value("3")
    service.start("--port", port)
    expect(form).to_contain_text("Every 3 days", timeout=60_000)
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(form).to_be_hidden()
    [made] = service.http.get("/scheduler").json()["schedules"]
    assert (made["name"], made["frequency"]) == ("typed while it was away", 3)
