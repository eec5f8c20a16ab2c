"""A colleague's notebook over HTTP: what a policy opens, also to commands and schedules, and what it closes again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tests.conftest import end_commands_of
from tests.support.service_process import ServiceProcess

CONTENTS = "/jupyter_notebooks/contents"
PATH = "Users/ann@example.org/report.ipynb"
OF_IT = {"source_type": "jupyter_notebook", "source_id": PATH}
RUN = {"command_type": "JupyterNotebookCommand", "path": PATH}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    service = ServiceProcess(tmp_path_factory.mktemp("notebook_policies") / "data").start()
    service.http.put("/account/features", json={"jupyter_notebooks": True})
    yield service
    service.kill()
    end_commands_of(service.data_dir)


@pytest.fixture(scope="module")
def people(service: ServiceProcess) -> Iterator[dict[str, tuple[int, httpx.Client]]]:
    found = {}
    for name in ("ann", "bob"):
        invited = service.http.post("/users/invite_new", json={"invitee_email": f"{name}@example.org"}).json()["user"]
        token = service.http.post(f"/users/{invited['id']}/tokens", json={"name": "laptop"}).json()["token"]
        found[name] = (invited["id"], service.client(token))
    yield found
    for _, client in found.values():
        client.close()


@pytest.fixture
def ann(people: dict[str, tuple[int, httpx.Client]]) -> httpx.Client:
    """Ann, whose notebook has no policy."""
    client = people["ann"][1]
    client.delete(f"{CONTENTS}/{PATH}")
    cell = new_code_cell("print('run by', 6 * 7)")
    assert client.put(f"{CONTENTS}/{PATH}", json={"content": new_notebook(cells=[cell])}).status_code == 200
    return client


@pytest.fixture
def bob(people: dict[str, tuple[int, httpx.Client]]) -> httpx.Client:
    return people["bob"][1]


@pytest.fixture
def bob_id(people: dict[str, tuple[int, httpx.Client]]) -> int:
    return people["bob"][0]


def decide(ann: httpx.Client, access: str, bob_id: int, *actions: str) -> dict[str, Any]:
    policy = [{"access": access, "condition": {"service_users": [bob_id]}, "action": list(actions)}]
    answer = ann.put("/object_policy/policy", json={**OF_IT, "policy": policy})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def submissions(by: httpx.Client) -> list[httpx.Response]:
    """Answers to the notebook as a command, as a part of one, and on a schedule."""
    composite = {"command_type": "CompositeCommand", "sub_commands": [RUN]}
    schedule = {"command_type": RUN["command_type"], "command": {"path": PATH}, "cron_expression": "0 0 9 1 1 ? 2090"}
    return [by.post("/commands", json=RUN), by.post("/commands", json=composite), by.post("/scheduler", json=schedule)]


def test_a_notebook_is_named_by_its_path_wherever_policies_are_asked_for(ann, bob_id):
    unset = {"policies": [], **OF_IT, "path": PATH}
    assert ann.get("/object_policy/policy", params=OF_IT).json() == unset
    assert ann.request("GET", "/object_policy/policy", json=OF_IT).json() == unset
    number = decide(ann, "allow", bob_id, "read")["source_id"]
    shown = ann.get("/object_policy/policy", params={**OF_IT, "source_id": number}).json()
    assert (shown["source_id"], shown["path"], len(shown["policies"])) == (number, PATH, 1)
    assert len(ann.get("/object_policy/history", params=OF_IT).json()["history"]) == 1
    told = ann.get("/object_policy/decision", params={**OF_IT, "user": bob_id, "action": "read"}).json()
    assert told["decisions"] == [
        {"action": "read", "allowed": True, "because": f"entry 1 of the object's policy allows this to user {bob_id}"}
    ]
    wrong = ann.get("/object_policy/policy", params={"source_type": "note", "source_id": PATH})
    assert (wrong.status_code, "a note is named by its id" in wrong.text) == (422, True)
    wrong = ann.get("/object_policy/policy", params={"source_type": "pipeline", "source_id": 1})
    assert (wrong.status_code, wrong.json()["error"]["error_message"]) == (
        404,
        "there is no pipeline 1 in this account",
    )


def test_who_may_not_read_a_notebook_submits_no_run_of_it(ann, bob, bob_id):
    assert [answer.status_code for answer in submissions(bob)] == [403] * 3
    decide(ann, "allow", bob_id, "read")
    answers = submissions(bob)
    assert [answer.status_code for answer in answers] == [200] * 3
    bob.put(f"/scheduler/{answers[2].json()['id']}", json={"status": "kill"})
    decide(ann, "deny", bob_id, "read")
    for answer in submissions(bob):
        assert answer.status_code == 403
        assert f"denies this to user {bob_id} (permission to read jupyter_notebook {PATH})" in answer.text


def test_a_run_writes_back_only_with_the_permission_to_update(service: ServiceProcess, ann, bob, bob_id):
    def run() -> tuple[str, list[Any]]:
        number = bob.post("/commands", json=RUN).json()["id"]
        assert service.ended(number, 60)["status"] == "done", service.logs(number)
        return service.logs(number), ann.get(f"{CONTENTS}/{PATH}").json()["content"]["cells"][0]["outputs"]

    decide(ann, "allow", bob_id, "read")
    log, outputs = run()
    assert f"{PATH} could not be replaced" in log
    assert f"permission to update jupyter_notebook {PATH}" in log
    assert outputs == []
    decide(ann, "allow", bob_id, "read", "update")
    log, outputs = run()
    assert f"{PATH} was replaced by its executed copy" in log
    assert outputs[0]["text"] == "run by 42\n"


def test_a_policy_counts_when_the_run_begins_not_when_it_was_submitted(
    service: ServiceProcess, ann, bob, bob_id, tmp_path: Path
):
    decide(ann, "allow", bob_id, "read")
    wait = f"until [ -e '{tmp_path}/go' ]; do sleep 0.05; done"
    parts = [{"command_type": "ShellCommand", "inline": wait}, RUN]
    number = bob.post("/commands", json={"command_type": "CompositeCommand", "sub_commands": parts}).json()["id"]
    decide(ann, "deny", bob_id, "read")
    (tmp_path / "go").touch()
    assert service.ended(number)["status"] == "error"
    assert f"denies this to user {bob_id} (permission to read jupyter_notebook {PATH})" in service.logs(number)
