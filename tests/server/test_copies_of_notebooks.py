"""Which copy of a notebook a schedule runs, what changes it, and when it goes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.server.jupyter_process import JupyterProcess
from tests.support.service_process import ServiceProcess, wait_until

pytestmark = pytest.mark.xdist_group("jupyter-server")

COPIES = "Users/admin@localhost/Scheduled"
YEARLY = {"cron_expression": "0 0 1 1 *"}


def scheduled(jupyter: JupyterProcess, path: str, **fields: Any) -> dict[str, Any]:
    answer = jupyter.http.post("/schedules", json={"notebook": path, **YEARLY, **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def source_at(service: ServiceProcess, place: str) -> str | None:
    """Return the first cell of a notebook in the service; None where nothing is."""
    answer = service.http.get(f"/jupyter_notebooks/contents/{place}")
    return None if answer.status_code == 404 else str(answer.json()["content"]["cells"][0]["source"])


def folders(service: ServiceProcess) -> set[str]:
    """Return the names of the folders of all copies."""
    answer = service.http.get(f"/jupyter_notebooks/contents/{COPIES}")
    return set() if answer.status_code == 404 else {child["name"] for child in answer.json()["content"]}


def path_of(service: ServiceProcess, schedule: dict[str, Any]) -> str:
    return str(service.http.get(f"/scheduler/{schedule['id']}").json()["command"]["path"])


def wait_until_gone(service: ServiceProcess, place: str) -> None:
    wait_until(lambda: source_at(service, place) is None, f"{place} is removed", 30)


def test_a_second_schedule_leaves_what_the_first_one_runs(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    jupyter.write_notebook("own.ipynb", "'first'")
    first = scheduled(jupyter, "own.ipynb")
    jupyter.write_notebook("own.ipynb", "'second'")
    second = scheduled(jupyter, "own.ipynb")
    assert source_at(service, path_of(service, first)) == "'first'"
    assert source_at(service, path_of(service, second)) == "'second'"
    assert jupyter.http.get("/schedules/copy", params={"notebook": "own.ipynb"}).json() == {
        "path": path_of(service, first),
        "is_current": False,
    }


def test_a_run_by_hand_leaves_what_a_schedule_runs(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    jupyter.write_notebook("tried.ipynb", "'scheduled'")
    made = scheduled(jupyter, "tried.ipynb")
    jupyter.write_notebook("tried.ipynb", "'tried'")
    record = jupyter.http.post("/runs", json={"notebook": "tried.ipynb"}).json()
    tried = record["command"]["path"]
    assert source_at(service, path_of(service, made)) == "'scheduled'"
    ended = service.http.get(f"/commands/{record['id']}", params={"wait": 60}).json()
    assert ended["status"] == "done"
    jupyter.http.put(f"/schedules/{made['id']}", json={"status": "kill"}).raise_for_status()
    wait_until_gone(service, tried)


def test_a_refused_creation_leaves_nothing(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    jupyter.write_notebook("refused.ipynb", "'scheduled'")
    made = scheduled(jupyter, "refused.ipynb")
    jupyter.write_notebook("refused.ipynb", "'refused'")
    before = folders(service)

    def refused(path: str, **body: Any) -> None:
        assert jupyter.http.post(path, json={"notebook": "refused.ipynb", **body}).status_code == 422

    refused("/schedules", frequency=1, **YEARLY)
    refused("/schedules", command=7, **YEARLY)
    refused("/runs", command_timeout="long")
    assert folders(service) <= before
    assert source_at(service, path_of(service, made)) == "'scheduled'"


def test_an_update_gives_all_schedules_of_the_notebook_a_new_copy(
    jupyter: JupyterProcess, service: ServiceProcess
) -> None:
    jupyter.write_notebook("updated.ipynb", "'first'")
    made = [scheduled(jupyter, "updated.ipynb", command={"arguments": {"days": days}, "retry": 2}) for days in (7, 30)]
    before = [path_of(service, one) for one in made]
    jupyter.write_notebook("updated.ipynb", "'second'")
    updated = jupyter.http.put("/schedules/copy", json={"notebook": "updated.ipynb"}).json()
    assert updated["is_current"] is True
    after = [service.http.get(f"/scheduler/{one['id']}").json() for one in made]
    assert [one["command"]["path"] for one in after] == [updated["path"]] * 2
    assert [one["command"]["arguments"] for one in after] == [{"days": 7}, {"days": 30}]
    assert [one["retry"] for one in after] == [2, 2]
    assert source_at(service, updated["path"]) == "'second'"
    for place in before:
        wait_until_gone(service, place)


def test_without_a_schedule_there_is_no_copy_to_update(jupyter: JupyterProcess) -> None:
    jupyter.write_notebook("unscheduled.ipynb", "1")
    query = {"notebook": "unscheduled.ipynb"}
    words = "no schedule runs a copy of unscheduled.ipynb: schedule it first"
    for answer in (jupyter.http.get("/schedules/copy", params=query), jupyter.http.put("/schedules/copy", json=query)):
        assert (answer.status_code, answer.json()["message"]) == (404, words)
    assert jupyter.http.put("/schedules/copy", json={}).status_code == 422


def test_a_copy_that_somebody_deleted_is_behind_and_comes_back(
    jupyter: JupyterProcess, service: ServiceProcess
) -> None:
    jupyter.write_notebook("deleted.ipynb", "'still here'")
    made = scheduled(jupyter, "deleted.ipynb")
    service.http.delete(f"/jupyter_notebooks/contents/{path_of(service, made)}").raise_for_status()
    query = {"notebook": "deleted.ipynb"}
    assert jupyter.http.get("/schedules/copy", params=query).json()["is_current"] is False
    jupyter.http.put("/schedules/copy", json=query).raise_for_status()
    assert source_at(service, path_of(service, made)) == "'still here'"


def test_a_killed_schedules_copy_goes_and_others_stay(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    jupyter.write_notebook("killed.ipynb", "1")
    killed, suspended = scheduled(jupyter, "killed.ipynb"), scheduled(jupyter, "killed.ipynb")
    jupyter.http.put(f"/schedules/{suspended['id']}", json={"status": "suspend"}).raise_for_status()
    jupyter.http.put(f"/schedules/{killed['id']}", json={"status": "kill"}).raise_for_status()
    wait_until_gone(service, path_of(service, killed))
    assert source_at(service, path_of(service, suspended)) == "1"


def test_a_schedule_that_is_done_keeps_its_copy_for_reruns(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    now = datetime.now(UTC)
    times = {"start_time": f"{now - timedelta(hours=2):%F %R}", "end_time": f"{now + timedelta(hours=1):%F %R}"}
    jupyter.write_notebook("done.ipynb", "1")
    body = {"notebook": "done.ipynb", "frequency": 1, "time_unit": "days", "time_zone": "UTC", **times}
    made = jupyter.http.post("/schedules", json=body).json()
    place = f"/scheduler/{made['id']}"
    wait_until(lambda: service.http.get(place).json()["status"] == "DONE", "the schedule is done", 60)
    aside = scheduled(jupyter, "done.ipynb")
    jupyter.http.put(f"/schedules/{aside['id']}", json={"status": "kill"}).raise_for_status()
    wait_until_gone(service, path_of(service, aside))
    action, *_ = jupyter.http.get(f"/schedules/{made['id']}/actions").json()["actions"]
    assert jupyter.http.post(f"/actions/{action['id']}/rerun").json()["status"] == "rescheduled"
    rerun = wait_until(lambda: _done_rerun(service, place), "the end of the rerun", 60)
    assert rerun["status"] == "done"


def _done_rerun(service: ServiceProcess, place: str) -> dict[str, Any] | None:
    found = service.http.get(f"{place}/actions").json()["actions"]
    return next((one for one in found if one["is_rerun_of"] and one["done"]), None)


def test_a_copy_stays_while_a_command_runs_it(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    go = jupyter.folder / "go"
    wait = f"import os, time\nwhile not os.path.exists({str(go)!r}):\n    time.sleep(0.05)"
    jupyter.write_notebook("running.ipynb", wait)
    running = jupyter.http.post("/runs", json={"notebook": "running.ipynb"}).json()
    jupyter.write_notebook("aside.ipynb", "1")
    aside = scheduled(jupyter, "aside.ipynb")
    jupyter.http.put(f"/schedules/{aside['id']}", json={"status": "kill"}).raise_for_status()
    wait_until_gone(service, path_of(service, aside))
    assert source_at(service, running["command"]["path"]) is not None
    go.touch()
    ended = service.http.get(f"/commands/{running['id']}", params={"wait": 60}).json()
    assert ended["status"] == "done"


def test_two_servers_of_one_user_have_copies_and_schedules_of_their_own(
    jupyter: JupyterProcess, service: ServiceProcess, new_jupyter: Callable[..., JupyterProcess]
) -> None:
    other = new_jupyter(base_url=service.base_url, token=service.token)
    for server, source in ((jupyter, "'here'"), (other, "'there'")):
        server.write_notebook("both.ipynb", source)
    here, there = scheduled(jupyter, "both.ipynb"), scheduled(other, "both.ipynb")
    assert source_at(service, path_of(service, here)) == "'here'"
    assert source_at(service, path_of(service, there)) == "'there'"
    found = other.http.get("/schedules", params={"notebook": "both.ipynb"}).json()["schedules"]
    assert [record["id"] for record in found] == [there["id"]]
    other.http.put(f"/schedules/{there['id']}", json={"status": "kill"}).raise_for_status()
    wait_until_gone(service, path_of(service, there))
    assert source_at(service, path_of(service, here)) == "'here'"
