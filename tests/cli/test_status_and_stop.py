from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest
from tests.support.service_process import wait_until

from svc_jupyter.cli.embedded import embedded_client, embedded_service
from svc_jupyter.cli.main import main
from svc_jupyter.cli.status import NOT_RUNNING


def leave_service_json(data_dir: Path, pid: int, base_url: str = "http://127.0.0.1:9") -> None:
    data_dir.mkdir(exist_ok=True)
    content = {"base_url": base_url, "token": "t0ken", "pid": pid, "version": "0.1.0"}
    (data_dir / "service.json").write_text(json.dumps(content))


def test_status_of_a_service_that_was_never_started(data_dir: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["status"]) == NOT_RUNNING
    assert f"not running (data folder {data_dir})" in capsys.readouterr().out
    assert not data_dir.exists()


@pytest.mark.service
def test_status_shows_address_process_and_commands(service: Path, capsys: pytest.CaptureFixture[str]):
    with embedded_client() as client:
        command = client.commands.submit("ShellCommand", inline="sleep 100")
        wait_until(lambda: command.status() == "running", "the command to run")
        assert main(["status"]) == 0
        command.cancel()
        found = embedded_service().find()
    assert found is not None
    output = capsys.readouterr().out
    assert f"running at {found.base_url}, process {found.pid}" in output
    assert "commands: 1 running, 0 waiting" in output
    assert found.token not in output


@pytest.mark.service
def test_stop_ends_the_service_and_its_running_command_is_found_again(
    service: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    go_on = tmp_path / "go on"
    with embedded_client() as client:
        script = f"until [ -e '{go_on}' ]; do sleep 0.05; done; echo went on"
        command = client.commands.submit("ShellCommand", inline=script)
        wait_until(lambda: command.status() == "running", "the command to run")
    first = embedded_service().find()
    assert first is not None
    assert main(["stop"]) == 0
    assert f"stopped (process {first.pid})" in capsys.readouterr().out
    assert not embedded_service().is_held()
    go_on.touch()
    with embedded_client() as client:
        assert client.commands.get(command.id).wait().result().text().strip() == "went on"


def test_stop_without_a_service_has_nothing_to_do(data_dir: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["stop"]) == 0
    assert "no service runs" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["stop", "status"])
def test_a_file_left_behind_is_no_service_even_when_its_process_id_is_in_use(
    data_dir: Path, capsys: pytest.CaptureFixture[str], command: str
):
    # The test's own process: were it taken for the service, it would be ended.
    leave_service_json(data_dir, os.getpid())
    (data_dir / "service.lock").touch()
    assert main([command]) == {"stop": 0, "status": NOT_RUNNING}[command]


def test_stop_leaves_a_process_alone_that_does_not_answer_as_the_service(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
):
    leave_service_json(data_dir, os.getpid())
    with (data_dir / "service.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main(["stop"]) == 1
    error = capsys.readouterr().err
    assert "does not answer" in error
    assert "t0ken" not in error
