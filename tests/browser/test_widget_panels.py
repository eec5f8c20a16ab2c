"""The panels of the magics, pressed in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from tests.browser.lab_page import SECONDS, LabPage
from tests.support.service_process import ServiceProcess, wait_until
from tests.support.workplace import Workplace

ENGINE_SECONDS = 90.0
"""How long a node of a real cluster may take on a busy machine."""


@pytest.fixture
def place(service: ServiceProcess) -> Iterator[Workplace]:
    place = Workplace(service)
    yield place
    place.close()


@pytest.fixture
def schedule(service: ServiceProcess) -> Iterator[dict[str, Any]]:
    """A schedule that comes next in years."""
    body = {
        "command_type": "ShellCommand",
        "command": {"inline": "echo hi"},
        "name": "pressed in a browser",
        "cron_expression": "0 0 9 1 1 ? 2090",
    }
    answer = service.http.post("/scheduler", json=body)
    assert answer.status_code == 200, answer.text
    yield answer.json()
    service.http.put(f"/scheduler/{answer.json()['id']}", json={"status": "kill"})


def panel_of(page: LabPage, magic: str) -> Locator:
    """Open a notebook that shows a panel; return the panel."""
    page.write_notebook("panel.ipynb", "%load_ext svc_jupyter", magic)
    page.open("panel.ipynb", panel=False)
    page.run_cell(0)
    panel = page.run_cell(1)
    panel.locator(".jupyter-widgets").first.wait_for()
    return panel


def press(panel: Locator, name: str | re.Pattern[str]) -> None:
    panel.get_by_role("button", name=name).click()


def see(panel: Locator, text: str, seconds: float = SECONDS) -> None:
    expect(panel).to_contain_text(text, timeout=seconds * 1000)


def test_a_folder_is_moved_in_the_folder_panel(page: LabPage, place: Workplace) -> None:
    place.folder("from here")
    place.folder("to there")
    panel = panel_of(page, f"%svc_folders panel '{place.location}'")
    press(panel, "from here")
    see(panel, f"folder {place.location}/from here")
    press(panel, "Move…")
    see(panel, "choose the folder that it is to be in")
    press(panel, "to there")
    see(panel, f"into {place.location}/to there?")
    assert page.accessibility_findings(".jp-OutputArea .jupyter-widgets") == []
    press(panel, re.compile("Move from here into"))
    wait_until(lambda: place.names("/to there") == ["from here"], "the folder is in the other one")
    see(panel, f"folder {place.location}/to there/from here")


def test_a_schedule_is_suspended_in_the_schedule_panel(
    page: LabPage, service: ServiceProcess, schedule: dict[str, Any]
) -> None:
    panel = panel_of(page, f"%svc_schedule panel {schedule['id']}")
    press(panel, "Suspend")
    see(panel, "No further run begins until it is resumed")
    assert page.accessibility_findings(".jp-OutputArea .jupyter-widgets") == []
    press(panel, f"Suspend {schedule['name']}")
    see(panel, "suspended")
    assert service.http.get(f"/scheduler/{schedule['id']}").json()["status"] == "SUSPENDED"


def test_a_node_is_added_and_removed_in_the_cluster_panel(page: LabPage, up_cluster: str) -> None:
    panel = panel_of(page, f"%svc_cluster {up_cluster}")
    see(panel, "● up")
    expect(panel.get_by_role("link", name="YARN")).to_have_attribute("target", "_blank")
    assert page.accessibility_findings(".jp-OutputArea .jupyter-widgets") == []
    panel.get_by_role("button", name="+", exact=True).click()
    press(panel, "Apply")
    see(panel, f"Add 1 worker to {up_cluster}, so that it has 2?")
    press(panel, "Add 1 worker")
    see(panel, "1 node added", ENGINE_SECONDS)
    see(panel, "Workers 2", SECONDS)
    panel.get_by_role("button", name="Remove…").last.click()
    see(panel, "then leaves")
    press(panel, re.compile("Remove ip-"))
    see(panel, "Workers 1", ENGINE_SECONDS)
