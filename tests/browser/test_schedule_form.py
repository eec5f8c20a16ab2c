"""The open notebook is scheduled through the form; its runs are looked at, the schedule is edited and killed."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from nbformat.v4 import new_code_cell
from playwright.sync_api import Locator, expect
from tests.browser.lab_page import LabPage

_PARAMETERS = new_code_cell("region = 'EU'\ndays = 7", metadata={"tags": ["parameters"]})
_RUN_SECONDS = 90.0


def form_of(page: LabPage, notebook: str) -> Locator:
    """Open the form by the clock in the notebook's own toolbar; return it."""
    page.page.get_by_role("button", name="Schedule this notebook").click()
    form = page.page.get_by_role("form", name=f"Schedule {notebook}")
    expect(form).to_contain_text("saved")
    return form


def row_of(page: LabPage, schedule: str) -> Locator:
    """Return the row of a schedule in the side panel."""
    return page.panel.get_by_role("grid", name="Schedules").get_by_role("row").filter(has_text=schedule)


def choose(page: LabPage, schedule: str, step: str) -> None:
    """Choose a step in the menu of a schedule's row."""
    row_of(page, schedule).get_by_role("button", name=f"What can be done about {schedule}").click()
    page.page.get_by_role("menuitem", name=step).click()


def test_repairs_of_a_notebooks_copy_are_shown(page: LabPage) -> None:
    file = page.write_notebook("odd.ipynb", "1 + 1")
    notebook = json.loads(file.read_text())
    notebook["cells"][0]["metadata"]["tags"] = None
    file.write_text(json.dumps(notebook))
    page.open("odd.ipynb")
    form_of(page, "odd.ipynb").get_by_role("button", name="Schedule", exact=True).click()
    expect(page.page.locator(".Toastify__toast").filter(has_text="the notebook was repaired: ")).to_be_visible()


@pytest.mark.gate
def test_the_open_notebook_is_scheduled_runs_is_edited_and_killed(page: LabPage) -> None:
    page.write_notebook("report.ipynb", _PARAMETERS, "print('for', region, days)")
    page.open("report.ipynb")
    name = f"report of {page.name}"
    form = form_of(page, "report.ipynb")
    form.get_by_label("Name", exact=True).fill(name)
    form.get_by_label("days (int)").fill("30")
    started = datetime.now(UTC) - timedelta(minutes=5)
    form.get_by_label("Time zone").fill("UTC")
    form.get_by_label("Start").fill(f"{started:%Y-%m-%d}")
    form.get_by_label("At", exact=True).fill(f"{started:%H:%M}")
    expect(form).to_contain_text(f"Every day at {started:%H:%M} (UTC)")
    expect(form).to_contain_text(re.compile(r"Next: \w+ \d+ \w+.* · .* · .* · .* · "))
    assert page.accessibility_findings(".jp-SvcForm") == []
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(form).to_be_hidden()

    expect(page.page.get_by_role("button", name="Scheduled: next run")).to_be_visible()
    row = row_of(page, name)
    expect(row).to_contain_text("last run done", timeout=_RUN_SECONDS * 1000)
    row.click()
    detail = page.page.locator("[id^=svc-jupyter-schedule-]:visible")
    action = detail.locator("tbody tr").last
    expect(action).to_contain_text("done")
    action.click()
    expect(detail.get_by_role("log", name="Log of the run")).to_contain_text("for EU 30")
    assert page.accessibility_findings(".jp-SvcDetail") == []
    detail.get_by_role("button", name="Run again for").click()
    expect(detail.get_by_role("row").filter(has_text=", again")).to_contain_text("done", timeout=_RUN_SECONDS * 1000)
    detail.get_by_role("button", name="Run once now").click()
    expect(detail.get_by_role("row").filter(has_text="by hand")).to_contain_text("done", timeout=_RUN_SECONDS * 1000)
    expect(detail.get_by_role("img")).to_have_accessible_name(re.compile("last 3 runs: 2 done, 1 by hand"))
    detail.get_by_role("button", name="Compare the run by hand with another").click()
    comparison = page.page.locator(".jp-SvcComparison:visible")
    expect(comparison.get_by_label("Compare with").locator("option")).to_have_count(2)
    expect(comparison.get_by_text("unchanged").first).to_be_visible()
    assert page.accessibility_findings(".jp-SvcComparison") == []
    row.click()
    action.get_by_role("button", name="Show the executed notebook of the run").click()
    head = page.page.locator(".jp-SvcExecuted-head")
    expect(head).to_contain_text(re.compile(r"Run of report of .*✓ done.*started .*command \d+.*days = 30"))
    frame = page.page.locator("[id^=svc-jupyter-executed-] iframe")
    expect(frame).to_be_visible()
    expect(frame).to_have_attribute("srcdoc", re.compile("for EU 30"))
    expect(frame).to_have_attribute("sandbox", "")

    row.click()
    detail.get_by_role("button", name="Open a copy of the executed notebook of the run").last.click()
    expect(page.notebook).to_contain_text("for EU 30")
    choose(page, name, "Suspend")
    expect(row_of(page, name)).to_contain_text("suspended")
    choose(page, name, "Resume")
    page.answer_dialog(f"Resume {name}")
    expect(row_of(page, name)).to_contain_text("next ")

    choose(page, name, "Edit…")
    edit = page.page.get_by_role("form", name="Schedule report.ipynb")
    expect(edit).to_contain_text("Nothing is changed yet.")
    expect(edit.get_by_label("days (int)")).to_have_value("30")
    edit.get_by_label("Number").fill("2")
    expect(edit).to_contain_text("Changed: Timetable. Next run: ")
    edit.get_by_role("button", name="Save the changes").click()
    expect(edit).to_be_hidden()
    schedule = _schedule(page, name)
    assert (schedule["frequency"], schedule["command"]["arguments"]) == (2, {"days": 30})

    choose(page, name, "End…")
    expect(page.dialog.get_by_role("button", name="No, leave it")).to_be_focused()
    page.answer_dialog(f"End {name}")
    expect(row_of(page, name)).to_have_count(0)
    assert page.lab.service.http.get(f"/scheduler/{schedule['id']}").json()["status"] == "KILLED"


