"""The views of the extension, each brought up on a service that has something to show; for checks and pictures."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Locator
from tests.browser.lab_page import LabPage
from tests.support.service_process import ServiceProcess, wait_until

MAIN_AREA = (
    "#jp-main-dock-panel > .lm-DockPanel-widget:not(.lm-mod-hidden):not(.jp-NotebookPanel):not(:has(.jp-Launcher))"
)
"""What stands in the main area and is neither a notebook nor the launcher."""
_numbers = itertools.count(1)
_LATE = "0 0 9 1 1 ? 2090"
_DELAYS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
    "SELECT 'carrier ' || i AS carrier, i * 37 % 400 AS flights, round(i * 3.7, 1) AS delay FROM n"
)
_REPORT = (
    new_code_cell("region = 'EU'\ndays = 7", metadata={"tags": ["parameters"]}),
    "import pandas as pd\n\nprint(f'sales of {region} in the last {days} days')",
    "%load_ext svc_jupyter",
    "%%svc_db --tap flights -o delays\nSELECT carrier, count(*) AS flights, avg(dep_delay) AS delay\n"
    "FROM flights WHERE dep_delay > 30 GROUP BY carrier -- by airline",
    '%%svc_shell\nfor day in mon tue; do\n  echo "$day: $(ls | wc -l) files"\ndone',
    "%%svc_pig\nrows = LOAD 'sales.csv' USING PigStorage(',') AS (day:chararray, sum:int);\n"
    "totals = FOREACH (GROUP rows BY day) GENERATE group, SUM(rows.sum);\nDUMP totals;",
)


_DAYS, _RUN_SECONDS = 5, 120
"""So many runs of a notebook there are, and so long they take together at most."""


def furnish(service: ServiceProcess) -> dict[str, int]:
    """Give a service commands, schedules, notebooks and folders; return the ids of some of them by a name."""
    number = next(_numbers)
    running = service.submit("echo loading; sleep 3600", name="nightly load")["id"]
    done = _query(service, "delays by airline", _DELAYS)
    failed = service.submit("echo 'no such file: sales.csv' >&2; exit 3", name="import of sales")["id"]
    schedule = _created(service, "/scheduler", _schedule("hourly report"))["id"]
    suspended = _created(service, "/scheduler", _schedule("weekly clean-up"))["id"]
    service.http.put(f"/scheduler/{suspended}", json={"status": "suspend"}).raise_for_status()
    folder = f"reports {number}"
    _created(service, "/folders", {"name": folder, "location": "Common", "type": "notes"})
    for name in ("2025", "2026"):
        _created(service, "/folders", {"name": name, "location": f"Common/{folder}", "type": "notes"})
    notebook = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    model = {"type": "notebook", "format": "json", "content": notebook}
    service.http.put(f"/jupyter_notebooks/contents/Common/churn {number}.ipynb", json=model).raise_for_status()
    service.ended(done)
    service.ended(failed)
    tap = _shop(service)
    report = _daily_report(service, number, tap)
    cluster = service.http.get("/clusters/default").json()["id"]
    commands = {"running": running, "done": done, "failed": failed}
    return {**commands, "schedule": schedule, "suspended": suspended, "report": report, "cluster": cluster, "tap": tap}


def clear(service: ServiceProcess, ids: dict[str, int]) -> None:
    """End what `furnish` left running."""
    service.http.put(f"/commands/{ids['running']}", json={"status": "kill"})
    for name in ("schedule", "suspended", "report"):
        service.http.put(f"/scheduler/{ids[name]}", json={"status": "kill"})


def panel(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the side panel with its sections."""
    for section in ("Commands", "Schedules", "Clusters", "Notebooks"):  # which `data` has closed
        title = page.panel.get_by_role("button", name=section, exact=True)
        if title.get_attribute("aria-expanded") == "false":
            title.click()
    row_with(page, "nightly load").wait_for()
    row_with(page, "hourly report").wait_for()
    return page.panel


