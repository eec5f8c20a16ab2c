"""Take pictures of every view of the JupyterLab extension: `python -m scripts.take_pictures FOLDER`.

Each view is taken in light and dark, in a window of any width. It uses a real service and JupyterLab with sample data,
in the machine's Chromium, and needs the extra `test`. The pictures in docs/pictures are selected from these.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, Locator, expect
from tests.browser import views
from tests.browser.chromium import running_chromium
from tests.browser.conftest import switch_on
from tests.browser.lab_page import DARK, LIGHT, LabPage
from tests.browser.lab_process import LabProcess
from tests.conftest import end_commands_of
from tests.support.engines import engine_at_once
from tests.support.hadoop import end_clusters_of, start_cluster, use_hadoop
from tests.support.service_process import ServiceProcess
from tests.support.spark import LOCAL

from svc_jupyter.service.installs.engine import Engine

_LOOKS = {"light": LIGHT, "dark": DARK}
_PARAGRAPHS = (
    "%pyspark\nspark.range(4321).selectExpr('id', 'id % 97 as customer', 'id % 50 as price')"
    ".createOrReplaceTempView('orders')",
    "%sql\nselect customer, count(*) as orders, sum(price) as revenue\n"
    "from orders where price > ${least=20} group by customer order by revenue desc",
)
_CELL = """%%svc_db --tap "shop {tap}" -o customers
SELECT customer_id, count(*) AS orders, sum(unit_price) AS revenue
FROM orders GROUP BY customer_id ORDER BY revenue DESC"""


def cell(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return a notebook whose last cell has a result."""
    if not (page.folder / "customers.ipynb").exists():
        page.write_notebook("customers.ipynb", "%load_ext svc_jupyter", _CELL.format(tap=ids["tap"]))
    page.run("docmanager:open", path=f"{page.name}/customers.ipynb")
    page.wait_for_kernel()
    for number in (0, 1, 1):  # the second query is as fast as all that follow
        shown = page.run_cell(number)
    expect(shown.get_by_role("button", name="Download")).to_be_enabled()  # all rows are there, not only the saved ones
    return shown


def note(page: LabPage, ids: dict[str, int]) -> Locator:
    """Return a note whose cells have run in the session of its Spark cluster."""
    copy = page.lab.http.post(f"/notes/{ids['note']}/copy", json={"name": "orders", "to": page.name}).json()
    page.run("docmanager:open", path=f"{page.name}/{copy['name']}")
    page.wait_for_kernel()
    for number in range(len(_PARAGRAPHS)):
        page.run_cell(number)
    return page.notebook


def new_tap(page: LabPage, _ids: dict[str, int]) -> Locator:
    """Return the form that adds a tap."""
    page.run("svc-jupyter:add-tap")
    form = page.page.get_by_role("form", name="New tap")
    form.get_by_label("Type").select_option(label="PostgreSQL")
    for label, text in {"Name": "warehouse", "Host": "db.example.com", "Database": "sales", "User": "reader"}.items():
        form.get_by_label(label, exact=True).fill(text)
    return form


def launcher(page: LabPage, _ids: dict[str, int]) -> Locator:
    """Return the launcher with the cards of the service."""
    page.run("launcher:create")
    card = page.page.locator(".jp-LauncherCard", has_text="New note").last
    card.scroll_into_view_if_needed()
    return card


def palette(page: LabPage, _ids: dict[str, int]) -> Locator:
    """Return the command palette with what the service offers."""
    page.run("apputils:activate-command-palette")
    page.page.locator(".lm-CommandPalette-input").fill("data service")
    found = page.page.locator(".lm-CommandPalette-content")
    found.wait_for()
    return found


_VIEWS = {**views.VIEWS, "cell": cell, "note": note, "new_tap": new_tap, "launcher": launcher, "palette": palette}


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the pictures into a folder; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[0])
    parser.add_argument("folder", type=Path, help="where the pictures go, as VIEW-LOOK.png")
    parser.add_argument(
        "--view", action="append", choices=list(_VIEWS), help="only this view; repeatable (default: all)"
    )
    parser.add_argument("--width", type=int, default=1280, help="of the window, in pixels (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    names = chosen.view or list(_VIEWS)
    with tempfile.TemporaryDirectory(prefix="svc-pictures-") as place:
        service = ServiceProcess(Path(place) / "service" / "data")
        lab = LabProcess(Path(place) / "lab", service.start())
        try:
            switch_on(service)
            if "cluster" in names:
                engine_at_once(Engine.HADOOP)
                use_hadoop(service)
                start_cluster(service)
            ids = views.furnish(service)
            if "note" in names:
                engine_at_once(Engine.SPARK)
                ids["note"] = _note(service)
            lab.start()
            with running_chromium() as browser:
                for look in _LOOKS:
                    _take(browser, lab, ids, look, chosen, names)
        finally:
            lab.stop()
            service.kill()
            end_clusters_of(service.data_dir)
            end_commands_of(service.data_dir)
    return 0


def _note(service: ServiceProcess) -> int:
    """Make a note on a small Spark cluster; return its id."""
    settings = {"hadoop_settings": {"use_spark": True, "custom_config": LOCAL}}
    service.http.put("/clusters/spark", json=settings).raise_for_status()
    cluster = service.http.get("/clusters/spark").json()["id"]
    paragraphs = [{"id": f"p{number}", "text": text} for number, text in enumerate(_PARAGRAPHS)]
    body = {"name": "orders", "location": "Common", "cluster_id": cluster, "paragraphs": paragraphs}
    return int(service.http.post("/notebooks", json=body).json()["id"])


def _take(
    browser: Browser, lab: LabProcess, ids: dict[str, int], look: str, chosen: argparse.Namespace, names: Sequence[str]
) -> None:
    context = browser.new_context()
    page = LabPage(context.new_page(), lab).open(theme=_LOOKS[look])
    for name in names:
        page.clear()
        page.page.set_viewport_size({"width": chosen.width, "height": 800})
        page.show_panel()
        _VIEWS[name](page, ids)
        page.page.screenshot(path=chosen.folder / f"{name}-{look}.png")
    context.close()


if __name__ == "__main__":
    sys.exit(main())