def test_times_on_days_are_written_as_cron_and_read_back(page: LabPage) -> None:
    page.traffic.expect_errors("422")
    page.write_notebook("times.ipynb", "1")
    page.open("times.ipynb")
    name = f"times of {page.name}"
    form = form_of(page, "times.ipynb")
    form.get_by_label("Name", exact=True).fill(name)
    form.get_by_label("Time zone").fill("UTC")
    form.get_by_label("At times").check()
    expect(form).to_contain_text("At 09:00 every day (UTC)")
    times, days = form.get_by_label("Times of day"), form.get_by_label("Days of the month")
    expect(days).to_have_accessible_description("runs every day")
    times.fill("09:00, 17:30")
    expect(times).to_have_accessible_description(re.compile("✗ One schedule runs at the same minutes of each hour"))
    times.fill("17:00, 9:00")
    expect(form).to_contain_text("At 09:00 and 17:00 every day (UTC)")
    days.fill("1, 32")
    expect(days).to_have_accessible_description(re.compile("✗ Enter days from 1 to 31, or “last”"))
    expect(form).to_contain_text("Fix the marked fields to see the next runs")  # by then the service has answered
    expect(times).to_have_attribute("aria-invalid", "false")
    days.fill("15, last")
    for weekday in ("Monday", "Wednesday", "Friday"):
        form.get_by_label(weekday).check()
    expect(days).to_have_accessible_description("runs on these days, and on the weekdays")
    expect(form).to_contain_text("last day of month and on Monday, Wednesday, and Friday (UTC)")
    days.fill("")
    expect(form).to_contain_text(
        re.compile(r"At 09:00 and 17:00 on Monday, Wednesday, and Friday \(UTC\)Next: (Mon|Wed|Fri) .* · .*17:00")
    )
    assert page.accessibility_findings(".jp-SvcForm") == []
    form.get_by_label("Cron", exact=True).check()
    cron = form.get_by_label("Cron expression")
    expect(cron).to_have_value("0 9,17 * * 1,3,5")
    cron.fill("30 9 * * MON-FRI")
    form.get_by_label("At times").check()
    expect(times).to_have_value("09:30")
    expect(form.get_by_label("Tuesday")).to_be_checked()
    expect(form.get_by_label("Sunday")).not_to_be_checked()
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(form).to_be_hidden()
    assert _schedule(page, name)["cron_expression"] == "30 9 * * 1-5"

    choose(page, name, "Edit…")
    edit = page.page.get_by_role("form", name="Schedule times.ipynb")
    expect(edit).to_contain_text("Nothing is changed yet.")
    expect(edit.get_by_label("At times")).to_be_checked()
    expect(edit.get_by_label("Times of day")).to_have_value("09:30")
    edit.get_by_label("Friday").uncheck()
    expect(edit).to_contain_text("Changed: Timetable.")
    edit.get_by_role("button", name="Save the changes").click()
    expect(edit).to_be_hidden()
    assert _schedule(page, name)["cron_expression"] == "30 9 * * 1-4"


