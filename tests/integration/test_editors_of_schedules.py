"""A schedule runs in its owner's name: who else may say what it runs, and with whose rights, on a real service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import httpx
import pytest
from tests.integration.schedule_calls import NIGHTLY, done_actions
from tests.support.service_process import ServiceProcess

NOTEBOOK = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}
SCHEDULES = {"scheduler": ["all"]}
RUNS = {**SCHEDULES, "command": ["all"], "jupyter_notebook": ["read", "create", "update"]}
NOW = {"cron_expression": "* * * ? * *", "frequency": None}


@dataclass
class Person:
    """A user who has the rights of one role, and calls the service."""

    id: int
    email: str
    role: str
    http: httpx.Client

    def put(self, schedule_id: int, **changes: Any) -> tuple[int, str]:
        answer = self.http.put(f"scheduler/{schedule_id}", json=changes)
        return answer.status_code, answer.text


Invite = Callable[..., Person]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    service = ServiceProcess(tmp_path_factory.mktemp("editors") / "data").start()
    assert service.http.put("account/features", json={"jupyter_notebooks": True}).status_code == 200
    yield service
    service.stop()


@pytest.fixture(scope="module")
def invite(service: ServiceProcess) -> Iterator[Invite]:
    """Makes a user who may do some actions to some resources, and nothing else."""
    people: list[Person] = []
    numbers = count(1)

    def invite(**allowed: list[str]) -> Person:
        role = f"role{next(numbers)}"
        policies = [{"access": "allow", "resource": name, "action": actions} for name, actions in allowed.items()]
        post(service.http, "roles", name=role, policies=policies)
        post(service.http, "groups", name=f"with {role}", roles=role)
        invited = {"invitee_email": f"{role}@example.org", "groups": f"with {role}"}
        user = post(service.http, "users/invite_new", **invited)["user"]
        token = post(service.http, f"users/{user['id']}/tokens", name="t")["token"]
        people.append(Person(user["id"], user["email"], role, service.client(token)))
        return people[-1]

    yield invite
    for person in people:
        person.http.close()


def post(client: httpx.Client, path: str, **body: Any) -> Any:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def scheduled(owner: Person, **fields: Any) -> dict[str, Any]:
    return dict(post(owner.http, "scheduler", **{**NIGHTLY, **fields}))


def first_run(service: ServiceProcess, owner: Person, schedule_id: int, already: int = 0) -> dict[str, Any]:
    """Let a schedule run now, and no more once it has; return its action."""
    assert owner.put(schedule_id, **NOW)[0] == 200
    action = done_actions(service, schedule_id, already + 1)[already]
    assert owner.put(schedule_id, frequency=1, start_time="2199-01-01 00:00")[0] == 200
    return action


def test_to_update_a_schedule_is_not_to_say_what_it_runs(invite: Invite):
    owner, clerk = invite(**RUNS), invite(scheduler=["read", "update"])
    record = scheduled(owner)
    for change in (
        {"command": {"inline": "id"}},
        {"command": {"inline": 5}},  # who may not say it is not told how to
        {"macros": [{"day": "'$(id)'"}]},
        {"label": "elsewhere"},
        {"name": "renamed", "command": {"inline": "id"}},
    ):
        status, text = clerk.put(record["id"], **change)
        assert (status, "permission to create scheduler" in text) == (403, True), (change, text)
    # When it runs, and what it is called, is what `update` is for; clients send back the rest as it was shown.
    unchanged = {key: record[key] for key in ("command", "macros", "label", "time_zone")}
    assert clerk.put(record["id"], **unchanged, name="at night")[0] == 200
    shown = clerk.http.get(f"scheduler/{record['id']}").json()
    assert (shown["name"], shown["command"]) == ("at night", record["command"])


def test_a_schedule_changed_by_another_user_runs_while_both_users_may_run_it(service: ServiceProcess, invite: Invite):
    owner, planner, editor = invite(**RUNS), invite(**SCHEDULES), invite(**RUNS)
    schedule_id = scheduled(owner)["id"]
    status, text = planner.put(schedule_id, command={"inline": "id"})
    assert (status, "permission to create command" in text) == (403, True)
    assert editor.put(schedule_id, command={"inline": "echo edited"})[0] == 200
    run = first_run(service, owner, schedule_id)
    assert (run["status"], service.record(run["query_hist_id"])["user_id"]) == ("done", owner.id)
    assert service.text(run["query_hist_id"]) == "edited\r\n"
    (entry, *_) = [
        entry
        for entry in service.http.get(f"audit?resource=scheduler&object_id={schedule_id}").json()["audit"]
        if entry["user_id"] == editor.id
    ]
    assert entry["detail"]["runs_as"] == [owner.id, editor.id]

    assert service.http.put(f"roles/{editor.role}", json={"policies": []}).status_code == 200
    run = first_run(service, owner, schedule_id, already=service_runs(service, schedule_id))
    assert (run["status"], run["query_hist_id"]) == ("error", None)
    assert f"{editor.email}, who changed what the schedule runs, may not do so any more" in run["message"]

    assert owner.put(schedule_id, command={"inline": "echo mine again"})[0] == 200
    run = first_run(service, owner, schedule_id, already=service_runs(service, schedule_id))
    assert service.text(run["query_hist_id"]) == "mine again\r\n"


def test_a_notebook_that_a_macro_names_is_one_that_both_may_run(service: ServiceProcess, invite: Invite):
    owner, editor = invite(**RUNS), invite(**RUNS)
    for path in (f"Users/{owner.email}/secret.ipynb", "Common/open.ipynb"):
        body = {"type": "notebook", "format": "json", "content": NOTEBOOK}
        assert owner.http.put(f"jupyter_notebooks/contents/{path}", json=body).status_code == 200
    record = scheduled(
        owner, command_type="JupyterNotebookCommand", command={"path": "Common/$f$.ipynb"}, macros=[{"f": "'open'"}]
    )
    assert editor.put(record["id"], command={"path": f"Users/{owner.email}/secret.ipynb"})[0] == 403
    assert (
        editor.put(record["id"], command={"path": f"Users/{owner.email}/$f$.ipynb"}, macros=[{"f": "'secret'"}])[0]
        == 200
    )
    run = first_run(service, owner, record["id"])
    assert run["status"] == "error"
    assert "another user's folder" in run["message"]
    assert "permission to read jupyter_notebook" in run["message"]
    assert editor.put(record["id"], command={"path": "Common/$f$.ipynb"}, macros=[{"f": "'open'"}])[0] == 200
    run = first_run(service, owner, record["id"], already=service_runs(service, record["id"]))
    assert run["status"] == "done", run


def test_who_may_update_notebooks_and_create_their_commands_may_schedule_one(service: ServiceProcess, invite: Invite):
    body = {"type": "notebook", "format": "json", "content": NOTEBOOK}
    assert service.http.put("jupyter_notebooks/contents/Common/nightly.ipynb", json=body).status_code == 200
    person = invite(jupyter_notebook=["update"], jupyter_notebook_command=["create"])
    runs = {"command_type": "JupyterNotebookCommand", "command": {"path": "Common/nightly.ipynb"}, "macros": []}
    answer = person.http.post("scheduler", json={**NIGHTLY, **runs, **NOW})
    assert answer.status_code == 200, answer.text
    (run, *_) = done_actions(service, answer.json()["id"], 1)
    service.http.put(f"scheduler/{answer.json()['id']}", json={"status": "kill"})
    assert run["status"] == "done", run
    command = person.http.post(
        "commands", json={"command_type": "JupyterNotebookCommand", "path": "Common/nightly.ipynb"}
    )
    assert command.status_code == 200, command.text
    for path, other in (
        ("scheduler", {**NIGHTLY, "command": {"inline": "id"}}),
        ("commands", {"command_type": "ShellCommand", "inline": "id"}),
        ("commands", {"inline": "id"}),
    ):
        assert person.http.post(path, json=other).status_code == 403, path
    for lacking in ({"jupyter_notebook": ["update"]}, {"jupyter_notebook_command": ["create"]}):
        assert invite(**lacking).http.post("scheduler", json={**NIGHTLY, **runs}).status_code == 403


def service_runs(service: ServiceProcess, schedule_id: int) -> int:
    """Return how many actions a schedule has had so far, all of them done."""
    total = len(service.http.get(f"scheduler/{schedule_id}/actions?per_page=100").json()["actions"])
    return len(done_actions(service, schedule_id, total))
