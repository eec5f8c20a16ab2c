"""The open notebook by schedule: its copy, its runs, what they made."""

from __future__ import annotations

import json
import re
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


def test_a_scheduled_notebook_is_copied_and_is_found_by_its_path(jupyter: JupyterProcess) -> None:
    jupyter.write_notebook("deep/er/report ä.ipynb", "1 + 1")
    made = scheduled(jupyter, "deep/er/report ä.ipynb", name="of ä", command={"arguments": {"days": 7}})
    assert re.fullmatch(rf"{COPIES}/\w+-\w+/deep/er/report ä\.ipynb", made["command"]["path"])
    assert made["command"]["arguments"] == {"days": 7}
    found = jupyter.http.get("/schedules", params={"notebook": "deep/er/report ä.ipynb"}).json()["schedules"]
    assert [record["id"] for record in found] == [made["id"]]
    assert jupyter.http.get("/schedules", params={"notebook": "report ä.ipynb"}).json()["schedules"] == []
    everything = jupyter.http.get("/schedules", params={"page": "all"}).json()["schedules"]
    assert made["id"] in [record["id"] for record in everything]


def test_a_repair_for_a_copy_is_reported(jupyter: JupyterProcess) -> None:
    cell = {
        "cell_type": "code",
        "id": "c",
        "execution_count": None,
        "metadata": {"tags": None},
        "outputs": [],
        "source": "",
    }
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (jupyter.root / "odd.ipynb").write_text(json.dumps(notebook))
    said = scheduled(jupyter, "odd.ipynb")["copy_message"]
    assert said.startswith("the notebook was repaired: ")
    run = jupyter.http.post("/runs", json={"notebook": "odd.ipynb", "command": {}})
    assert run.json()["copy_message"] == said
    assert jupyter.http.put("/schedules/copy", json={"notebook": "odd.ipynb"}).json()["copy_message"] == said
    uploaded = jupyter.http.post("/uploads", json={"path": "odd.ipynb", "to": "Users/admin@localhost/odd.ipynb"})
    assert uploaded.json()["message"] == said
    jupyter.write_notebook("even.ipynb", "1")
    assert scheduled(jupyter, "even.ipynb")["copy_message"] is None


def test_the_parameters_of_a_notebook_are_read_without_running_it(jupyter: JupyterProcess) -> None:
    source = "days: int | None = 7; half = 5//2\nbig = 1239162456494753671\nfull = True\nwho = 'ann'\nrate = 1_0.5"
    cell = {"cell_type": "code", "source": source, "metadata": {"tags": ["parameters"]}}
    notebook = {"cells": [cell], "metadata": {"kernelspec": {"language": "python"}}}
    answer = jupyter.http.post("/notebook_parameters", json={"notebook": notebook}).json()
    assert answer["problem"] is None
    assert [(each["name"], each["type"], each["text"], each["code"]) for each in answer["parameters"]] == [
        ("days", "int", "7", "7"),
        ("half", None, None, "5//2"),
        ("big", "int", "1239162456494753671", "1239162456494753671"),
        ("full", "bool", "true", "True"),
        ("who", "str", "ann", "'ann'"),
        ("rate", "float", "10.5", "1_0.5"),
    ]
    cell["source"] = "days = ("
    unreadable = jupyter.http.post("/notebook_parameters", json={"notebook": notebook}).json()
    assert unreadable == {"parameters": [], "problem": "line 1: '(' was never closed"}
    none = jupyter.http.post("/notebook_parameters", json={"notebook": {"cells": []}}).json()
    assert none == {"parameters": [], "problem": None}
    for wrong in (None, [], 1):
        assert jupyter.http.post("/notebook_parameters", json={"notebook": wrong}).status_code == 422, wrong


def test_a_notebook_edited_since_is_reported_and_can_be_stored_again(jupyter: JupyterProcess) -> None:
    jupyter.write_notebook("edited.ipynb", "1")
    scheduled(jupyter, "edited.ipynb")
    query = {"notebook": "edited.ipynb"}
    assert jupyter.http.get("/schedules/copy", params=query).json()["is_current"] is True
    jupyter.write_notebook("edited.ipynb", "2")
    assert jupyter.http.get("/schedules/copy", params=query).json()["is_current"] is False
    [cell] = jupyter.http.get("/schedules/copy/comparison", params=query).json()["cells"]
    assert cell["source"] == [["1", "2"]]
    assert jupyter.http.put("/schedules/copy", json=query).status_code == 200
    assert jupyter.http.get("/schedules/copy", params=query).json()["is_current"] is True


