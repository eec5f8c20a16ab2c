"""A running command is cancelled in the side panel, after one question whose default is to let it run."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.browser.lab_page import LabPage
from tests.browser.views import row_with
from tests.support.service_process import ServiceProcess, wait_until


def test_a_running_command_is_cancelled_after_one_question(page: LabPage, service: ServiceProcess) -> None:
    command = service.submit("sleep 3600", name=f"to be cancelled {page.name}")
    wait_until(lambda: service.record(command["id"])["status"] == "running", "the command's beginning")
    page.open()
    row = row_with(page, command["name"])
    row.get_by_role("button").click()
    expect(page.dialog).to_contain_text(f"Cancel command {command['id']}?")
    page.page.keyboard.press("Enter")
    page.dialog.wait_for(state="detached")
    assert service.record(command["id"])["status"] == "running"
    row.get_by_role("button").click()
    page.answer_dialog("Cancel the command")
    assert service.ended(command["id"])["status"] == "cancelled"
    expect(row).to_contain_text("■")