def test_what_times_cannot_say_stays_a_cron_expression(page: LabPage) -> None:
    page.write_notebook("rare.ipynb", "1")
    page.open("rare.ipynb", panel=False)
    form = form_of(page, "rare.ipynb")
    form.get_by_label("Cron", exact=True).check()
    form.get_by_label("Cron expression").fill("0 9 1 */3 *")
    form.get_by_label("At times").check()
    expect(form.get_by_label("Times of day")).to_have_value("09:00")
    form.get_by_label("Cron", exact=True).check()
    expect(form.get_by_label("Cron expression")).to_have_value("0 9 1 */3 *")


def test_alerts_are_set_changed_and_ended(page: LabPage) -> None:
    page.write_notebook("alerts.ipynb", "1")
    page.open("alerts.ipynb")
    name = f"alerts of {page.name}"
    form = form_of(page, "alerts.ipynb")
    form.get_by_label("Name", exact=True).fill(name)
    form.get_by_text("If a run is late or slow").click()
    due, limit = form.get_by_label("Has not ended by"), form.get_by_label("Takes over")
    due.fill("8 AM")
    expect(due).to_have_accessible_description(re.compile("✗ Enter a time of day, for example 08:00"))
    due.fill("8:00")
    page.traffic.expect_errors("422")
    limit.fill("0.5")
    expect(limit).to_have_accessible_description(re.compile("✗ Enter a number from 1 to 1,000"))
    limit.fill("2.5")
    expect(limit).to_have_attribute("aria-invalid", "false")
    expect(form).to_contain_text("alert: due by 8:00, over 2.5 × median")
    assert page.accessibility_findings(".jp-SvcForm") == []
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(form).to_be_hidden()
    schedule = _schedule(page, name)
    assert (schedule["due_by"], schedule["longer_than"]) == ("08:00", 2.5)

    choose(page, name, "Edit…")
    edit = page.page.get_by_role("form", name="Schedule alerts.ipynb")
    edit.get_by_text("If a run is late or slow").click()
    expect(edit.get_by_label("Has not ended by")).to_have_value("08:00")
    edit.get_by_label("Takes over").fill("")
    expect(edit).to_contain_text("Changed: Takes over (× median).")
    edit.get_by_role("button", name="Save the changes").click()
    expect(edit).to_be_hidden()
    schedule = _schedule(page, name)
    assert (schedule["due_by"], schedule["longer_than"]) == ("08:00", None)


def test_code_is_shown_as_code_until_a_value_takes_its_place(page: LabPage) -> None:
    source = "who: str | None = 'ann'; days: int = 7\nhalf = 5//2\nzip = '01234'"
    page.write_notebook(
        "typed.ipynb", new_code_cell(source, metadata={"tags": ["parameters"]}), "print(who, days, half, repr(zip))"
    )
    page.open("typed.ipynb")
    form = form_of(page, "typed.ipynb")
    expect(form.get_by_label("who (str)")).to_have_value("ann")
    expect(form.get_by_label("zip (str)")).to_have_value("01234")
    code = form.get_by_label("half (code)")
    expect(code).to_have_value("5//2")
    expect(code).to_be_disabled()
    form.get_by_label("half: type").select_option("int")
    form.get_by_label("half (int)").fill("9")
    form.get_by_label("zip (str)").fill("75001")
    form.get_by_label("days (int)").fill("2.5")
    expect(form).to_contain_text("2.5 is not of the type int")
    form.get_by_label("days: type").select_option("float")
    assert page.accessibility_findings(".jp-SvcForm") == []
    name = f"typed of {page.name}"
    form.get_by_label("Name", exact=True).fill(name)
    form.get_by_label("Cron", exact=True).check()
    form.get_by_label("Cron expression").fill("0 0 1 1 *")
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(form).to_be_hidden()
    schedule = _schedule(page, name)
    assert schedule["command"]["arguments"] == {"half": 9, "zip": "75001", "days": 2.5}

    same_and_other = {"arguments": {"who": "ann", "days": "5"}}
    command = {**schedule["command"], **same_and_other}
    page.lab.service.http.put(f"/scheduler/{schedule['id']}", json={"command": command}).raise_for_status()
    choose(page, name, "Edit…")
    edit = page.page.get_by_role("form", name="Schedule typed.ipynb")
    expect(edit.get_by_label("days (str)")).to_have_value("5")
    edit.get_by_label("days: type").select_option("int")
    edit.get_by_role("button", name="Save the changes").click()
    expect(edit).to_be_hidden()
    assert _schedule(page, name)["command"]["arguments"] == {"who": "ann", "days": 5}


