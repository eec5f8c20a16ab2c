"""The launcher's cards, the command palette, and the toasts that tell of what has ended."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Route, expect
from tests.browser.lab_page import LabPage
from tests.browser.test_schedule_form import row_of
from tests.browser.views import row_with
from tests.support.service_process import ServiceProcess


def card(page: LabPage, name: str) -> Locator:
    return page.page.locator(".jp-LauncherCard").filter(has_text=re.compile(f"^{name}$"))


def choose(page: LabPage, command: str, item: str) -> None:
    """Run a command of the palette that asks for one of several things, and choose one."""
    page.run("apputils:activate-command-palette")
    palette = page.page.locator("#command-palette")
    palette.get_by_role("searchbox").or_(palette.locator("input")).first.fill(command)
    palette.get_by_role("menuitem", name=command).first.click()
    offered = page.dialog.locator("option").filter(has_text=item)
    choice = page.dialog.locator("select")
    choice.select_option(label=offered.inner_text())
    page.dialog.get_by_role("button", name="Ok").click()
    choice.wait_for(state="detached")  # a question may follow


def test_the_launcher_leads_to_the_form_a_new_note_the_clusters_and_the_runs(page: LabPage) -> None:
    page.write_notebook("report.ipynb", "1")
    page.open()
    expect(
        page.page.locator(".jp-Launcher-section").filter(has_text="Data service").locator(".jp-LauncherCard")
    ).to_have_text(["Schedule…", "New note", "Clusters", "Runs"])
    card(page, "Clusters").click()
    expect(page.panel.get_by_role("button", name="Clusters", exact=True)).to_be_focused()
    card(page, "Schedule…").click()
    page.dialog.get_by_text("report.ipynb").click()
    page.answer_dialog("Select")
    expect(page.page.get_by_role("form")).to_contain_text("report.ipynb")


def test_a_new_note_is_named_created_and_opened(page: LabPage, service: ServiceProcess) -> None:
    page.open()
    page.traffic.expect_errors("422")
    card(page, "New note").click()
    page.dialog.get_by_label("Name").fill("a/b")
    page.dialog.get_by_role("button", name="Ok").click()
    expect(page.dialog).to_contain_text("a name must not hold a slash")
    page.dialog.locator("input").fill(page.name)
    page.answer_dialog("Ok")
    page.notebook.wait_for()
    [note] = [one for one in service.http.get("/notebooks").json()["notes"] if one["name"] == page.name]
    assert note["location"] == "Users/admin@localhost"
    assert (page.folder / f"{page.name}.ipynb").exists()


def test_commands_are_opened_and_cancelled_from_the_palette(page: LabPage, service: ServiceProcess) -> None:
    name = f"chosen {page.name}"
    command_id = service.submit("sleep 3600", name=name)["id"]
    page.open(panel=False)
    choose(page, "Open a command…", name)
    expect(page.page.get_by_role("tab", name=f"{command_id} {name}")).to_be_visible()
    choose(page, "Cancel a command…", name)
    page.answer_dialog("Cancel the command")
    assert service.ended(command_id)["status"] == "cancelled"


@pytest.mark.parametrize("is_shown", [True, False], ids=["panel shown", "panel hidden"])
def test_the_end_of_a_long_command_is_told_with_a_way_to_it(
    own_page: LabPage, service: ServiceProcess, is_shown: bool
) -> None:
    """The service's times are shifted in the answers: a real command of a minute would take a minute."""
    page = own_page
    gate = service.data_dir / f"gate-{page.name}"
    name = f"long {page.name}"
    command_id = service.submit(f"until [ -e '{gate}' ]; do sleep 0.1; done", name=name)["id"]
    page.page.clock.install()
    page.open()
    row_with(page, name).wait_for()
    if not is_shown:
        page.run("application:toggle-left-area")
        page.panel.wait_for(state="hidden")
    page.page.route(
        re.compile(r"svc-jupyter/api/commands(/\d+)?(\?.*)?$"), lambda route: _begun_earlier(route, command_id)
    )
    gate.touch()
    service.ended(command_id)
    page.page.clock.run_for(31_000)
    toast = page.page.locator(".Toastify__toast").filter(has_text=name)
    expect(toast).to_contain_text(re.compile(rf"Command {command_id}, {name}, is done after 1 min"))
    toast.get_by_role("button", name="Show").click()
    expect(page.page.locator(f"#svc-jupyter-command-{command_id}")).to_be_visible()


