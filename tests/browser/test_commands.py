"""Commands in the side panel and in the main area."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from playwright.sync_api import Locator, expect
from tests.browser.lab_page import DARK, LabPage
from tests.browser.lab_process import LabProcess
from tests.support.service_process import ServiceProcess

HOSTILE = "<img src=x onerror=alert(1)> %2e%2e 'quoted' 🦆"


def commands(page: LabPage) -> Locator:
    return page.panel.get_by_role("grid", name="Commands")


def row(page: LabPage, command_id: int) -> Locator:
    return commands(page).locator(f"[data-id='{command_id}']")


def detail(page: LabPage, command_id: int) -> Locator:
    return page.page.locator(f"#svc-jupyter-command-{command_id}")


def rows_of_a_query(service: ServiceProcess, count: int) -> int:
    """Return a command that has ended with so many rows."""
    file = service.data_dir / "storage" / "rows.db"
    file.parent.mkdir(exist_ok=True)
    sqlite3.connect(file).close()
    tap = service.http.post("/db_taps", json={"name": "rows", "db_type": "sqlite", "db_name": str(file)}).json()["id"]
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
    body = {
        "command_type": "DbTapQueryCommand",
        "db_tap_id": tap,
        "query": f"{numbers} SELECT i, '<b>' || i AS t FROM n",
    }
    command_id = int(service.http.post("/commands", json=body).json()["id"])
    assert service.ended(command_id)["status"] == "done"
    return command_id


def test_a_log_comes_while_the_command_runs_and_its_failure_is_reported(page: LabPage, service: ServiceProcess) -> None:
    gate = service.data_dir / f"gate-{page.name}"
    script = (
        f"echo first >&2; until [ -e '{gate}' ]; do sleep 0.1; done; echo second >&2; echo no such thing >&2; exit 3"
    )
    command_id = service.submit(script)["id"]
    page.open()
    page.run("svc-jupyter:open-command", id=command_id)
    log = detail(page, command_id).get_by_role("log")
    expect(log).to_have_text("first\n")
    gate.touch()
    expect(log).to_contain_text("second")
    expect(detail(page, command_id).get_by_role("alert")).to_contain_text(service.ended(command_id)["message"])
    assert page.traffic.to_the_extension(f"commands/{command_id}/events")


def test_long_texts_say_what_is_left_out_and_are_saved_whole(page: LabPage, service: ServiceProcess) -> None:
    command_id = service.submit("seq 100000; seq 5000 >&2")["id"]
    service.ended(command_id)
    page.open()
    page.run("svc-jupyter:open-command", id=command_id)
    view = detail(page, command_id)
    expect(view.get_by_role("region", name="Result")).to_contain_text("35184")
    expect(view).to_contain_text("The first 199,998 of 588,895 characters.")
    expect(view).to_contain_text("Earlier lines are left out.")
    log = view.get_by_role("log").inner_text().split()
    assert (log[0], log[-1], len(log)) == ("3001", "5000", 2000)

    for what, ending, last in (("result", "txt", 100_000), ("log", "log", 5000)):
        with page.page.expect_download() as download:
            view.get_by_role("button", name=f"Download the {what}").click()
        assert download.value.suggested_filename == f"command-{command_id}.{ending}"
        assert download.value.path().read_text() == "".join(f"{number}\n" for number in range(1, last + 1))
    assert page.accessibility_findings(f"#svc-jupyter-command-{command_id}") == []


def test_each_attempt_says_how_it_ended(page: LabPage, service: ServiceProcess) -> None:
    again = service.data_dir / f"again-{page.name}"
    script = f"[ -e '{again}' ] || {{ touch '{again}'; echo lost >&2; exit 3; }}; echo found"
    command_id = service.submit(script, retry=1, retry_delay=0)["id"]
    assert service.ended(command_id)["status"] == "done"
    page.open()
    page.run("svc-jupyter:open-command", id=command_id)
    attempts = detail(page, command_id).get_by_role("region", name="Attempts").get_by_role("listitem")
    expect(attempts).to_have_count(2)
    first, second = attempts.all()
    expect(first).to_contain_text(re.compile(r"✗ failed · [0-9:]{8} · ([0-9]+ ms|[0-9.]+ s)"))
    expect(first).to_contain_text("the script exited with code 3")
    expect(first).to_contain_text("lost")
    expect(second).to_contain_text(re.compile(r"✓ done · [0-9:]{8} · ([0-9]+ ms|[0-9.]+ s)$"))


def test_a_command_names_the_notebook_of_its_cell_also_once_that_is_renamed(
    page: LabPage, service: ServiceProcess
) -> None:
    cell = "%%svc_shell\ntrue"
    page.write_notebook("rapport é.ipynb", "%load_ext svc_jupyter", cell, cell)
    page.open("rapport é.ipynb")
    page.run_cell(0)

    def source_of_cell(number: int) -> str:
        page.run_cell(number)
        newest = service.http.get("/commands", params={"per_page": 1}).json()["commands"][0]["id"]
        page.run("svc-jupyter:open-command", id=newest)
        source = detail(page, newest).get_by_role("term").filter(has_text="Source").locator("xpath=following::dd[1]")
        text = source.inner_text()
        page.run("docmanager:open", path=current)
        return text

    current = f"{page.name}/rapport é.ipynb"
    assert source_of_cell(1) == "notebook rapport é.ipynb"
    renamed = f"{page.name}/final.ipynb"
    page.page.evaluate(
        "([old, name]) => window.jupyterapp.serviceManager.contents.rename(old, name).then(() => undefined)",
        [current, renamed],
    )
    current = renamed
    assert source_of_cell(2) == "notebook final.ipynb"


def test_times_are_on_the_clock_of_the_reader_which_every_view_names(
    new_page: Callable[..., LabPage], lab: LabProcess, service: ServiceProcess
) -> None:
    command_id = service.submit("true")["id"]
    submitted = datetime.fromtimestamp(service.ended(command_id)["submit_time"], ZoneInfo("Asia/Kolkata"))
    page = new_page(lab, timezone_id="Asia/Kolkata")
    page.open()
    page.run("svc-jupyter:open-command", id=command_id)
    facts = detail(page, command_id).get_by_role("region", name="Facts")
    expect(facts).to_contain_text(f"{submitted:%H:%M:%S}")
    expect(facts).to_contain_text("Times inAsia/Kolkata")
    hover = row(page, command_id).locator(".jp-SvcRow")
    expect(hover).to_have_attribute("title", re.compile("times in Asia/Kolkata"))
    page.run("svc-jupyter:show-runs")
    expect(page.page.locator(".jp-SvcWeek")).to_contain_text("times in Asia/Kolkata")
    default = service.http.get("/clusters/default").json()["id"]
    page.run("svc-jupyter:open-cluster", cluster=default, name="default")
    expect(page.page.locator(".jp-SvcCluster-foot")).to_contain_text(re.compile(r"as of \S+ \(Asia/Kolkata\)"))


def test_a_result_is_a_grid_of_all_its_rows_and_is_asked_for_again(page: LabPage, service: ServiceProcess) -> None:
    command_id = rows_of_a_query(service, 200_000)
    page.traffic.expect_errors("503")
    page.open()
    rows = f"**/svc-jupyter/api/commands/{command_id}/rows*"
    page.page.route(rows, lambda route: route.fulfill(status=503, json={"message": "the service is stopping"}))
    page.run("svc-jupyter:open-command", id=command_id)
    expect(detail(page, command_id).get_by_role("alert")).to_contain_text("the service is stopping")
    page.page.unroute(rows)
    detail(page, command_id).get_by_role("button", name="Try again").click()
    expect(detail(page, command_id).get_by_role("region", name="Facts")).to_contain_text("Taprows (SQLite)")
    grid = detail(page, command_id).get_by_role("grid", name=f"Rows of command {command_id}")
    expect(grid.get_by_role("row").nth(1)).to_have_text("01<b>1")
    expect(detail(page, command_id)).to_contain_text("of 200,000 · values as in the data when copied")
    grid.focus()
    page.page.keyboard.press("Control+End")
    expect(grid.get_by_role("row").last).to_have_text("199,999200,000<b>200000")
    assert grid.get_by_role("row").count() < 60
    assert page.accessibility_findings(f"#svc-jupyter-command-{command_id}") == []


def test_commands_are_found_by_name_and_status_and_found_again_after_a_reload(
    own_page: LabPage, service: ServiceProcess
) -> None:
    page = own_page
    found = service.submit("exit 1", name="needle one")["id"]
    other = service.submit("true", name="needle two")["id"]
    service.ended(found)
    service.ended(other)
    page.open()
    page.panel.get_by_role("searchbox").fill("NEEDLE")
    expect(commands(page).get_by_role("row")).to_have_count(2)
    page.panel.get_by_role("button", name="Show commands: own").click()
    page.page.get_by_role("menuitem", name="failed").click()
    expect(commands(page).get_by_role("row")).to_have_count(1)
    page.run("svc-jupyter:open-command", id=found)
    kept = f'"selected":"{found}"'
    with page.page.expect_response(lambda answer: kept in (answer.request.post_data or "")):
        row(page, found).click()
    page.reload()
    expect(row(page, found)).to_have_attribute("aria-selected", "true")
    expect(row(page, other)).to_have_count(0)
    expect(detail(page, found)).to_be_visible()


def test_names_are_shown_as_text(page: LabPage, service: ServiceProcess) -> None:
    command_id = service.submit(f": {HOSTILE!r}")["id"]
    page.open(theme=DARK)
    expect(row(page, command_id)).to_contain_text("<img src=x onerror=alert(1)>")
    row(page, command_id).focus()
    page.page.keyboard.press("Enter")
    expect(detail(page, command_id).get_by_role("heading", level=2)).to_contain_text("<img src=x")
    assert page.page.locator("#svc-jupyter-panel img, .jp-SvcCommand img").count() == 0
    assert page.accessibility_findings("#svc-jupyter-panel", f"#svc-jupyter-command-{command_id}") == []


def test_one_press_previews_in_one_tab_and_a_double_press_keeps_it(page: LabPage, service: ServiceProcess) -> None:
    first, second, kept = (service.submit(f"echo {word}", name=word)["id"] for word in ("first", "second", "kept"))
    for command_id in (first, second, kept):
        service.ended(command_id)  # nothing moves in the list between two presses
    page.open()
    row(page, first).click()
    expect(detail(page, first)).to_be_visible()
    row(page, second).click()
    expect(detail(page, second)).to_be_visible()
    expect(detail(page, first)).to_have_count(0)
    row(page, kept).dblclick()
    row(page, first).click()
    expect(detail(page, first)).to_be_visible()
    expect(detail(page, second)).to_have_count(0)
    expect(page.page.get_by_role("tab", name=f"{kept} kept")).to_be_visible()
    assert page.page.evaluate("String(window.getSelection())") == ""


def test_a_command_runs_again_and_becomes_a_cell(page: LabPage, service: ServiceProcess) -> None:
    command_id = service.submit("echo again", name=f"again {page.name}")["id"]
    service.ended(command_id)
    page.write_notebook("cells.ipynb", "1 + 1")
    page.open("cells.ipynb")
    page.run("svc-jupyter:open-command", id=command_id)
    view = detail(page, command_id)
    expect(view.locator(".jp-SvcText span").first).to_have_text("echo")  # highlighted as Shell
    view.get_by_role("button", name="Insert as a cell").click()
    expect(page.notebook).to_contain_text("%%svc_shell")
    page.run("svc-jupyter:open-command", id=command_id)
    view.get_by_role("button", name="Run again").click()
    expect(commands(page).get_by_role("row").filter(has_text=page.name)).to_have_count(2)
