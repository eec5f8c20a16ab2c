"""A cell whose kernel died, or whose page was closed, while its command ran: it is followed without them."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal as signals
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Locator, expect
from tests.browser.lab_page import LabPage
from tests.browser.lab_process import LabProcess
from tests.browser.test_results import Grid
from tests.browser.test_running_cells import waiting
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.magics.display.status import STATUS

_numbers = itertools.count(1)


def lost_cell(page: LabPage, signal: Path) -> Locator:
    """Run a cell, save, close the page, kill the kernel, and open the notebook again; return the cell's output."""
    script = f"echo 'part 1 of 2' >&2; {waiting(signal)}; seq 3"
    cells = ("%load_ext svc_jupyter\nimport os; print(os.getpid())", f"%%svc_shell -o numbers\n{script}", "%svc_attach")
    page.write_notebook("lost.ipynb", *cells)
    page.open("lost.ipynb", panel=False)
    kernel = int(page.run_cell(0).inner_text())
    expect(page.run_cell(1, wait=False)).to_contain_text("running")
    page.run("docmanager:save")
    page.page.goto("about:blank")
    kill_kernel(kernel)
    page.open("lost.ipynb", panel=False)
    output = page.notebook.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea")
    expect(output.get_by_role("button", name="Cancel")).to_be_visible()
    return output


def kill_kernel(pid: int) -> None:
    """Kill a kernel, and wait until Jupyter has started it again: a page that connects in between waits for ever."""
    command = psutil.Process(pid).cmdline()
    os.kill(pid, signals.SIGKILL)

    def is_back() -> bool:
        others = (process for process in psutil.process_iter(["cmdline"]) if process.pid != pid)
        return any(process.info["cmdline"] == command for process in others)

    wait_until(is_back, "the kernel's next process")


def command_of(output: Locator) -> int:
    return int(re.findall(r"command (\d+)", output.inner_text())[0])


def saved_text(page: LabPage) -> Any:
    """Save the notebook; return the text of the second cell's output in the file."""
    page.run("docmanager:save")
    return "".join(saved_data(page)["text/plain"])


def saved_data(page: LabPage) -> dict[str, Any]:
    """Return the second cell's output in the file."""
    [output] = json.loads((page.folder / "lost.ipynb").read_text())["cells"][1]["outputs"]
    return dict(output["data"])


def test_a_cell_whose_kernel_was_killed_has_its_rows_and_its_variable_and_ran_once(
    own_page: LabPage, service: ServiceProcess, signal: Path
) -> None:
    page = own_page
    output = lost_cell(page, signal)
    command = command_of(output)
    expect(output).to_contain_text(re.compile(r"command \d+ · shell · running · \d+ s"))
    expect(output.locator("pre")).to_have_text("part 1 of 2")
    signal.touch()
    Grid(page, output).begins_with("1")
    expect(output).to_contain_text(re.compile(rf"✓\s*command {command} · .* · 3 lines"))
    expect(output.get_by_role("button", name="Cancel")).to_have_count(0)
    assert re.fullmatch(rf"✓ command {command} · .* · 3 lines", saved_text(page))
    record = service.record(command)
    took = datetime.fromisoformat(record["ended_at"]) - datetime.fromisoformat(record["started_at"])
    assert saved_data(page)[STATUS]["seconds"] == took.total_seconds()
    page.run_cell(0)
    expect(page.run_cell(2)).to_contain_text(re.compile(rf"command {command} · done · 3 lines · numbers"))
    newest = service.http.get("/commands", params={"per_page": 1}).json()["commands"][0]
    assert newest["id"] == command
    # Once more, after the end: the rows are there without the kernel that had them.
    page.page.goto("about:blank")
    page.open("lost.ipynb", panel=False)
    output = page.notebook.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea")
    Grid(page, output).begins_with("1")


def test_a_command_without_its_kernel_can_be_cancelled(
    own_page: LabPage, service: ServiceProcess, signal: Path
) -> None:
    page = own_page
    output = lost_cell(page, signal)
    command = command_of(output)
    output.get_by_role("button", name="Cancel").click()
    page.answer_dialog("Cancel the command")
    expect(output).to_contain_text(f"command {command} · cancelled")
    assert service.ended(command)["status"] == "cancelled"
    assert saved_text(page).startswith(f"■ command {command} · cancelled")


def test_a_notebook_of_somebody_else_says_why_its_commands_are_not_followed(
    own_page: LabPage,
    service: ServiceProcess,
    new_lab: Callable[..., LabProcess],
    new_page: Callable[..., LabPage],
    signal: Path,
) -> None:
    page = own_page
    output = lost_cell(page, signal)
    command = command_of(output)
    signal.touch()
    Grid(page, output).begins_with("1")
    notebook = (page.folder / "lost.ipynb").read_text()  # as it was while the command ran
    other = new_page(new_lab(service, token=stranger(service)))
    other.traffic.expect_errors("403")
    (other.folder / "lost.ipynb").write_text(notebook)
    other.open("lost.ipynb", panel=False)
    output = other.notebook.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea")
    reason = r"this needs membership of .* \(permission to read command\)"
    expect(output).to_have_text(re.compile(rf"^◐ command {command} · shell · running · \d+ s, as saved: {reason}$"))
    expect(output.get_by_role("button")).to_have_count(0)


def stranger(service: ServiceProcess) -> str:
    """Return the token of a new user who may not read commands."""

    def post(path: str, **body: Any) -> Any:
        return service.http.post(path, json=body).raise_for_status().json()

    name = f"stranger{next(_numbers)}"
    post("/roles", name=name, policies=[{"access": "allow", "resource": "folder", "action": ["read"]}])
    post("/groups", name=name, roles=name)
    user = post("/users/invite_new", invitee_email=f"{name}@example.org", groups=name)["user"]
    return str(post(f"/users/{user['id']}/tokens", name="browser")["token"])
