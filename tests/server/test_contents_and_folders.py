"""The service's notebooks, and folders of notes, through the extension."""

from __future__ import annotations

import json

import pytest
from tests.server.jupyter_process import JupyterProcess
from tests.support.service_process import ServiceProcess

pytestmark = pytest.mark.xdist_group("jupyter-server")

HOSTILE = ("<img src=x onerror=alert(1)>.ipynb", "per%2ecent%2f.ipynb", "quote\"'`.ipynb", "\N{PILE OF POO} 100%.ipynb")


def test_a_notebook_goes_to_the_service_and_comes_back_whatever_its_name(jupyter: JupyterProcess) -> None:
    def goes_and_comes_back(name: str) -> tuple[str, str]:
        """Return the path in the service, and what the copy says that comes back."""
        jupyter.write_notebook(name, "1 + 1")
        stored = jupyter.http.post("/uploads", json={"path": name, "to": f"Common/{name}"})
        assert stored.status_code == 200, stored.text
        copied = jupyter.http.post("/downloads", json={"path": stored.json()["path"], "to": ""})
        assert copied.status_code == 201, copied.text
        assert copied.json()["name"] != name
        local = json.loads((jupyter.root / copied.json()["path"]).read_text())
        return stored.json()["path"], "".join(local["cells"][0]["source"])

    assert {name: goes_and_comes_back(name) for name in HOSTILE} == {
        name: (f"Common/{name}", "1 + 1") for name in HOSTILE
    }
    listed = jupyter.http.get("/contents/Common").json()["content"]
    assert set(HOSTILE) <= {child["name"] for child in listed}


def test_the_services_contents_are_made_moved_and_deleted(jupyter: JupyterProcess) -> None:
    assert jupyter.http.put("/contents/Common/moves", json={"type": "directory"}).status_code == 200
    made = jupyter.http.post("/contents/Common/moves", json={"type": "notebook", "name": "a.ipynb"})
    assert made.json()["path"] == "Common/moves/a.ipynb"
    moved = jupyter.http.patch("/contents/Common/moves/a.ipynb", json={"path": "Common/moves/b.ipynb"})
    assert moved.json()["name"] == "b.ipynb"
    assert jupyter.http.delete("/contents/Common/moves").status_code == 200
    assert jupyter.http.get("/contents/Common/moves").status_code == 404


def test_no_path_reaches_another_call(jupyter: JupyterProcess) -> None:
    paths = ("..%2f..%2faccount", "Common%2f..%2f..%2f..%2fusers", "Common/%2e%2e/%2e%2e")
    answers = {path: jupyter.http.get(f"/contents/{path}") for path in paths}
    assert {path: answer.status_code for path, answer in answers.items() if answer.status_code not in (404, 422)} == {}
    assert {path: answer.text for path, answer in answers.items() if "email" in answer.text} == {}


def test_a_directory_is_no_copy_and_two_paths_are_needed(jupyter: JupyterProcess) -> None:
    assert jupyter.http.post("/downloads", json={"path": "Common", "to": ""}).status_code == 422
    assert jupyter.http.post("/downloads", json={"path": "Common"}).status_code == 422
    assert jupyter.http.post("/uploads", json={"path": 1, "to": "x"}).status_code == 422
    assert jupyter.http.post("/uploads", json=["x"]).status_code == 400


def test_a_refusal_has_names_as_they_are(jupyter: JupyterProcess) -> None:
    (jupyter.root / "100% %s done").mkdir()
    refused = jupyter.http.post("/uploads", json={"path": "100% %s done", "to": "x"}).json()
    assert refused["message"] == "100% %s done is a directory; only notebooks and files can be stored"


