"""Notebook commands of a whole service: from the submission to the results, and through cancel, timeout and kill -9."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tests.conftest import end_commands_of
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.processes.marks import marked_processes

NOTEBOOK, HTML = "application/x-ipynb+json", "text/html"
ENDLESS = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service with notebooks switched on, whose timeouts are checked each second."""
    service = ServiceProcess(
        tmp_path_factory.mktemp("notebooks") / "data", timeout_check_seconds=1, kill_grace_seconds=3
    ).start()
    switch_on(service)
    yield service
    service.kill()
    end_commands_of(service.data_dir)


def switch_on(service: ServiceProcess) -> None:
    assert service.http.put("/account/features", json={"jupyter_notebooks": True}).status_code == 200


def store(service: ServiceProcess, path: str, *cells: str) -> dict[str, Any]:
    """Store a notebook of some code cells; return it."""
    content = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    body = {"type": "notebook", "format": "json", "content": content}
    response = service.http.put(f"/jupyter_notebooks/contents/{path}", json=body)
    assert response.status_code == 200, response.text
    return dict(content)


def stored(service: ServiceProcess, path: str) -> Any:
    return service.http.get(f"/jupyter_notebooks/contents/{path}").json()["content"]


def submit(service: ServiceProcess, path: str, **fields: Any) -> int:
    body = {"command_type": "JupyterNotebookCommand", "path": path, **fields}
    response = service.http.post("/commands", json=body)
    assert response.status_code == 200, response.text
    return int(response.json()["id"])


def executed(service: ServiceProcess, command_id: int) -> Any:
    response = service.http.get(f"/commands/{command_id}/results", headers={"Accept": NOTEBOOK})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].split(";")[0] == NOTEBOOK
    return nbformat.reads(response.text, as_version=4)


def is_over(command_folder: Path) -> bool:
    return next(marked_processes(command_folder), None) is None


def test_a_composites_notebook_without_retries_of_its_own_has_those_of_the_composite(
    service: ServiceProcess, tmp_path: Path
):
    tried = tmp_path / "tried"
    cell = f"import pathlib\np = pathlib.Path({str(tried)!r})\nn = p.exists()\np.touch()\nassert n, 'the first time'"
    store(service, "Common/part.ipynb", cell, "6 * 7")
    part = {"command_type": "JupyterNotebookCommand", "path": "Common/part.ipynb", "retry": None, "retry_delay": None}
    body = {"command_type": "CompositeCommand", "sub_commands": [part], "retry": 2, "retry_delay": 0}
    response = service.http.post("/commands", json=body)
    assert response.status_code == 200, response.text
    composite = service.ended(response.json()["id"])
    assert composite["status"] == "done", service.logs(composite["id"])
    [child] = service.http.get("/commands", params={"parent_id": composite["id"]}).json()["commands"]
    assert len(service.record(child["id"])["attempts"]) == 2
    assert service.text(composite["id"]).strip() == "42"
    told = service.http.get("/audit", params={"object_id": "Common/part.ipynb", "action": "replace"}).json()["audit"]
    assert [entry["detail"] for entry in told] == [{"command_id": child["id"]}]


def test_a_notebook_is_run_with_its_arguments_and_comes_back_executed(service: ServiceProcess):
    store(service, "Common/report.ipynb", "unused = 0", "print(day, days)\n6 * 7")
    macros = [{"yesterday": '"2026-01-31"'}]
    arguments = json.dumps({"day": "$yesterday$", "days": 7})
    command_id = submit(service, "Common/report.ipynb", arguments=arguments, macros=macros)
    record = service.ended(command_id)
    assert (record["status"], record["progress"], record["message"]) == ("done", 100, None)
    assert record["command"]["arguments"] == {"day": "$yesterday$", "days": 7}
    assert service.text(command_id) == "2026-01-31 7\r\n42\r\n"
    log = service.logs(command_id)
    assert log.index("cell 2 of 3: unused = 0") < log.index("cell 3 of 3: print(day, days)") < log.index("42")
    assert log.endswith("Common/report.ipynb was replaced by its executed copy\n")
    assert executed(service, command_id).cells == nbformat.from_dict(stored(service, "Common/report.ipynb")).cells


def test_the_executed_notebook_is_shown_as_a_page_in_a_sandbox(service: ServiceProcess):
    store(service, "Common/page.ipynb", "print('<on the page>')")
    command_id = submit(service, "Common/page.ipynb")
    service.ended(command_id)
    page = service.http.get(f"/commands/{command_id}/results", headers={"Accept": f"{HTML},*/*;q=0.8"})
    assert page.headers["content-type"].split(";")[0] == HTML
    assert "sandbox" in page.headers["content-security-policy"]
    assert "&lt;on the page&gt;" in page.text
    plain = service.http.get(f"/commands/{command_id}/results", headers={"Accept": "application/json"})
    assert plain.json() == {"inline": True, "results": "<on the page>\r\n"}


