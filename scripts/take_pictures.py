"""Take pictures of every view of the JupyterLab extension: `python -m scripts.take_pictures FOLDER`.

Each view is taken in light and dark. It uses a real service and JupyterLab with sample data, in the machine's Chromium,
and needs the extra `test`. The pictures in docs/pictures are selected from these.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser
from tests.browser import views
from tests.browser.chromium import running_chromium
from tests.browser.conftest import switch_on
from tests.browser.lab_page import DARK, LIGHT, LabPage
from tests.browser.lab_process import LabProcess
from tests.conftest import end_commands_of
from tests.support.engines import engine_at_once
from tests.support.hadoop import end_clusters_of, start_cluster, use_hadoop
from tests.support.service_process import ServiceProcess

from svc_jupyter.service.installs.engine import Engine

_LOOKS = {"light": LIGHT, "dark": DARK}


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the pictures into a folder; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[0])
    parser.add_argument("folder", type=Path, help="where the pictures go, as VIEW-LOOK.png")
    parser.add_argument(
        "--view", action="append", choices=list(views.VIEWS), help="only this view; repeatable (default: all)"
    )
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    names = chosen.view or list(views.VIEWS)
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
            lab.start()
            with running_chromium() as browser:
                for look in _LOOKS:
                    _take(browser, lab, ids, look, chosen.folder, names)
        finally:
            lab.stop()
            service.kill()
            end_clusters_of(service.data_dir)
            end_commands_of(service.data_dir)
    return 0


def _take(
    browser: Browser, lab: LabProcess, ids: dict[str, int], look: str, folder: Path, names: Sequence[str]
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = LabPage(context, lab).open(theme=_LOOKS[look])
    for name in names:
        views.VIEWS[name](page, ids)
        page.page.screenshot(path=folder / f"{name}-{look}.png")
    context.close()


if __name__ == "__main__":
    sys.exit(main())
