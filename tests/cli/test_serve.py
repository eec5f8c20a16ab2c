"""What `svc-jupyter serve` refuses before it opens anything."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from svc_jupyter.cli.main import main


def test_a_provider_whose_package_is_missing_is_refused_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("SVC_CLUSTER_PROVIDER", "hosts")
    monkeypatch.setitem(sys.modules, "asyncssh", None)
    assert main(["serve", "--data-dir", str(tmp_path / "data")]) == 2
    assert capsys.readouterr().err == (
        "svc-jupyter: SVC_CLUSTER_PROVIDER=hosts: it reaches its hosts by SSH, for which asyncssh is not installed: "
        "pip install 'svc-jupyter[hosts]'\n"
    )
    assert not (tmp_path / "data").exists()
    assert gc.isenabled()


def test_a_provider_without_its_inventory_is_refused_with_the_setting_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("SVC_CLUSTER_PROVIDER", "hosts")
    assert main(["serve", "--data-dir", str(tmp_path / "data")]) == 2
    assert capsys.readouterr().err == (
        "svc-jupyter: SVC_CLUSTER_PROVIDER=hosts: it takes its machines from an inventory: "
        "set SVC_HOSTS_INVENTORY to the file that lists them\n"
    )