def _begun_earlier(route: Route, command_id: int) -> None:
    answer = route.fetch()
    record = answer.json()
    for command in record.get("commands", [record]):
        if command["id"] == command_id and command["start_time"] is not None:
            start = datetime.fromisoformat(command["started_at"]) - timedelta(seconds=61)
            command |= {"start_time": command["start_time"] - 61, "started_at": start.isoformat()}
    route.fulfill(response=answer, json=record)


def test_a_failed_run_is_told_with_a_way_to_its_schedule(page: LabPage, service: ServiceProcess) -> None:
    timetable = {"cron_expression": "0 0 9 1 1 ? 2090", "command_type": "ShellCommand"}
    body = {"name": page.name, "command": {"inline": "exit 3"}, **timetable}
    schedule = service.http.post("/scheduler", json=body).raise_for_status().json()["id"]
    page.open()
    expect(row_with(page, page.name)).to_contain_text("not run yet")
    page.run("svc-jupyter:run-schedule", id=schedule)
    toast = page.page.locator(".Toastify__toast").filter(has_text=f"{page.name}: run by hand failed")
    expect(row_with(page, page.name)).to_contain_text("failed")
    toast.get_by_role("button", name="Show").click()
    expect(page.page.locator(f"#svc-jupyter-schedule-{schedule}")).to_be_visible()
    service.http.put(f"/scheduler/{schedule}", json={"status": "kill"})


def test_a_run_that_takes_long_is_told_while_it_goes_on(page: LabPage, service: ServiceProcess) -> None:
    gate, count = (service.data_dir / f"{name}-{page.name}" for name in ("gate", "count"))
    count.touch()
    inline = f"echo >> '{count}'; [ $(wc -l < '{count}') -lt 4 ] || until [ -e '{gate}' ]; do sleep 0.1; done"
    fourth = datetime.now(UTC).replace(second=0) - timedelta(minutes=1)
    body = {"name": page.name, "command_type": "ShellCommand", "command": {"inline": inline}, "longer_than": 1}
    times = {"frequency": 1, "time_unit": "days", "start_time": f"{fourth - timedelta(days=3):%Y-%m-%dT%H:%MZ}"}
    page.open()
    page.panel.get_by_label("Show ended").wait_for()
    schedule = service.http.post("/scheduler", json=body | times).raise_for_status().json()["id"]
    row = row_of(page, page.name)
    told = re.compile(f"the run for .*{fourth:%H:%M} takes longer than usual")  # with its day where that is yesterday
    expect(row).to_contain_text(told, timeout=60_000)
    expect(row.locator(".jp-mod-warning")).to_be_visible()
    toast = page.page.locator(".Toastify__toast").filter(has_text=page.name)
    expect(toast).to_contain_text("takes longer than usual")
    toast.get_by_role("button", name="Show").click()
    view = page.page.locator(f"#svc-jupyter-schedule-{schedule}")
    expect(view.locator(".jp-SvcRemark")).to_contain_text("takes longer than usual")
    expect(view).to_contain_text("alert: over 1 × median")
    gate.touch()
    expect(row).to_contain_text("last run done", timeout=60_000)
    expect(view.locator(".jp-SvcRemark")).to_have_count(0)
    assert service.http.put(f"/scheduler/{schedule}", json={"status": "kill"}).is_success