def test_a_run_that_fails_keeps_the_source_and_gives_the_notebook_as_far_as_it_came(service: ServiceProcess):
    before = store(service, "Common/fails.ipynb", "print('kept')", "1 / 0", "print('never')")
    command_id = submit(service, "Common/fails.ipynb", retry=1, retry_delay=0)
    record = service.ended(command_id)
    assert record["status"] == "error"
    assert record["message"].startswith("cell 2 of 3: ZeroDivisionError: division by zero, in line 1: 1 / 0\n")
    assert [attempt["exit_code"] for attempt in record["attempts"]] == [1, 1]
    assert [len(cell.outputs) for cell in executed(service, command_id).cells] == [1, 1, 0]
    assert stored(service, "Common/fails.ipynb")["cells"] == before["cells"]
    inline = service.http.get(f"/commands/{command_id}/results")
    assert inline.status_code == 422


def test_a_cancellation_and_a_timeout_end_the_kernel_and_keep_its_outputs(service: ServiceProcess):
    store(service, "Common/endless.ipynb", "import subprocess\nsubprocess.Popen(['sleep', '1000'])", ENDLESS)
    cancelled = submit(service, "Common/endless.ipynb")
    wait_until(lambda: "begun" in service.logs(cancelled), "the endless cell")
    running = service.http.get(f"/commands/{cancelled}/results", headers={"Accept": NOTEBOOK})
    assert running.status_code == 422
    assert service.record(cancelled)["progress"] in (0, 49)
    answer = service.http.put(f"/commands/{cancelled}", json={"status": "kill"}).json()
    assert answer["kill_succeeded"], answer
    timed_out = submit(service, "Common/endless.ipynb", timeout=15)  # a kernel may take seconds to begin
    assert service.ended(timed_out, 60)["message"].startswith("timed out")
    for command_id in (cancelled, timed_out):
        assert executed(service, command_id).cells[1].outputs[0].text == "begun\n"
        assert is_over(service.folder(command_id) / "1")
    assert "begun" not in str(stored(service, "Common/endless.ipynb")["cells"][1]["outputs"])


def test_an_invalid_notebook_command_is_refused_with_the_reason(service: ServiceProcess):
    def refused(**fields: Any) -> tuple[int, str]:
        response = service.http.post("/commands", json={"command_type": "JupyterNotebookCommand", **fields})
        return response.status_code, response.json()["error"]["error_message"]

    store(service, "Common/a.ipynb", "1")
    start = "JupyterNotebookCommand could not be created: "
    assert refused(path="Common/no.ipynb") == (422, f"{start}path: there is no file or folder Common/no.ipynb")
    assert refused(path="Common/a.ipynb", arguments={"a": None}) == (
        422,
        f"{start}arguments: 'a' must be a string, integer, float or boolean",
    )
    assert refused(path="Common/a.ipynb", retry=4)[0] == 422
    service.http.put("/account/features", json={"jupyter_notebooks": False})
    try:
        assert refused(path="Common/a.ipynb")[0] == 403
    finally:
        switch_on(service)


def test_a_command_of_another_type_or_one_that_never_began_has_no_notebook(service: ServiceProcess):
    shell = service.submit("echo x")["id"]
    service.ended(shell)
    answer = service.http.get(f"/commands/{shell}/results", headers={"Accept": HTML})
    assert answer.json() == {"inline": True, "results": "x\r\n"}
    store(service, "Common/gone.ipynb", "1")
    command_id = submit(service, "Common/$name$.ipynb", macros=[{"name": '"nosuch"'}])
    assert service.ended(command_id)["message"] == "there is no file or folder Common/nosuch.ipynb"
    answer = service.http.get(f"/commands/{command_id}/results", headers={"Accept": NOTEBOOK})
    assert answer.status_code == 404


def test_a_run_goes_on_when_the_service_is_killed_and_is_found_again(
    new_service: Callable[..., ServiceProcess], tmp_path: Path
):
    service = new_service().start()
    switch_on(service)
    count, go = tmp_path / "count", tmp_path / "go"
    store(
        service,
        "Common/long.ipynb",
        f"with open({str(count)!r}, 'a') as file: print('once', file=file)",
        f"import os, time\nprint('begun', flush=True)\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)",
        "print('to the end')",
    )
    command_id = submit(service, "Common/long.ipynb")
    wait_until(lambda: "begun" in service.logs(command_id), "the waiting cell")
    pid = int((service.folder(command_id) / "1" / "pid").read_text().split()[0])
    service.kill()
    assert psutil.pid_exists(pid)
    service.start()
    go.touch()
    record = service.ended(command_id)
    assert (record["status"], record["pid"], len(record["attempts"])) == ("done", pid, 1)
    assert service.text(command_id) == "to the end\r\n"
    assert count.read_text() == "once\n"
    assert stored(service, "Common/long.ipynb")["cells"][2]["outputs"][0]["text"] == "to the end\n"