def test_a_schedule_is_edited_suspended_resumed_and_killed(jupyter: JupyterProcess) -> None:
    jupyter.write_notebook("life.ipynb", "1")
    made = scheduled(jupyter, "life.ipynb")
    place = f"/schedules/{made['id']}"
    assert jupyter.http.put(place, json={"name": "renamed"}).json()["name"] == "renamed"
    assert jupyter.http.put(place, json={"status": "suspend"}).json()["status"] == "SUSPENDED"
    assert jupyter.http.put(place, json={"status": "resume"}).json()["status"] == "RUNNING"
    assert jupyter.http.put(place, json={"status": "kill"}).json()["status"] == "KILLED"
    assert jupyter.http.get(place).json()["status"] == "KILLED"
    assert jupyter.http.get("/schedules", params={"notebook": "life.ipynb"}).json()["schedules"] == []


def test_it_runs_now_as_a_command_of_its_own(jupyter: JupyterProcess) -> None:
    jupyter.write_notebook("now.ipynb", "print(6 * 7)")
    made = scheduled(jupyter, "now.ipynb", command={"retry": 2})
    record = jupyter.http.post(f"/schedules/{made['id']}/run").json()
    assert (record["command_type"], record["retry"]) == ("JupyterNotebookCommand", 0)

    def ended() -> dict[str, Any] | None:
        now = dict(jupyter.http.get(f"/commands/{record['id']}", params={"wait": 10}).json())
        return now if now["status"] in ("done", "error") else None

    assert wait_until(ended, "the end of the run", 60)["status"] == "done"
    assert "42" in jupyter.http.get(f"/commands/{record['id']}/results").json()["results"]
    [run] = jupyter.http.get(f"/schedules/{made['id']}/runs").json()["commands"]
    assert (run["id"], run["status"]) == (record["id"], "done")
    [*_, cell] = jupyter.http.get(f"/commands/{record['id']}/comparison/{record['id']}").json()["cells"]
    assert (cell["is_same"], cell["outputs"]) == (True, [["42", "42"]])
    changed = {"schedule": made["id"], "command": {"path": made["command"]["path"], "arguments": {"n": 1}}}
    again = jupyter.http.post("/runs", json=changed).json()
    assert [one["id"] for one in jupyter.http.get(f"/schedules/{made['id']}/runs").json()["commands"]] == [
        again["id"],
        record["id"],
    ]
    newest = {run["schedule_id"]: run["command"]["id"] for run in jupyter.http.get("/runs").json()["runs"]}
    assert newest[made["id"]] == again["id"]


def test_a_notebook_runs_once_without_a_schedule(jupyter: JupyterProcess) -> None:
    jupyter.write_notebook("once.ipynb", "days = 1", "print('for', days)")
    body = {"notebook": "once.ipynb", "name": "once", "command_timeout": 60, "command": {"arguments": {"days": 7}}}
    record = jupyter.http.post("/runs", json={**body, **YEARLY}).json()
    assert (record["name"], record["timeout"]) == ("once", 60)
    assert record["command"]["arguments"] == {"days": 7}
    assert re.fullmatch(rf"{COPIES}/\w+-\w+/once\.ipynb", record["command"]["path"])
    again = {"command": {"path": record["command"]["path"]}}
    assert jupyter.http.post("/runs", json=again).json()["command"]["path"] == record["command"]["path"]
    assert jupyter.http.get("/schedules", params={"notebook": "once.ipynb"}).json()["schedules"] == []
    assert jupyter.http.post("/runs", json={"notebook": 7}).status_code == 422
    refused = jupyter.http.post("/runs", json={**again, "command_timeout": "long"})
    assert (refused.status_code, "timeout" in refused.json()["message"]) == (422, True)


def test_an_actions_log_and_executed_notebook_are_shown_and_nothing_in_it_runs(jupyter: JupyterProcess) -> None:
    jupyter.write_notebook("action.ipynb", "print('from the ' + 'action')")
    made = scheduled(jupyter, "action.ipynb", cron_expression=None, frequency=1, time_unit="days")
    place = f"/schedules/{made['id']}"

    def first() -> dict[str, Any] | None:
        actions = jupyter.http.get(f"{place}/actions").json()["actions"]
        return next((action for action in actions if action["status"] in ("done", "error")), None)

    action = wait_until(first, "the end of the first action", 60)
    assert action["status"] == "done"
    assert "from the action" in jupyter.http.get(f"/actions/{action['id']}/logs").text
    executed_at = f"/commands/{action['query_hist_id']}/notebook"
    page = jupyter.http.get(executed_at)
    assert "from the action" in page.text
    assert page.headers["Content-Type"].startswith("text/html")
    assert page.headers["Content-Security-Policy"].startswith("sandbox;")
    executed = jupyter.http.get(executed_at, params={"format": "ipynb"}).json()
    assert executed["cells"][-1]["outputs"][0]["text"] in ("from the action\n", ["from the action\n"])
    assert jupyter.http.get(executed_at, params={"format": "pdf"}).status_code == 422
    assert jupyter.http.post(f"/actions/{action['id']}/rerun").json()["status"] == "rescheduled"
    assert jupyter.http.put(f"/actions/{action['id']}/kill").json() == {"kill_succeeded": "false"}  # it has ended
    assert jupyter.http.get(f"/actions/{action['id']}").json()["id"] == action["id"]
    assert jupyter.http.put(place, json={"status": "kill"}).status_code == 200


