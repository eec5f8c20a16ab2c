"""A home, a data folder and an environment of the test's own, and a service in them that ends with the test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc_jupyter.cli.main import main


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the user's own settings counts; the data folder is named and not made."""
    for name in [name for name in os.environ if name.startswith("SVC_")]:
        monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    folder = tmp_path / "data"
    monkeypatch.setenv("SVC_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def service(data_dir: Path) -> Iterator[Path]:
    """The data folder, whose service is stopped at the end."""
    yield data_dir
    assert main(["stop"]) == 0
