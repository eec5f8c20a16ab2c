from __future__ import annotations

from pathlib import Path

import pytest

from svc_jupyter.cli import docs
from svc_jupyter.cli.main import main


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    addresses: list[str] = []
    monkeypatch.setattr("webbrowser.open", addresses.append)
    return addresses


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(docs, "_CLONE", tmp_path)
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(tmp_path / "environment"))
    return tmp_path


@pytest.mark.parametrize("place", [Path("build", "docs"), Path("environment") / docs.IN_WHEEL])
def test_it_opens_the_site_of_a_clone_or_of_a_wheel(
    clone: Path, place: Path, opened: list[str], capsys: pytest.CaptureFixture[str]
):
    (clone / place).mkdir(parents=True)
    (clone / place / "index.html").touch()
    assert main(["docs"]) == 0
    assert opened == [(clone / place / "index.html").as_uri()]
    assert main(["docs", "--no-browser"]) == 0
    assert len(opened) == 1
    assert capsys.readouterr().out == f"{opened[0]}\n" * 2


def test_without_a_site_it_names_the_command_that_builds_it(
    clone: Path, opened: list[str], capsys: pytest.CaptureFixture[str]
):
    (clone / "scripts").mkdir()
    (clone / "scripts" / "docs.sh").touch()
    assert main(["docs"]) == 1
    assert f"bash {clone / 'scripts' / 'docs.sh'}" in capsys.readouterr().err
    assert opened == []


def test_an_installed_package_without_a_site_says_where_it_can_be_built(
    clone: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["docs"]) == 1
    assert "in a clone of its source, run bash scripts/docs.sh" in capsys.readouterr().err