def test_a_preview_shows_the_next_runs(jupyter: JupyterProcess) -> None:
    body = {"command": {"path": "$p$"}, "macros": [{"p": '"x.ipynb"'}], **YEARLY}
    preview = jupyter.http.post("/schedules/preview", json=body).json()
    assert preview["command"] == {"path": "x.ipynb"}


def test_a_form_shows_what_is_wrong_before_it_is_sent(jupyter: JupyterProcess) -> None:
    answer = jupyter.http.post("/schedules/preview", json={"name": "<img>", **YEARLY})
    assert (answer.status_code, answer.json()["message"].partition(":")[0]) == (422, "name")


def test_who_can_be_notified_of_runs_is_listed(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    channel = {"name": "night watch", "type": "email", "target": "watch@example.com"}
    made = service.http.post("/notification_channels", json=channel).json()
    listed = jupyter.http.get("/notification_channels", params={"per_page": 100}).json()["notification_channels"]
    assert [one["name"] for one in listed if one["id"] == made["id"]] == ["night watch"]
    service.http.delete(f"/notification_channels/{made['id']}").raise_for_status()


def test_the_actions_of_all_schedules_are_listed(jupyter: JupyterProcess) -> None:
    jupyter.write_notebook("listed.ipynb", "1")
    made = scheduled(jupyter, "listed.ipynb", cron_expression=None, frequency=1)

    def begun() -> bool:
        actions = jupyter.http.get("/actions", params={"per_page": 1}).json()["actions"]
        return [action["periodic_job_id"] for action in actions] == [made["id"]]

    wait_until(begun, "its first action", 60)
    assert jupyter.http.put(f"/schedules/{made['id']}", json={"status": "kill"}).status_code == 200


def test_a_schedule_of_anything_but_a_notebook_is_refused(jupyter: JupyterProcess) -> None:
    (jupyter.root / "notes.txt").write_text("no notebook")
    (jupyter.root / "folder").mkdir(exist_ok=True)

    def refusal(path: Any) -> tuple[int, str]:
        answer = jupyter.http.post("/schedules", json={"notebook": path, **YEARLY})
        return answer.status_code, answer.json()["message"]

    assert refusal("nowhere.ipynb")[0] == 404
    assert refusal("notes.txt") == (422, "notes.txt is not a notebook: only notebooks can be scheduled")
    assert refusal("folder")[0] == 422
    assert refusal("../outside.ipynb")[0] == 404
    assert refusal(7)[0] == 422
    answer = jupyter.http.post("/schedules", json={"notebook": "notes.txt", "command": 7})
    assert answer.status_code == 422


def test_a_notebook_of_50_mb_is_refused_in_the_services_words_and_leaves_nothing(
    jupyter: JupyterProcess, service: ServiceProcess
) -> None:
    def copies() -> set[str]:
        listed = service.http.get(f"/jupyter_notebooks/contents/{COPIES}")
        return set() if listed.status_code == 404 else {child["name"] for child in listed.json()["content"]}

    before = copies()
    jupyter.write_notebook("large.ipynb", f"x = '{'a' * 50_000_000}'")
    answer = jupyter.http.post("/schedules", json={"notebook": "large.ipynb", **YEARLY})
    assert (answer.status_code, "larger than" in answer.json()["message"]) == (413, True)
    (jupyter.root / "large.ipynb").unlink()
    assert copies() <= before


def test_the_services_own_words_reach_the_page(jupyter: JupyterProcess) -> None:
    jupyter.write_notebook("wrong.ipynb", "1")
    answer = jupyter.http.post("/schedules", json={"notebook": "wrong.ipynb", "frequency": 1, **YEARLY})
    assert answer.status_code == 422
    assert "cron_expression" in answer.json()["error"]["error_message"]
    assert answer.json()["message"] == answer.json()["error"]["error_message"]