def notebook(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return a notebook with cells of magics."""
    _open_report(page)
    page.page.get_by_text("totals = FOREACH").wait_for()
    return page.notebook


def schedule_form(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the form that schedules the open notebook."""
    _open_report(page)
    page.run("svc-jupyter:schedule-notebook")  # its button is folded away in a narrow window
    form = page.page.get_by_role("form")
    form.filter(has_text=re.compile(r"Next: \w{3} .* · ")).wait_for()
    form.get_by_text(re.compile("^saved")).wait_for()
    return form


def running_command(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the detail of a command that runs."""
    page.run("svc-jupyter:open-command", id=ids["running"])
    detail = _main_area(page)
    detail.get_by_text("loading").last.wait_for()
    return detail


def result(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the detail of a command with a result."""
    page.run("svc-jupyter:open-command", id=ids["done"])
    detail = _main_area(page)
    detail.get_by_role("grid").wait_for()
    return detail


def failure(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the detail of a command that failed."""
    page.run("svc-jupyter:open-command", id=ids["failed"])
    detail = _main_area(page)
    detail.get_by_text("no such file").last.wait_for()
    return detail


def schedule(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the detail of a schedule with its runs."""
    page.run("svc-jupyter:open-schedule", id=ids["report"])
    detail = _main_area(page, "daily report")
    _runs_of(detail).nth(_DAYS - 1).wait_for()
    return detail


def executed(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the executed notebook of the last run of a schedule."""
    _runs_of(schedule(page, ids)).first.get_by_role("button", name="Show the executed notebook").click()
    shown = _main_area(page, "Run of daily report")
    shown.frame_locator("iframe").get_by_text("orders of").last.wait_for()
    return shown


def comparison(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the executed notebooks of two runs side by side."""
    _runs_of(schedule(page, ids)).first.get_by_role("button", name="Compare the run").click()
    shown = page.page.locator(".jp-SvcComparison:visible")
    shown.get_by_text("unchanged").first.wait_for()
    return shown


def runs(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the page of all schedules' runs."""
    page.run("svc-jupyter:show-runs")
    shown = _main_area(page, "hourly report")
    shown.locator(".jp-SvcMark.jp-mod-planned").last.wait_for()
    return shown


def cluster(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the detail of a cluster."""
    page.run("svc-jupyter:open-cluster", cluster=ids["cluster"], name="default")
    return _main_area(page, "default")


def data(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the side panel's tree of taps, with a table's columns."""
    for section in ("Commands", "Schedules", "Clusters", "Notebooks"):
        title = page.panel.get_by_role("button", name=section, exact=True)
        if title.get_attribute("aria-expanded") == "true":
            title.click()
    if not row_with(page, "unit_price").is_visible():
        for name in (f"shop {ids['tap']}", "orders"):
            row = row_with(page, name)
            row.press("ArrowRight")
        row_with(page, "unit_price").wait_for()
    row_with(page, "orders").hover()
    return page.panel


def tap_form(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return the form of a tap."""
    row_with(page, f"shop {ids['tap']}").press("F2")
    form = _main_area(page, "Edit tap").get_by_role("form")
    form.wait_for()
    return form


VIEWS: dict[str, Callable[[LabPage, dict[str, int]], Locator]] = {
    view.__name__: view
    for view in (
        panel,
        running_command,
        result,
        failure,
        schedule,
        executed,
        comparison,
        runs,
        cluster,
        data,
        tap_form,
        notebook,
        schedule_form,
    )
}
"""Every view by its name, for an open page and the ids of `furnish`."""


def row_with(page: LabPage, text: str) -> Locator:
    """Return the rows of the side panel's lists with this text."""
    return page.panel.get_by_role("row").filter(has_text=text).first


def _open_report(page: LabPage) -> None:
    if not (page.folder / "report.ipynb").exists():
        page.write_notebook("report.ipynb", *_REPORT)
    page.run("docmanager:open", path=f"{page.name}/report.ipynb")
    page.notebook.wait_for()


def _main_area(page: LabPage, text: str = "") -> Locator:
    """Return what stands in the main area beside notebooks, once it shows a text."""
    view = page.page.locator(MAIN_AREA)
    view.filter(has_text=text).first.wait_for()
    return view


def _runs_of(detail: Locator) -> Locator:
    """Return the runs in a schedule's table."""
    return detail.get_by_role("row").filter(has=detail.page.get_by_role("button", name="Run again for"))


def _daily_report(service: ServiceProcess, number: int, tap: int) -> int:
    """Schedule a notebook, wait for its runs of the last days, one of which fails, and return the schedule's id."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = [f"{today - timedelta(days=before):%Y-%m-%d}" for before in reversed(range(_DAYS))]
    cells = [
        new_markdown_cell("# Orders of a day\n\nThe ten customers that ordered most."),
        new_code_cell("day = 'today'", metadata={"tags": ["parameters"]}),
        new_code_cell(f"assert day != '{days[-3]}', f'orders of {{day}} are not there yet'\nprint('orders of', day)"),
        new_code_cell("%load_ext svc_jupyter"),
        new_code_cell(
            f'%%svc_db --tap "shop {tap}"\nSELECT customer_id, count(*) AS orders, sum(unit_price) AS revenue\n'
            "FROM orders GROUP BY customer_id ORDER BY revenue DESC LIMIT 10"
        ),
    ]
    path = f"Common/daily report {number}.ipynb"
    model = {"type": "notebook", "format": "json", "content": new_notebook(cells=cells)}
    service.http.put(f"/jupyter_notebooks/contents/{path}", json=model).raise_for_status()
    body = {
        "command_type": "JupyterNotebookCommand",
        "command": {"path": path, "arguments": {"day": "$day$"}},
        "macros": [{"day": "Service_nominal_time.format('YYYY-MM-DD')"}],
        "name": "daily report",
        "frequency": 1,
        "time_unit": "days",
        "start_time": f"{days[0]} 00:00",
        "time_zone": "UTC",
    }
    made = int(_created(service, "/scheduler", body)["id"])

    def has_run() -> bool:
        actions = service.http.get(f"/scheduler/{made}/actions").json()["actions"]
        return len(actions) >= _DAYS and all(action["done"] for action in actions)

    wait_until(has_run, "every run of the daily report", _RUN_SECONDS)
    return made


def _schedule(name: str) -> dict[str, Any]:
    command = {"inline": "echo report"}
    return {"command_type": "ShellCommand", "command": command, "name": name, "cron_expression": _LATE}


def _query(service: ServiceProcess, name: str, query: str) -> int:
    """Submit a query of an empty SQLite database; return the command's id."""
    file = service.data_dir / "storage" / "flights.db"
    file.parent.mkdir(parents=True, exist_ok=True)
    sqlite3.connect(file).close()
    tap = {"name": f"flights {next(_numbers)}", "db_type": "sqlite", "db_name": str(file)}
    body = {"db_tap_id": _created(service, "/db_taps", tap)["id"], "query": query, "name": name}
    return int(_created(service, "/commands", {"command_type": "DbTapQueryCommand", **body})["id"])


def _shop(service: ServiceProcess) -> int:
    """Make a tap of a database with tables, named after its id; return the id."""
    file = service.data_dir / "storage" / f"shop {next(_numbers)}.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            "CREATE TABLE customers (id INTEGER, name TEXT, city TEXT);"
            "CREATE TABLE orders (id INTEGER, customer_id INTEGER, ordered_at TIMESTAMP, unit_price NUMERIC(10, 2));"
            "CREATE TABLE products (id INTEGER, name TEXT);"
            "CREATE VIEW revenue AS SELECT sum(unit_price) AS total FROM orders;"
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4321)"
            " INSERT INTO orders SELECT i, i % 97, '2026-01-01', i % 50 FROM n;"
        )
    made = _created(service, "/db_taps", {"name": file.stem, "db_type": "sqlite", "db_name": str(file)})
    named = service.http.put(f"/db_taps/{made['id']}", json={"name": f"shop {made['id']}"})
    return int(named.raise_for_status().json()["id"])


def _created(service: ServiceProcess, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = service.http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())
