"""The decision between sandboxes and none, and what it says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from svc_jupyter.cli.checks.finding import Mark
from svc_jupyter.cli.checks.machine import check_isolation
from svc_jupyter.cli.main import main
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.isolation import bubblewrap
from svc_jupyter.service.isolation.isolation import Isolation

INSTALL = "install it: sudo apt install bubblewrap (or: sudo dnf install bubblewrap)"

NEEDS_BUBBLEWRAP = pytest.mark.all
"""The gate asks the machine for no bubblewrap."""


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without it."""
    which = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, *rest, **named: None if name == "bwrap" else which(name, *rest, **named)
    )


@pytest.fixture
def forbidden_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine on which it is installed, but must not make namespaces."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


@pytest.mark.usefixtures("no_bubblewrap")
def test_a_service_that_must_isolate_does_not_start_without_bubblewrap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("SVC_ISOLATION", "on")
    assert main(["serve", "--data-dir", str(tmp_path / "data")]) == 2
    assert capsys.readouterr().err == f"svc-jupyter: SVC_ISOLATION=on: bubblewrap is not installed; {INSTALL}\n"
    assert not (tmp_path / "data").exists()
    assert check_isolation(Settings()).mark is Mark.WRONG


@pytest.mark.usefixtures("no_bubblewrap")
def test_without_bubblewrap_a_service_for_a_team_starts_and_says_what_that_means(tmp_path: Path):
    settings = Settings(data_dir=tmp_path, isolation="auto")
    isolation = Isolation.of(settings)
    with capture_logs() as logs:
        isolation.say()
    assert (isolation.state, logs[0]["log_level"], logs[0]["event"]) == ("off", "warning", "isolation_off")
    assert (logs[0]["reason"], logs[0]["advice"]) == ("bubblewrap is not installed", INSTALL)
    assert check_isolation(settings).fix == INSTALL


def test_bubblewrap_is_found_where_the_path_has_it_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A process that has looked in vain once, with another path, does not keep that."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("PATH", str(tmp_path / "elsewhere"))
        assert str(bubblewrap.found()).startswith("bubblewrap is not installed")
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = bubblewrap.found()
    assert isinstance(found, bubblewrap.Bubblewrap)
    assert found.argv([], ["true"])[0] == str(program)


@pytest.mark.usefixtures("forbidden_bubblewrap")
def test_where_bubblewrap_must_not_make_namespaces_its_own_words_are_shown():
    fault = bubblewrap.found()
    assert str(fault).startswith(
        "bubblewrap cannot make a sandbox: bwrap: No permissions to create new namespace; allow user namespaces"
    )


@NEEDS_BUBBLEWRAP
def test_the_service_for_one_person_isolates_only_when_told(tmp_path: Path):
    assert Isolation.of(Settings(data_dir=tmp_path, isolation="auto", embedded=True)).state == "off"
    assert Isolation.of(Settings(data_dir=tmp_path, isolation="on", embedded=True)).state == "on"


@NEEDS_BUBBLEWRAP
def test_isolated_programs_inherit_only_what_is_named(tmp_path: Path):
    isolation = Isolation.of(Settings(data_dir=tmp_path, isolation="on", isolation_variables=["OUR_REGION"]))
    inherited = {"PATH": "/bin", "LC_ALL": "C", "OUR_REGION": "eu", "AWS_SECRET_ACCESS_KEY": "x", "SVC_PORT": "1"}
    assert isolation.environment(inherited) == {"PATH": "/bin", "LC_ALL": "C", "OUR_REGION": "eu"}
