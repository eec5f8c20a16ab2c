"""The service: a notebook run, a schedule that fires, a command found again after kill -9, magics in a real kernel."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tests.conftest import end_commands_of
from tests.integration.kernel_session import KernelSession
from tests.support.service_process import ServiceProcess, wait_until

pytestmark = [pytest.mark.gate, pytest.mark.xdist_group("paths-service")]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service with notebooks switched on; a test may kill it and start it again."""
    service = ServiceProcess(tmp_path_factory.mktemp("service") / "data", kill_grace_seconds=1).start()
    try:
        assert service.http.put("/account/features", json={"jupyter_notebooks": True}).status_code == 200
        yield service
    finally:
        service.kill()
        end_commands_of(service.data_dir)


def test_a_notebook_runs_with_its_arguments_and_comes_back_executed(service: ServiceProcess) -> None:
    cell = new_code_cell("print(day)\n6 * 7")
    body = {"type": "notebook", "format": "json", "content": new_notebook(cells=[cell])}
    assert service.http.put("/jupyter_notebooks/contents/Common/report.ipynb", json=body).status_code == 200
    run = {"command_type": "JupyterNotebookCommand", "path": "Common/report.ipynb", "arguments": {"day": "2026-01-31"}}
    submitted = service.http.post("/commands", json=run)
    assert submitted.status_code == 200, submitted.text
    record = service.ended(submitted.json()["id"], 90)
    assert (record["status"], record["message"]) == ("done", None)
    assert service.text(record["id"]) == "2026-01-31\r\n42\r\n"
    stored = service.http.get("/jupyter_notebooks/contents/Common/report.ipynb").json()["content"]
    assert stored["cells"][-1]["outputs"][-1]["data"]["text/plain"] == "42"


def test_a_schedule_fires_for_each_nominal_time(service: ServiceProcess) -> None:
    start = datetime.now(UTC) - timedelta(minutes=2)
    body = {
        "command_type": "ShellCommand",
        "command": {"inline": "echo $minute$"},
        "macros": [{"minute": "Service_nominal_time.format('HH:mm')"}],
        "start_time": f"{start:%Y-%m-%dT%H:%MZ}",
        "frequency": 1,
        "time_unit": "minutes",
        "time_zone": "UTC",
    }
    made = service.http.post("/scheduler", json=body)
    assert made.status_code == 200, made.text
    path = f"/scheduler/{made.json()['id']}"

    def first_two() -> list[dict[str, object]] | None:
        done = [each for each in service.http.get(f"{path}/actions").json()["actions"] if each["done"]]
        return done[::-1][:2] if len(done) > 1 else None

    actions = wait_until(first_two, "two actions", 90)
    wanted = [f"{start + timedelta(minutes=after):%H:%M}\r\n" for after in (0, 1)]
    assert [service.text(each["query_hist_id"]) for each in actions] == wanted
    assert service.http.put(path, json={"status": "kill"}).json()["status"] == "KILLED"


def test_a_command_goes_on_while_its_service_is_killed_and_is_found_again(
    service: ServiceProcess, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    command = service.submit(f"echo begun; until [ -e {go} ]; do sleep 0.05; done; echo went on; exit 7")["id"]
    out = service.folder(command) / "1" / "out"
    wait_until(lambda: out.exists() and out.read_text(), "the begin of the script", 60)
    service.kill()
    service.start()
    assert service.record(command)["status"] == "running"
    go.touch()
    record = service.ended(command, 60)
    assert (record["status"], [each["exit_code"] for each in record["attempts"]]) == ("error", [7])
    assert out.read_text() == "begun\nwent on\n"


def test_magics_in_a_kernel_give_frames(service: ServiceProcess, tmp_path: Path) -> None:
    file = service.data_dir / "storage" / "planes.db"
    file.parent.mkdir(exist_ok=True)
    with sqlite3.connect(file) as database:
        database.execute("create table planes (tail text, seats integer)")
        database.executemany("insert into planes values (?, ?)", [("N1", 100), ("N2", 200)])
    database.close()
    tap = service.http.post("/db_taps", json={"name": "planes", "db_type": "sqlite", "db_name": str(file)})
    assert tap.status_code == 200, tap.text
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    places = {"HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path / "ipython")}
    kernel = KernelSession(clean | places | {"SVC_BASE_URL": service.base_url, "SVC_API_TOKEN": service.token})
    try:
        assert kernel.run("%load_ext svc_jupyter").status == "ok"
        shell = kernel.run("%%svc_shell -o lines\necho hi; echo '<there>'")
        assert shell.status == "ok", shell.error
        assert kernel.value("list(lines['line'])") == ["hi", "<there>"]
        query = kernel.run("%%svc_db --tap planes -o planes\nselect * from planes where seats > 150")
        assert query.status == "ok", query.error
        assert kernel.value("planes.values.tolist()") == [["N2", 200]]
        failed = kernel.run("%%svc_db --tap planes\nselect * from nowhere")
        assert failed.status == "error"
        assert "no such table: nowhere" in failed.error
    finally:
        kernel.close()
