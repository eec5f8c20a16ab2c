from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from svc_jupyter.cli import lab
from svc_jupyter.cli.main import main


def arguments(**given: object) -> argparse.Namespace:
    return argparse.Namespace(**{"notebook": None, "port": None, "no_browser": False} | given)


def test_it_serves_the_current_folder(tmp_path: Path):
    command = lab.jupyterlab_command(arguments(), tmp_path, as_root=False)
    assert command == [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={tmp_path}"]


def test_a_notebook_below_the_current_folder_is_opened_in_it(tmp_path: Path):
    command = lab.jupyterlab_command(arguments(notebook=Path("work/a b.ipynb")), tmp_path, as_root=False)
    assert command[3:] == ["--LabApp.default_url=/lab/tree/work/a%20b.ipynb", f"--ServerApp.root_dir={tmp_path}"]


def test_a_notebook_elsewhere_is_opened_in_its_own_folder(tmp_path: Path):
    (tmp_path / "here").mkdir()
    notebook = tmp_path / "there" / "a.ipynb"
    command = lab.jupyterlab_command(arguments(notebook=notebook), tmp_path / "here", as_root=False)
    assert command[3:] == ["--LabApp.default_url=/lab/tree/a.ipynb", f"--ServerApp.root_dir={tmp_path / 'there'}"]


def test_options_are_passed_on_and_root_is_allowed_for_root(tmp_path: Path):
    command = lab.jupyterlab_command(arguments(port=9999, no_browser=True), tmp_path, as_root=True)
    assert command[4:] == ["--port=9999", "--no-browser", "--allow-root"]


def test_a_notebook_that_is_not_there_is_reported_before_anything_starts(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["lab", "missing.ipynb"]) == 1
    assert capsys.readouterr().err == "svc-jupyter lab: there is no missing.ipynb\n"
    assert not data_dir.exists()


def test_without_jupyterlab_it_says_how_to_get_it(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(lab, "find_spec", lambda _: None)
    assert main(["lab"]) == 1
    assert "pip install jupyterlab" in capsys.readouterr().err