def test_folders_are_made_renamed_moved_and_deleted(jupyter: JupyterProcess) -> None:
    of_notes = {"type": "notes"}
    for name in ("from-here", "to-there"):
        made = jupyter.http.post("/folders", json={"name": name, "location": "Common", **of_notes})
        assert made.status_code == 200, made.text
    moved = jupyter.http.post(
        "/folders/move", json={"location": "Common/from-here", "destination_location": "Common/to-there", **of_notes}
    )
    assert moved.json()["folder"]["location"] == "Common/to-there/from-here", moved.text
    listed = jupyter.http.get("/folders", params={"location": "Common/to-there", **of_notes}).json()
    assert [folder["name"] for folder in listed["folders"]] == ["from-here"]
    renamed = jupyter.http.put(
        "/folders/rename", json={"location": "Common/to-there/from-here", "name": "here", **of_notes}
    )
    assert renamed.status_code == 200, renamed.text
    gone = jupyter.http.request("DELETE", "/folders/delete", json={"location": "Common/to-there", **of_notes})
    assert gone.json()["success"] is True


def test_the_effect_of_a_folder_deletion_is_reported_without_deleting(jupyter: JupyterProcess) -> None:
    folder = {"name": "to be counted", "location": "Common", "type": "notes"}
    assert jupyter.http.post("/folders", json=folder).status_code == 200
    asked = {"location": "Common/to be counted", "type": "notes"}
    answer = jupyter.http.get("/folders/delete", params=asked).json()
    assert answer["deletes"]["folders"] == 1
    assert "Common/to be counted" in answer["message"]
    assert jupyter.http.get("/folders", params=asked).status_code == 200


