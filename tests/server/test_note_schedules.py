"""A note that is open as a notebook: what is scheduled is the note, not a copy of the notebook."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from tests.server.jupyter_process import JupyterProcess
from tests.support.service_process import ServiceProcess

from svc_jupyter.server.handlers.schedules import submission_of

pytestmark = pytest.mark.xdist_group("jupyter-server")

YEARLY = {"cron_expression": "0 0 1 1 *"}


@pytest.fixture(scope="module")
def cluster(service: ServiceProcess) -> int:
    """A Spark cluster that nothing starts."""
    body = {"label": ["of-notes"], "hadoop_settings": {"use_spark": True}}
    return int(service.http.post("/clusters", json=body).json()["id"])


def a_note(jupyter: JupyterProcess, service: ServiceProcess, name: str, cluster: int | None) -> tuple[int, str]:
    """Return a new note with the form `carrier`, and the path of the notebook that it is opened as."""
    paragraphs = [{"id": "p1", "text": "%sql\nselect '${carrier=AA}'"}]
    body = {"name": name, "location": "Common", "paragraphs": paragraphs, "cluster_id": cluster}
    note = service.http.post("/notebooks", json=body).json()["id"]
    return note, jupyter.http.post(f"/notes/{note}/copy", json={"name": name, "to": ""}).json()["path"]


def of(jupyter: JupyterProcess, path: str) -> dict[str, Any]:
    return dict(jupyter.http.get("/schedules", params={"notebook": path}).json())


def test_the_schedule_of_a_note_runs_the_note_with_the_values_of_its_forms(
    jupyter: JupyterProcess, service: ServiceProcess, cluster: int
) -> None:
    note, path = a_note(jupyter, service, "nightly", cluster)
    known = of(jupyter, path)
    assert known["schedules"] == []
    assert (known["note"]["id"], known["note"]["cluster_id"]) == (note, cluster)
    assert [(form["name"], form["default"]) for form in known["note"]["forms"]] == [("carrier", "AA")]
    assert "paragraphs" not in known["note"]
    body = {"notebook": path, "name": "of the note", "command": {"arguments": {"carrier": "UA"}}, **YEARLY}
    made = jupyter.http.post("/schedules", json=body).json()
    command = made["command"]
    assert (made["command_type"], command["note_id"], command["language"]) == ("SparkCommand", note, "notebook")
    assert json.loads(command["arguments"]) == {"carrier": "UA"}
    assert (made["label"], made["has_label"]) == ("default", False)
    assert "label" not in submission_of(made)  # a run by hand: the note's cluster has another label
    [found] = of(jupyter, path)["schedules"]
    assert found["id"] == made["id"]
    # Its command goes back as it came, with other values.
    changed = {"command": {**command, "arguments": {"carrier": "DL"}}, "label": "of-notes"}
    edited = jupyter.http.put(f"/schedules/{made['id']}", json=changed).json()
    assert (edited["has_label"], submission_of(edited)["label"]) == (True, "of-notes")
    assert json.loads(edited["command"]["arguments"]) == {"carrier": "DL"}
    assert jupyter.http.put(f"/schedules/{made['id']}", json={"status": "kill"}).json()["status"] == "KILLED"
    assert of(jupyter, path)["schedules"] == []


def test_a_run_once_of_a_note_is_a_run_of_the_note(
    jupyter: JupyterProcess, service: ServiceProcess, cluster: int
) -> None:
    _, path = a_note(jupyter, service, "at once", cluster)
    refused = jupyter.http.post("/runs", json={"notebook": path, "label": "no such cluster"})
    assert refused.status_code == 422
    assert refused.json()["message"].startswith("SparkCommand could not be created")


def test_a_note_that_somebody_else_has_saved_since_is_not_scheduled_as_if_it_were_this_one(
    jupyter: JupyterProcess, service: ServiceProcess, cluster: int
) -> None:
    note, path = a_note(jupyter, service, "of two", cluster)
    theirs = {"paragraphs": [{"id": "p1", "text": "%md\ntheirs"}]}
    service.http.put(f"/notebooks/{note}", json=theirs).raise_for_status()
    for call in ("/schedules", "/runs"):
        refused = jupyter.http.post(call, json={"notebook": path, **YEARLY})
        assert refused.status_code == 409, call
        assert f"somebody else has saved the note Common/of two since {path} was opened" in refused.json()["message"]
    assert of(jupyter, path)["schedules"] == []
    overwritten = jupyter.http.put(f"/notes/{note}/document", json={"path": path, "overwrite": True})
    assert overwritten.status_code == 200
    made = jupyter.http.post("/schedules", json={"notebook": path, **YEARLY}).json()
    assert made["command"]["note_id"] == note


def test_a_notebook_that_only_claims_to_be_a_note_is_scheduled_as_a_notebook(
    jupyter: JupyterProcess, service: ServiceProcess, cluster: int
) -> None:
    note, path = a_note(jupyter, service, "claimed", cluster)
    # Another path, another notebook at the path of the copy, and a note that is gone.
    shutil.copy(jupyter.root / path, jupyter.root / "sent.ipynb")
    _, at_its_path = a_note(jupyter, service, "replaced", cluster)
    shutil.copy(jupyter.root / path, jupyter.root / at_its_path)
    gone, of_gone = a_note(jupyter, service, "gone", cluster)
    service.http.delete(f"/notebooks/{gone}").raise_for_status()
    for notebook in ("sent.ipynb", at_its_path, of_gone):
        assert of(jupyter, notebook)["note"] is None, notebook
        made = jupyter.http.post("/schedules", json={"notebook": notebook, **YEARLY}).json()
        assert made["command_type"] == "JupyterNotebookCommand", notebook
        assert made["command"]["path"].endswith(f"/{notebook}"), notebook
    assert of(jupyter, path)["note"]["id"] == note
