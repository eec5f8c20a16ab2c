"""`svc-jupyter lab` ends in a JupyterLab whose side panel is connected to the service of this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.browser.lab_page import SECONDS
from tests.conftest import end_commands_of
from tests.server import jupyter_process
from tests.support.service_process import wait_until

_ADDRESS = r"http://127\.0\.0\.1:\d+/lab\S*[?&]token=\w+"
_START_SECONDS = 90.0


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address that the command prints; what it started is ended afterwards."""
    data_dir, log_file = tmp_path / "data", tmp_path / "lab.log"
    own = {name: str(tmp_path / name.lower()) for name in ("HOME", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR")}
    environment = {**os.environ, **own, "SVC_DATA_DIR": str(data_dir)}
    command = [sys.executable, "-m", "svc_jupyter"]
    with log_file.open("w") as log:
        process = subprocess.Popen(
            [*command, "lab", "--no-browser"], cwd=tmp_path, env=environment, stdout=log, stderr=log
        )
    try:
        wait_until(lambda: re.search(_ADDRESS, log_file.read_text()), "JupyterLab's address", _START_SECONDS)
        yield re.findall(_ADDRESS, log_file.read_text())[0]
    finally:
        jupyter_process.end(process)
        subprocess.run([*command, "stop"], env=environment, check=True, capture_output=True)
        end_commands_of(data_dir)


def test_the_panel_is_connected(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address)
        page.get_by_role("tab", name="Service").click(timeout=SECONDS * 1000)
        panel = page.locator("#svc-jupyter-panel")
        expect(panel).to_contain_text("connected · admin@localhost", timeout=SECONDS * 1000)
        expect(panel.get_by_role("row").filter(has_text="default")).to_be_visible(timeout=SECONDS * 1000)
