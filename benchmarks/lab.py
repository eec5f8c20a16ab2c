"""The JupyterLab extension in Chromium: its size, its start, the panel, the form, lists, a log, an hour of polling.

Bars: 200 kB compressed, 40 kB of them before the first use, 10 ms to activate, the panel and the form shown in 100 ms,
a schedule made and in the panel in 300 ms, its message in 500 ms, frames of 20 ms, 5 ms that the Jupyter Server adds to
a call, no request while the panel is hidden. The hour passes on a simulated clock. The sizes of jupyter-scheduler and
dask-labextension are printed, too, when they are on `JUPYTER_PATH`.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from urllib.parse import parse_qs, urlparse

import httpx
from jupyter_core.paths import jupyter_path
from playwright.sync_api import Browser, Page, Request, Route
from tests.browser.chromium import running_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lab_process import LabProcess
from tests.support.service_process import ServiceProcess

from benchmarks import report
from benchmarks.contests import Spread, compete
from benchmarks.lab_in_page import (
    HOOK_ACTIVATION,
    Heap,
    entry_files,
    first_paint,
    frames_during,
    scroll_through,
    seconds_until,
    seconds_until_each,
)

_BARS = {"activation": 10, "panel": 100, "form": 100, "form again": 100, "created": 300, "told of": 500}
_PEERS = {"jupyter-scheduler": "@jupyterlab/scheduler", "dask-labextension": "dask-labextension"}
"""The names of other extensions, and of their folders."""
_LINES_A_SECOND = 10_000
_COMMANDS = 10_000
_MINUTES = 60
_LOOKS_A_MINUTE = 20
"""The simulated clock advances by the interval between two polls of the commands, and stops until they are answered."""
_CLOCK = (".jp-Toolbar-item[data-jp-item-name=svc-schedule] *", "")
_FORM = (".jp-SvcForm h2", "")
_COMMAND_LIST = "#svc-jupyter-section-commands .jp-SvcList"
_SCHEDULE_ROW = "#svc-jupyter-section-schedules [role=row]"
_SCHEDULE_LIST = "#svc-jupyter-section-schedules .jp-SvcList"


def run(folder: Path, *, quick: bool) -> None:
    """Print the tables."""
    service = ServiceProcess(folder / "service" / "data")
    try:
        service.start()
        service.http.put("/account/features", json={"jupyter_notebooks": True}).raise_for_status()
        lab = LabProcess(folder / "lab", service)
        try:
            lab.start()
            _print_overhead(service, lab, 50 if quick else 400)
            with running_chromium() as browser:
                _print_size(browser, lab)
                _print_times(browser, lab, 2 if quick else 8)
                _print_lists(browser, lab, 1_000 if quick else _COMMANDS)
                _print_log(browser, service, lab, 3 if quick else 10)
                _print_hour(browser, lab, 10 if quick else _MINUTES)
        finally:
            lab.stop()
    finally:
        service.kill()


def _print_size(browser: Browser, lab: LabProcess) -> None:
    page = LabPage(browser.new_context().new_page(), lab)
    page.page.add_init_script(HOOK_ACTIVATION)
    page.open(panel=False)
    entry = entry_files(page)
    page.page.context.close()
    sizes = _compressed("svc-jupyter-labextension")
    rows = [
        ["ours (bar: 200)", f"{sum(sizes.values()) / 1e3:.0f}"],
        ["ours, before the first use (bar: 40)", f"{sum(sizes[file] for file in entry) / 1e3:.0f}"],
        *([name, f"{sum(_compressed(folder).values()) / 1e3:.0f}"] for name, folder in _PEERS.items()),
    ]
    report.table("all JavaScript of the extension", ["", "kB compressed"], [row for row in rows if row[1] != "0"])


def _compressed(extension: str) -> dict[str, int]:
    """Return the compressed size of each file of an extension; empty for one that is not installed."""
    places = [Path(path) / extension / "static" for path in jupyter_path("labextensions")]
    static = next((place for place in places if place.is_dir()), None)
    files = [] if static is None else [file for file in static.iterdir() if file.suffix in (".js", ".css")]
    return {file.name: len(gzip.compress(file.read_bytes())) for file in files}


def _print_overhead(service: ServiceProcess, lab: LabProcess, rounds: int) -> None:
    service.ended(service.submit("echo hi")["id"])
    through: dict[str, tuple[httpx.Client, str]] = {
        "the service directly": (service.http, "/commands"),
        "through the Jupyter Server": (lab.http, "/commands"),
    }
    contestants = {name: _call(client, path) for name, (client, path) in through.items()}
    results = compete(contestants, rounds)
    reference = "the service directly"
    report.contest("a page of commands", "ms", results, reference, report.milliseconds)
    added = [ours - bare for bare, ours in zip(*results.values.values(), strict=True)]
    report.table("added by the Jupyter Server", ["", "ms"], [["median (bar: 5)", f"{median(added) * 1000:.1f}"]])


def _call(client: httpx.Client, path: str) -> Callable[[], float]:
    def measure() -> float:
        started = time.perf_counter()
        client.get(path).raise_for_status()
        return time.perf_counter() - started

    return measure


def _print_times(browser: Browser, lab: LabProcess, rounds: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in _BARS}
    for number in range(rounds):
        page = LabPage(browser.new_context().new_page(), lab)
        page.page.add_init_script(HOOK_ACTIVATION)
        page.write_notebook("report.ipynb", "days = 7", "print(days)")
        page.open("report.ipynb", panel=False)
        times["activation"].append(page.page.evaluate("window.__activation") / 1000)
        _let_rest(page)
        times["panel"].append(first_paint(page, "svc-jupyter-panel", "#svc-jupyter-panel .jp-SvcHeader"))
        page.wait_for_kernel()
        for name in ("form", "form again"):
            _let_rest(page)
            times[name].append(seconds_until(page, _CLOCK, _FORM))
            page.page.locator(".jp-SvcForm-header", has_text="saved").filter(has_text="✓").wait_for()
            if name == "form":
                page.page.get_by_role("button", name="Cancel").click()
                page.page.locator(".jp-SvcForm").wait_for(state="detached")
        name = f"benchmark {number}"
        page.page.get_by_role("textbox", name="Name").fill(name)
        _let_rest(page)
        submit = (".jp-SvcForm button[type=submit]", "")
        listed, told = seconds_until_each(page, submit, (_SCHEDULE_ROW, name), (".Toastify", "is scheduled"))
        times["created"].append(listed)
        times["told of"].append(told)
        page.page.context.close()
    rows = [
        [f"{name} (bar: {_BARS[name]})", *(report.milliseconds(value) for value in (spread.median, spread.most))]
        for name, spread in ((name, Spread.of(values)) for name, values in times.items())
    ]
    report.table(f"in the page, {rounds} fresh pages", ["", "median ms", "max ms"], rows)


def _let_rest(page: LabPage) -> None:
    """Wait until the page is idle, so that the form is measured without the opening of the notebook."""
    page.page.wait_for_load_state("networkidle")
    page.page.evaluate("new Promise(done => requestIdleCallback(() => done()))")


def _print_lists(browser: Browser, lab: LabProcess, commands: int) -> None:
    page = LabPage(browser.new_context().new_page(), lab)
    page.page.route("**/svc-jupyter/api/commands?**", lambda route: _answer_with_commands(route, commands))
    page.page.route("**/svc-jupyter/api/schedules?**", lambda route: _answer_with_schedules(route, commands // 10))
    page.open()
    rows = []
    for name, selector, count in (
        ("commands", _COMMAND_LIST, commands),
        ("schedules", _SCHEDULE_LIST, commands // 10),
    ):
        page.page.locator(selector).wait_for()
        seen = scroll_through(page, selector, count)
        spread = Spread.of(seen["frames"])
        frame_times = [report.milliseconds(value) for value in (spread.median, spread.p95, spread.most)]
        rows.append([f"{count:,} {name}", *frame_times, str(seen["most"])])
    columns = ["scrolled through, 2,000 pixels a frame", "median ms", "p95", "max", "most rows in the page"]
    report.table("frames (a smooth one: 16.7 ms)", columns, rows)
    page.page.context.close()


def _print_log(browser: Browser, service: ServiceProcess, lab: LabProcess, seconds: int) -> None:
    script = f"for second in $(seq {seconds + 10}); do seq {_LINES_A_SECOND} >&2; sleep 1; done"
    command = service.submit(script)["id"]
    page = LabPage(browser.new_context().new_page(), lab).open(panel=False)
    page.run("svc-jupyter:open-command", id=command)
    page.page.get_by_role("log").filter(has_text=str(_LINES_A_SECOND)).wait_for()
    spread = Spread.of(frames_during(page, seconds))
    frame_times = [report.milliseconds(value) for value in (spread.median, spread.p95, spread.most)]
    columns = ["a log that grows", "median ms", "p95", "max"]
    report.table("frames (bar: 20 ms)", columns, [[f"{_LINES_A_SECOND:,} lines a second", *frame_times]])
    page.page.context.close()
    service.http.put(f"/commands/{command}", json={"status": "kill"})


def _print_hour(browser: Browser, lab: LabProcess, minutes: int) -> None:
    rows = []
    for name, panel in (("panel shown", True), ("panel hidden", False)):
        page = LabPage(browser.new_context().new_page(), lab)
        under_way = _UnderWay(page.page)
        page.page.clock.install()
        page.open()
        if not panel:
            page.run("filebrowser:activate")
            page.panel.wait_for(state="hidden")
        page.page.wait_for_load_state("networkidle")
        heap = Heap(page.page)
        page.page.clock.run_for(60_000)
        before, asked = heap.used(), len(page.traffic.to_the_extension())
        for _ in range(minutes * _LOOKS_A_MINUTE):
            page.page.clock.run_for(60_000 // _LOOKS_A_MINUTE)
            under_way.settle()
        page.page.wait_for_load_state("networkidle")
        requests = len(page.traffic.to_the_extension()) - asked
        rows.append([name, f"{requests:,}", f"{before / 1e6:.1f}", f"{heap.used() / 1e6:.1f}"])
        page.page.context.close()
    columns = ["", "requests to the extension", "heap before, MB", "after, MB"]
    report.table(f"{minutes} minutes on a turned clock", columns, rows)


class _UnderWay:
    """The page's pending calls of the extension."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._calls: set[Request] = set()
        page.on("request", self._begin)
        page.on("requestfinished", self._end)
        page.on("requestfailed", self._end)

    def settle(self) -> None:
        """Wait until there are none."""
        self._page.wait_for_timeout(1)
        while self._calls:
            self._page.wait_for_timeout(1)

    def _begin(self, call: Request) -> None:
        if "/svc-jupyter/api/" in call.url:
            self._calls.add(call)

    def _end(self, call: Request) -> None:
        self._calls.discard(call)