def test_a_note_is_created_in_a_folder(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    note = {"name": "made here", "location": "Users/admin@localhost"}
    made = jupyter.http.post("/notes", json=note)
    assert made.status_code == 200, made.text
    assert service.http.get(f"/notebooks/{made.json()['id']}").json()["location"] == note["location"]
    taken = jupyter.http.post("/notes", json=note)
    assert (taken.status_code, "made here" in taken.json()["message"]) == (422, True)


def test_a_note_is_copied_renamed_moved_and_deleted(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    paragraphs = [{"text": "%sql\nselect 1"}, {"text": "val one = 1"}]
    note = service.http.post("/notebooks", json={"name": "late <b>", "location": "Common", "paragraphs": paragraphs})
    address = f"/notes/{note.json()['id']}"
    copied = jupyter.http.post(f"{address}/copy", json={"name": "late <b>", "to": ""})
    assert copied.status_code == 201, copied.text
    local = json.loads((jupyter.root / copied.json()["path"]).read_text())
    assert "".join(local["cells"][0]["source"]) == "%sql\nselect 1"
    # It opens with the kernel of Spark, where a cell that names no language is Python.
    assert local["metadata"]["kernelspec"]["name"] == "svc-spark"
    assert "".join(local["cells"][1]["source"]) == "%spark\nval one = 1"
    assert jupyter.http.post(f"{address}/copy", json={"name": "a/b", "to": ""}).status_code == 422
    assert jupyter.http.put(address, json={"name": "later"}).json()["name"] == "later"
    jupyter.http.post("/folders", json={"name": "of late notes", "location": "Common", "type": "notes"})
    moved = jupyter.http.put(address, json={"location": "Common/of late notes"})
    assert moved.json()["location"] == "Common/of late notes"
    assert jupyter.http.delete(address).status_code == 200
    assert jupyter.http.delete(address).status_code == 404


def test_a_notes_copy_is_saved_back_and_no_other_notebook(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    paragraphs = [{"id": "p1", "text": "%sql\nselect 1"}, {"id": "p2", "text": "%md\n# Late"}]
    note = service.http.post("/notebooks", json={"name": "back", "location": "Common", "paragraphs": paragraphs}).json()
    address = f"/notes/{note['id']}"
    copy = jupyter.root / jupyter.http.post(f"{address}/copy", json={"name": "back", "to": ""}).json()["path"]
    local = json.loads(copy.read_text())
    local["cells"][0]["source"] = "%sql\nselect 2"
    copy.write_text(json.dumps(local))
    saved = jupyter.http.put(f"{address}/document", json={"path": copy.name})
    assert saved.status_code == 200, saved.text
    assert [one["text"] for one in saved.json()["paragraphs"]] == ["%sql\nselect 2", "%md\n# Late"]
    assert [one["id"] for one in saved.json()["paragraphs"]] == ["p1", "p2"]
    assert saved.json()["revision"] == 2
    assert jupyter.http.put(f"{address}/document", json={"path": copy.name}).status_code == 200
    service.http.put(f"/notebooks/{note['id']}", json={"name": "of somebody else"}).raise_for_status()
    conflict = jupyter.http.put(f"{address}/document", json={"path": copy.name})
    assert conflict.status_code == 409
    assert "changed" in conflict.json()["error"]["error_message"]
    overwritten = jupyter.http.put(f"{address}/document", json={"path": copy.name, "overwrite": True})
    assert overwritten.status_code == 200
    assert jupyter.http.put(f"{address}/document", json={"path": copy.name}).status_code == 200
    assert jupyter.http.put(f"{address}/document", json={"path": copy.name, "overwrite": 1}).status_code == 422
    other = service.http.post("/notebooks", json={"name": "other", "location": "Common"}).json()
    refused = jupyter.http.put(f"/notes/{other['id']}/document", json={"path": copy.name})
    assert refused.status_code == 422
    assert "is not a copy of note" in refused.text
    assert jupyter.http.put(f"{address}/document", json={}).status_code == 422
    assert jupyter.http.put(f"{address}/document", json={"path": "not-there.ipynb"}).status_code == 404


def test_a_notebook_from_elsewhere_is_asked_about_by_the_notes_name_before_it_is_saved_into_it(
    jupyter: JupyterProcess, service: ServiceProcess
) -> None:
    def saves(mark: dict[str, object]) -> list[tuple[object, str]]:
        """Save a notebook with this mark several times; return the answers with what the note says then."""
        name, paragraphs = f"mine {mark}", [{"text": "before"}]
        note = service.http.post(
            "/notebooks", json={"location": "Common", "name": name, "paragraphs": paragraphs}
        ).json()
        foreign = jupyter.root / f"foreign-{note['id']}.ipynb"
        jupyter.write_notebook(foreign.name, "of somebody else")
        written = json.loads(foreign.read_text())
        foreign.write_text(json.dumps(written | {"metadata": {"svc_jupyter": {"note": note["id"], **mark}}}))

        def save(**how: bool) -> tuple[object, str]:
            answer = jupyter.http.put(f"/notes/{note['id']}/document", json={"path": foreign.name, **how})
            said = service.http.get(f"/notebooks/{note['id']}").json()["paragraphs"][0]["text"]
            if answer.status_code == 428 and f"the note Common/{name} ({note['id']})" in answer.json()["message"]:
                return "asked by name", said
            return "not saved" if answer.json() == {"saved": False} else answer.status_code, said

        return [save(), save(overwrite=True), save(bind=False), save(), save(bind=True), save()]

    wanted = [
        ("asked by name", "before"),
        ("asked by name", "before"),
        ("not saved", "before"),
        ("not saved", "before"),
        (200, "of somebody else"),
        (200, "of somebody else"),
    ]
    marks: list[dict[str, object]] = [{}, {"version": 1}, {"key": "guessed"}, {"key": ["x"]}]
    assert [(mark, saves(mark)) for mark in marks] == [(mark, wanted) for mark in marks]


def test_a_notebook_that_somebody_sent_back_is_no_copy_at_another_path(
    jupyter: JupyterProcess, service: ServiceProcess
) -> None:
    note = service.http.post("/notebooks", json={"name": "sent", "location": "Common"}).json()
    copied = jupyter.http.post(f"/notes/{note['id']}/copy", json={"name": "sent", "to": ""}).json()["path"]
    (jupyter.root / "sent-back.ipynb").write_text((jupyter.root / copied).read_text())
    address = f"/notes/{note['id']}/document"
    assert jupyter.http.put(address, json={"path": "sent-back.ipynb"}).status_code == 428
    assert jupyter.http.put(address, json={"path": copied}).status_code == 200


def test_a_dashboard_is_renamed_moved_and_deleted(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    note = service.http.post("/notebooks", json={"name": "shown", "location": "Common"}).json()
    board = {"note_id": note["id"], "name": "board", "location": "Common"}
    address = f"/dashboards/{service.http.post('/notebook_dashboard', json=board).json()['id']}"
    assert jupyter.http.put(address, json={"name": "renamed"}).json()["name"] == "renamed"
    folder = {"name": "boards", "location": "Common", "type": "notebook_dashboards"}
    assert jupyter.http.post("/folders", json=folder).status_code == 200
    assert jupyter.http.put(address, json={"location": "Common/boards"}).json()["location"] == "Common/boards"
    assert jupyter.http.delete(address).status_code == 200


def test_a_note_is_told_without_its_document_and_binding_it_to_a_cluster_keeps_its_copy_current(
    jupyter: JupyterProcess, service: ServiceProcess
) -> None:
    paragraphs = [{"id": "p1", "text": "%sql\nselect ${days=7}"}]
    note = service.http.post(
        "/notebooks", json={"name": "bound", "location": "Common", "paragraphs": paragraphs}
    ).json()
    address = f"/notes/{note['id']}"
    path = jupyter.http.post(f"{address}/copy", json={"name": "bound", "to": ""}).json()["path"]
    told = jupyter.http.get(f"{address}/document", params={"path": path}).json()
    assert (told["version"], told["copied"], told["cluster_id"]) == (1, 1, None)
    assert "paragraphs" not in told
    assert [one["name"] for one in told["forms"]] == ["days"]
    assert jupyter.http.get(f"{address}/document", params={"path": "other.ipynb"}).json()["copied"] is None
    cluster = service.http.get("/clusters/default").json()["id"]
    bound = jupyter.http.put(f"{address}/cluster", json={"path": path, "cluster_id": cluster})
    assert (bound.status_code, bound.json()["cluster_id"], bound.json()["version"]) == (200, cluster, 2)
    assert jupyter.http.get(f"{address}/document", params={"path": path}).json()["copied"] == 2
    assert jupyter.http.put(f"{address}/document", json={"path": path}).status_code == 200
    # What somebody else has written since is still a conflict.
    service.http.put(f"/notebooks/{note['id']}", json={"paragraphs": [{"text": "else"}]}).raise_for_status()
    assert jupyter.http.put(f"{address}/cluster", json={"path": path, "cluster_id": 0}).status_code == 200
    assert jupyter.http.put(f"{address}/document", json={"path": path}).status_code == 409
    assert jupyter.http.put(f"{address}/cluster", json={"path": path}).status_code == 422


def test_the_forms_of_a_notebook_that_is_not_saved_are_read_by_the_service(jupyter: JupyterProcess) -> None:
    cells = [
        {"cell_type": "code", "id": "a", "metadata": {}, "source": "%sql\nselect ${minutes=30}", "outputs": []},
        {"cell_type": "code", "id": "b", "metadata": {}, "source": "z.select('to', 'b', ['a', 'b'])", "outputs": []},
    ]
    for cell in cells:
        cell["execution_count"] = None
    answer = jupyter.http.post("/notes/forms", json={"cells": cells})
    assert answer.status_code == 200, answer.text
    assert [(one["name"], one["type"], one["default"]) for one in answer.json()["forms"]] == [
        ("minutes", "text", "30"),
        ("to", "select", "b"),
    ]
    assert jupyter.http.post("/notes/forms", json={}).status_code == 422
