"""A cell while its command runs: the end of the log below it, also where the log grows faster than anybody reads."""

from __future__ import annotations

import re
from pathlib import Path

from nbconvert.exporters import HTMLExporter
from playwright.sync_api import Locator, expect
from tests.browser.lab_page import LabPage
from tests.support.service_process import ServiceProcess

FLOOD_BYTES = 300_000_000
"""More than a page could take in if all of it were sent there."""
LINE = "a line that is printed again and again"


def waiting(signal: Path) -> str:
    """Return a shell's line that waits until the file is there."""
    return f"until [ -e '{signal}' ]; do sleep 0.1; done"


def running_cell(page: LabPage, script: str) -> Locator:
    """Run a cell of the shell; return its output."""
    page.write_notebook("running.ipynb", "%load_ext svc_jupyter", f"%%svc_shell\n{script}")
    page.open("running.ipynb", panel=False)
    page.run_cell(0)
    return page.run_cell(1, wait=False)


def test_a_running_cell_shows_five_lines_of_the_log_in_a_box_that_folds_away(page: LabPage, signal: Path) -> None:
    parts = 'echo "part 1 of 9" >&2; %s; for part in 2 3 4 5 6 7; do echo "part $part of 9" >&2; done; %s; echo done'
    go_on = signal.with_name("and on")
    output = running_cell(page, parts % (waiting(signal), waiting(go_on)))
    log = output.locator(".svc-status-log")
    expect(log).to_have_text("part 1 of 9")
    # In one step in the page: each change of the log draws it anew.
    height = page.page.wait_for_function("() => document.querySelector('.svc-status-log')?.offsetHeight").json_value()
    signal.touch()
    expect(log).to_have_text("\n".join(f"part {number} of 9" for number in range(3, 8)))
    expect(log).to_have_js_property("offsetHeight", height)
    expect(output).to_contain_text(re.compile(r"command \d+ · shell · running · .*interrupt to cancel"))
    go_on.touch()
    expect(output).to_contain_text("done")
    expect(log).to_have_count(0)
    expect(output.locator("details")).to_have_count(0)


def test_where_our_extension_is_not_the_log_of_a_cell_unfolds_below_its_line(page: LabPage, signal: Path) -> None:
    output = running_cell(page, f"echo 'part 1 of 9' >&2; {waiting(signal)}; echo 'part 9 of 9' >&2; echo done")
    expect(output.locator(".svc-status-log")).to_have_text("part 1 of 9")
    signal.touch()
    expect(output.locator(".svc-status-text")).to_contain_text("1 line")
    page.run("docmanager:save")
    document, _ = HTMLExporter().from_filename(str(page.folder / "running.ipynb"))
    elsewhere = page.page.context.new_page()
    elsewhere.route("**/*", lambda route: route.abort())  # the page's own addresses of scripts, of which it needs none
    try:
        elsewhere.set_content(document, wait_until="domcontentloaded")
        lines = elsewhere.get_by_text("part 1 of 9\npart 9 of 9")
        expect(lines).to_be_hidden()
        word = elsewhere.locator("summary")
        expect(word).to_have_text("Log")
        assert word.bounding_box()["y"] == elsewhere.locator(".svc-status-text").bounding_box()["y"]
        word.click()
        expect(lines).to_be_visible()
    finally:
        elsewhere.close()


def test_a_log_that_grows_by_hundreds_of_megabytes_leaves_the_page_usable_and_is_whole(
    page: LabPage, service: ServiceProcess, signal: Path
) -> None:
    flood = f"yes '{LINE}' | head -c {FLOOD_BYTES} >&2; echo >&2; echo 'the last line' >&2; {waiting(signal)}"
    # The view of the command opens while the log grows; what it has not read by the end, it skips.
    output = running_cell(page, f"{waiting(signal.with_name('begin'))}; {flood}")
    status = output.locator(".svc-status-text")
    expect(status).to_contain_text("running")
    command_id = int(re.findall(r"command (\d+)", status.inner_text())[0])
    page.run("svc-jupyter:open-command", id=command_id)
    view = page.page.locator(f"#svc-jupyter-command-{command_id}")
    log = view.get_by_role("log")
    expect(log).to_contain_text("Nothing yet.")
    signal.with_name("begin").touch()
    expect(log).to_contain_text(f"{LINE}\n{LINE}")
    expect(log).to_contain_text("the last line")
    expect(view).to_contain_text("Earlier lines are left out")
    assert len(log.inner_text()) < 500_000
    page.run("docmanager:open", path=f"{page.name}/running.ipynb")
    expect(output.locator(".svc-status-log")).to_contain_text("the last line")
    signal.touch()
    expect(output.locator(".svc-status-log")).to_have_count(0)
    record = service.ended(command_id)
    assert record["status"] == "done", record["message"]
    [whole] = [
        file for file in service.folder(command_id).rglob("*") if file.is_file() and file.stat().st_size >= FLOOD_BYTES
    ]
    with whole.open("rb") as kept:
        assert kept.read(2 * len(LINE) + 2) == f"{LINE}\n{LINE}\n".encode()
        kept.seek(FLOOD_BYTES)
        assert b"the last line" in kept.read(1000)