def _answer_with_commands(route: Route, count: int) -> None:
    """Answer a page's call with generated commands, to measure how the page handles that many."""
    wanted = parse_qs(urlparse(route.request.url).query)
    number, size = int(wanted.get("page", ["1"])[0]), int(wanted.get("per_page", ["10"])[0])
    first = (number - 1) * size
    commands = [_command(count - place) for place in range(first, min(first + size, count))]
    following = number + 1 if first + size < count else None
    info = {"page": number, "per_page": size, "next_page": following, "previous_page": number - 1 or None}
    route.fulfill(json={"commands": commands, "paging_info": info})


def _command(number: int) -> dict[str, object]:
    times = {"submit_time": 1_790_000_000 + number, "start_time": 1_790_000_000 + number, "end_time": None}
    ended = {"status": "done", "progress": 100, "end_time": 1_790_000_003 + number}
    fixed = {"command_type": "ShellCommand", "label": "default", "created_at": "2026-09-21T08:00:00Z"}
    return {"id": number, "name": f"command {number}", "command": {"inline": "echo"}, **fixed, **times, **ended}


def _answer_with_schedules(route: Route, count: int) -> None:
    schedules = [_schedule(number) for number in range(1, count + 1)]
    wanted = parse_qs(urlparse(route.request.url).query)
    shown = schedules if wanted.get("status", ["RUNNING"])[0] == "RUNNING" else []
    route.fulfill(body=json.dumps({"schedules": shown, "paging_info": {"page": 1, "next_page": None}}))


def _schedule(number: int) -> dict[str, object]:
    timetable = {"cron_expression": "0 9 * * *", "time_zone": "UTC", "next_materialized_time": "2090-01-01 09:00"}
    fixed = {"status": "RUNNING", "command_type": "ShellCommand", "command": {"inline": "echo"}, "label": "default"}
    return {"id": number, "name": f"schedule {number}", **fixed, **timetable, "macros": [], "last_action": None}
