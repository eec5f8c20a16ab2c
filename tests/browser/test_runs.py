"""The page Runs: what all schedules ran and will run; many of them, odd names, none, and a service that is away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from tests.browser.lab_page import LabPage
from tests.browser.lab_process import LabProcess
from tests.browser.test_side_panel import hear_of_all_requests
from tests.support.service_process import ServiceProcess

_SHOW = "svc-jupyter:show-runs"
_MANY = 5000


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[ServiceProcess]:
    """A service without schedules."""
    service = ServiceProcess(tmp_path / "data", kill_grace_seconds=1).start()
    yield service
    service.kill()


def created(service: ServiceProcess, name: str, inline: str = "true", **fields: Any) -> int:
    """Create a schedule of a shell command, by default one that never runs within a week; return its id."""
    timetable = {"cron_expression": "0 0 9 1 1 ? 2090"} if "frequency" not in fields else {}
    body = {"command_type": "ShellCommand", "command": {"inline": inline}, "name": name, **timetable, **fields}
    answer = service.http.post("/scheduler", json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


def timeline(page: LabPage) -> Locator:
    """Return the lines of the schedules."""
    return page.page.get_by_role("grid", name="Schedules, seven days back and ahead")


def by_day(page: LabPage) -> Locator:
    """Return the list of runs."""
    return page.page.get_by_role("grid", name="Runs by day")


def test_runs_are_shown_failed_first_filtered_and_opened_and_a_hidden_page_asks_nothing(
    own_service: ServiceProcess, new_lab: Callable[..., LabProcess], new_page: Callable[..., LabPage]
) -> None:
    daily = {
        "frequency": 1,
        "time_unit": "days",
        "start_time": f"{datetime.now(UTC) - timedelta(minutes=1):%Y-%m-%dT%H:%MZ}",
    }
    page = new_page(new_lab(own_service)).open(panel=False)
    page.page.get_by_role("button", name="Runs").or_(
        page.page.locator(".jp-LauncherCard[title^='What all']")
    ).first.click()
    expect(page.page.locator(".jp-SvcWeek")).to_contain_text("There are no schedules yet")
    created(own_service, "good one", **daily)
    created(own_service, "bad one", "echo no such file >&2; exit 3", **daily)
    expect(by_day(page).get_by_role("row").filter(has_text="good one")).to_contain_text("done")
    lines = timeline(page).get_by_role("row")
    expect(lines.nth(0)).to_contain_text(re.compile("bad one.*1 failed.*every day.*next "))
    expect(by_day(page).get_by_role("row").first).to_contain_text("the script exited with code 3")
    expect(lines.nth(1).locator(".jp-SvcMark.jp-mod-done")).to_have_count(1)
    expect(lines.nth(1).locator(".jp-SvcMark.jp-mod-planned")).to_have_count(7)
    assert page.accessibility_findings(".jp-SvcWeek") == []

    page.page.get_by_label("Failed only").check()
    expect(lines).to_have_count(1)
    expect(by_day(page).get_by_role("row")).to_have_count(1)
    page.page.set_viewport_size({"width": 700, "height": 800})
    side = by_day(page).locator(".jp-SvcRow-side").first
    expect(side).to_contain_text(re.compile(r"\d\d:\d\d"))
    box = side.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 700
    lines.nth(0).locator(".jp-mod-failed").click()
    expect(page.page.locator(".jp-SvcCommandDetail, [id^=svc-jupyter-command]").first).to_be_visible()
    hear_of_all_requests(page)
    sent = len(page.traffic.to_the_extension("runs/recent"))
    page.page.wait_for_timeout(11_000)  # longer than the pause between two reads of a visible page
    assert len(page.traffic.to_the_extension("runs/recent")) == sent


def test_five_thousand_schedules_with_names_of_every_kind_are_listed_and_reached_by_keyboard(
    own_service: ServiceProcess, new_lab: Callable[..., LabProcess], new_page: Callable[..., LabPage]
) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: created(own_service, f"job {number}"), range(_MANY - 3)))
    for name in ("n" * 255, "تقرير المبيعات", "🚀 nightly 👩‍💻"):
        created(own_service, name)
    page = new_page(new_lab(own_service)).open(panel=False)
    page.run(_SHOW)
    lines = timeline(page)
    expect(lines).to_have_attribute("aria-rowcount", str(_MANY))
    for place, name in enumerate(("🚀 nightly 👩‍💻", "تقرير المبيعات", "n" * 255)):
        expect(lines.get_by_role("row").nth(place)).to_contain_text(name)
    assert page.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert lines.get_by_role("row").count() < 100
    lines.get_by_role("row").first.focus()
    page.page.keyboard.press("End")
    expect(lines.locator("[role=row]:focus")).to_contain_text("job ")
    page.page.keyboard.press("Enter")
    expect(page.page.locator("[id^=svc-jupyter-schedule-]:visible")).to_contain_text("It has not run yet")


def test_a_service_that_goes_away_is_reported_and_asked_again(
    own_service: ServiceProcess, new_lab: Callable[..., LabProcess], new_page: Callable[..., LabPage]
) -> None:
    page = new_page(new_lab(own_service))
    page.traffic.expect_errors("50[0-9]")
    page.open(panel=False)
    own_service.kill()
    page.run(_SHOW)
    view = page.page.locator(".jp-SvcWeek")
    expect(view.get_by_role("alert")).to_be_visible()
    own_service.start("--port", own_service.base_url.rpartition(":")[2])
    view.get_by_role("button", name="Try again").click()
    expect(view).to_contain_text("There are no schedules yet")