def test_a_copy_that_is_behind_is_reported_and_brought_up_to_date(page: LabPage) -> None:
    page.write_notebook("stale.ipynb", "1")
    page.open("stale.ipynb", panel=False)
    form = form_of(page, "stale.ipynb")
    form.get_by_label("Cron", exact=True).check()
    expect(form.get_by_label("End", exact=True)).to_be_visible()
    expect(form.get_by_label("Start")).to_have_count(0)
    form.get_by_label("Cron expression").fill("0 0 1 1 *")
    form.get_by_role("button", name="Schedule", exact=True).click()
    status = page.page.locator(".jp-SvcStatusItem")
    expect(status).to_contain_text("next run")
    expect(status).not_to_contain_text("older")

    page.notebook.locator(".cm-content").first.click()
    page.page.keyboard.type(" + 1")
    page.run("docmanager:save")
    status.get_by_role("button", name="the scheduled copy is older").click()
    comparison = page.page.locator(".jp-SvcComparison")
    expect(comparison.locator("td.jp-mod-removed")).to_have_text("\u22121")
    expect(comparison.locator("td.jp-mod-added")).to_have_text("+1 + 1")
    assert page.accessibility_findings(".jp-SvcComparison") == []
    comparison.get_by_role("button", name="Update the scheduled copy").click()
    expect(comparison).to_be_hidden()
    expect(status).not_to_contain_text("older")
    listed = page.lab.service.http.get("/scheduler", params={"page": "all"}).json()["schedules"]
    place = next(path for one in listed if (path := one["command"]["path"]).endswith(f"/{page.name}/stale.ipynb"))
    stored = page.lab.service.http.get(f"/jupyter_notebooks/contents/{place}").json()["content"]["cells"][0]["source"]
    assert "+ 1" in "".join(stored)


def test_two_tabs_of_a_notebook_have_one_form_and_one_schedule(page: LabPage) -> None:
    page.page.set_viewport_size({"width": 2000, "height": 800})  # both toolbars whole, the form beside them
    page.write_notebook("twice.ipynb", "1")
    page.open("twice.ipynb", panel=False)
    page.run("docmanager:clone")
    clocks = page.page.get_by_role("button", name="Schedule this notebook")
    expect(clocks).to_have_count(2)
    clocks.first.click()
    form = page.page.get_by_role("form", name="Schedule twice.ipynb")
    form.get_by_label("Name", exact=True).fill(f"one of {page.name}")
    page.page.keyboard.press("Tab")
    page.run("svc-jupyter:schedule-notebook", path=f"{page.name}/twice.ipynb")
    expect(form).to_have_count(1)
    expect(form.get_by_label("Name", exact=True)).to_have_value(f"one of {page.name}")
    form.get_by_label("Cron", exact=True).check()
    form.get_by_label("Cron expression").fill("0 0 1 1 *")
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(form).to_be_hidden()
    expect(page.page.get_by_role("button", name="Scheduled: next run")).to_have_count(2)
    assert _schedule(page, f"one of {page.name}")["status"] == "RUNNING"


def _schedule(page: LabPage, name: str) -> dict[str, Any]:
    [schedule] = page.lab.service.http.get("/scheduler", params={"name": name}).json()["schedules"]
    return dict(schedule)
