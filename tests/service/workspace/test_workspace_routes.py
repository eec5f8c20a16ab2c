"""Folders, notes and dashboards as clients meet them: a real service, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.service.workspace.note_samples import IPYNB, ZPLN
from tests.support.service_process import ServiceProcess


@pytest.fixture
def service(shared_service: ServiceProcess) -> ServiceProcess:
    return shared_service


@pytest.fixture
def folder(service: ServiceProcess, request: pytest.FixtureRequest) -> str:
    """The location of a folder of the test's own in `Common`, one of each type."""
    name = request.node.name[:80]
    for folder_type in ("notes", "notebook_dashboards"):
        made = service.http.post("/folders", json={"name": name, "location": "Common", "type": folder_type})
        assert made.status_code == 200, made.text
    return f"Common/{name}"


@pytest.fixture
def note(service: ServiceProcess, folder: str) -> dict[str, Any]:
    made = service.http.post("/notebooks", json={"name": "n", "location": folder, "note_type": "spark"})
    assert made.status_code == 200, made.text
    return dict(made.json())


def refusal(answer: httpx.Response, status: int) -> str:
    error = answer.json()["error"]
    assert (answer.status_code, error["error_code"]) == (status, status), answer.text
    return str(error["error_message"])


def test_a_folder_moves_and_goes(service: ServiceProcess, folder: str, note: dict[str, Any]):
    http = service.http
    inner = http.post("/folders", json={"name": "a b", "location": folder, "type": "notes", "unknown": 1}).json()
    assert set(inner) == {"id", "name", "location", "type", "parent_id", "user_id", "created_at"}
    target = http.post("/folders", json={"name": "to", "location": folder, "type": "notes"}).json()
    body = {"location": inner["location"], "destination_location": target["location"], "type": "notes"}
    moved = http.post("/folders/move/", json=body).json()
    assert (moved["success"], moved["folder"]["id"], moved["folder"]["location"]) == (
        True,
        inner["id"],
        f"{folder}/to/a b",
    )
    renamed = http.put("/folders/rename", json={"folder_id": str(inner["id"]), "name": "c", "type": "notes"})
    assert renamed.json()["location"] == f"{folder}/to/c"
    listed = http.get("/folders", params={"type": "notes", "location": folder}).json()
    assert set(listed) == {"folders", "notes", "paging_info"}
    assert [one["name"] for one in listed["folders"]] == ["to"]
    assert [(one["id"], "paragraphs" in one) for one in listed["notes"]] == [(note["id"], False)]
    assert set(http.get("/folders", params={"type": "notebook_dashboards"}).json()) >= {"folders", "paging_info"}
    # A body as the contract has it, and the same as a query.
    url = "/folders/delete"
    body = {"folder_id": str(inner["id"]), "location": f"{folder}/to/c", "type": "notes"}
    assert http.request("DELETE", url, json=body).json()["deleted"]["folders"] == 1
    gone = http.delete(url, params={"location": folder, "type": "notes"}).json()
    assert (gone["success"], gone["folder"]["location"]) == (True, folder)
    assert gone["message"] == f"{folder} was deleted: 2 folders, 1 note, 0 dashboards"
    refusal(http.get(f"/notebooks/{note['id']}"), 404)


def test_a_wrong_field_is_named(service: ServiceProcess):
    in_common = {"name": "x", "location": "Common"}
    calls: list[tuple[str, str, Any, str]] = [
        ("POST", "/folders", {**in_common, "type": "jupyter"}, "type: must be notes or notebook_dashboards"),
        (
            "POST",
            "/folders/move",
            {"location": "Common/x", "destination_location": "Common", "type": "x"},
            "contents calls (jupyter_notebooks/contents)",
        ),
        (
            "DELETE",
            "/folders/delete",
            {"location": "Common/x", "type": "jupyter_notebook"},
            "contents calls (jupyter_notebooks/contents)",
        ),
        ("DELETE", "/folders/delete", {"location": "Common/x"}, "type: Field required"),
        ("DELETE", "/folders/delete", {"type": "notes"}, "location: give the folder's location"),
        ("DELETE", "/folders/delete", {"type": "notes", "folder_id": "x"}, "folder_id: "),
        ("GET", "/folders?type=jupyter", None, "type: must be notes or notebook_dashboards"),
        ("GET", "/folders", None, "type: "),
        ("POST", "/folders", {**in_common, "type": "notes", "name": "x" * 10_000}, "name: "),
        ("POST", "/folders", {**in_common, "type": "notes", "location": "y" * 10_000}, "location: "),
        ("POST", "/notebooks", {**in_common, "note_type": "hive"}, "note_type: "),
        ("POST", "/notebooks", {**in_common, "paragraphs": [7]}, "paragraphs.0: "),
        ("POST", "/notebooks", {**in_common, "cluster_id": "mine"}, "cluster_id: "),
        ("POST", "/notebooks/import", in_common, "paragraphs: give"),
        ("POST", "/notebook_dashboard", in_common, "note_id: "),
    ]
    told = [
        (method, path, words, refusal(service.http.request(method, path, json=body), 422))
        for method, path, body, words in calls
    ]
    assert [(*call, words, message) for *call, words, message in told if words not in message] == []


def test_a_save_over_somebody_elses_is_a_conflict(service: ServiceProcess, note: dict[str, Any]):
    http, path = service.http, f"/notebooks/{note['id']}"
    seen = http.get(path)
    assert (seen.headers["ETag"], seen.json()) == ('"1"', note)
    body = {"paragraphs": [{"text": "${who=me} \U0001f600"}], "noteParams": None}
    first = http.put(path, json=body, headers={"If-Match": '"1"'})
    assert (first.status_code, first.headers["ETag"]) == (200, '"2"')
    assert first.json()["paragraphs"][0]["text"] == "${who=me} \U0001f600"
    assert [(one["name"], one["default"], one["value"]) for one in first.json()["forms"]] == [("who", "me", None)]
    second = http.put(path, json={"name": "late"}, headers={"If-Match": '"1"'})
    assert "was changed meanwhile: it is of version 2" in refusal(second, 409)
    restored = http.put(f"{path}/revisions/1/restore", headers={"If-Match": '"2"'})
    assert (restored.json()["paragraphs"], restored.headers["ETag"]) == ([], '"3"')
    revisions = http.get(f"{path}/revisions").json()
    assert [one["number"] for one in revisions["revisions"]] == [3, 2, 1]
    assert http.get(f"{path}/revisions/2").json()["paragraphs"] == first.json()["paragraphs"]
    refusal(http.get(f"{path}/revisions/9"), 404)


@pytest.mark.parametrize(("file_format", "document"), [("zpln", ZPLN), ("ipynb", IPYNB)])
def test_a_file_comes_back_as_it_went_in(
    service: ServiceProcess, folder: str, file_format: str, document: dict[str, Any]
):
    body = {**document, "name": "im port", "location": folder, "cluster_id": "5"}
    made = service.http.post("/notebooks/import", json=body)
    assert (made.status_code, made.json()["cluster_id"]) == (200, 5), made.text
    exported = service.http.get(f"/notebooks/{made.json()['id']}/export", params={"format": file_format})
    assert exported.headers["Content-Disposition"] == f"attachment; filename*=UTF-8''im%20port.{file_format}"
    expected = {**document, "name": "im port"} if file_format == "zpln" else document
    assert exported.json() == expected
    refusal(service.http.get(f"/notebooks/{made.json()['id']}/export", params={"format": "pdf"}), 422)


def test_a_dashboard_lives_from_publication_to_deletion(service: ServiceProcess, folder: str, note: dict[str, Any]):
    http = service.http
    made = http.post("/notebook_dashboard", json={"note_id": note["id"], "name": "b", "location": folder})
    board = made.json()
    assert (made.headers["ETag"], board["note_id"], board["paragraphs"]) == ('"1"', note["id"], [])
    listed = http.get(f"/notebooks/{note['id']}/list_dashboards").json()
    assert [one["id"] for one in listed["notebook_dashboards"]] == [board["id"]]
    path = f"/notebook_dashboard/{board['id']}"
    http.put(f"/notebooks/{note['id']}", json={"paragraphs": [{"text": "new"}]})
    fresh = http.put(path, json={"refresh": True, "config": {"a": 1}}, headers={"If-Match": '"1"'}).json()
    assert (fresh["paragraphs"][0]["text"], fresh["config"], fresh["note_revision"]) == ("new", {"a": 1}, 2)
    assert http.get(path).json() == fresh
    assert http.put(f"{path}/clone").json()["name"] == "b-Copy1"
    inside = http.get("/folders", params={"type": "notebook_dashboards", "location": folder}).json()
    assert [one["name"] for one in inside["notebook_dashboards"]] == ["b", "b-Copy1"]
    refusal(http.delete(path, headers={"If-Match": '"1"'}), 409)
    assert http.delete(path).json() == {"status": "deleted", "id": board["id"]}
    refusal(http.get(path), 404)
    assert http.delete(f"/notebooks/{note['id']}").json()["notebook_dashboards"] == 1


def test_a_repeated_creation_with_a_key_makes_one_note(service: ServiceProcess, folder: str):
    headers = {"Idempotency-Key": folder}
    body = {"name": "once", "location": folder}
    first, second = (service.http.post("/notebooks", json=body, headers=headers) for _ in range(2))
    assert (first.json()["id"], second.status_code) == (second.json()["id"], 200)


def test_a_note_is_not_run_yet(service: ServiceProcess, note: dict[str, Any]):
    body = {"command_type": "SparkCommand", "note_id": note["id"], "language": "notebook"}
    assert "SparkCommand could not be created: " in refusal(service.http.post("/commands", json=body), 422)


def test_every_change_is_in_the_audit_log(service: ServiceProcess, folder: str, note: dict[str, Any]):
    service.http.put(f"/notebooks/{note['id']}", json={"name": "m"})
    service.http.delete("/folders/delete", params={"location": folder, "type": "notes"})
    entries: Callable[[str], list[dict[str, Any]]] = lambda kind: service.http.get(  # noqa: E731
        "/audit", params={"resource": kind, "per_page": 5}
    ).json()["audit"]
    assert [(one["action"], one["object_id"]) for one in entries("note")][:2] == [
        ("update", str(note["id"])),
        ("create", str(note["id"])),
    ]
    assert entries("folder")[0]["action"] == "delete"


def test_a_search_finds_in_all_folders(service: ServiceProcess, folder: str, note: dict[str, Any]):
    inner = {"name": "deep", "location": folder, "type": "notes"}
    assert service.http.post("/folders", json=inner).status_code == 200
    query = {"type": "notes", "search": folder.removeprefix("Common/").upper()}
    assert [one["location"] for one in service.http.get("/folders", params=query).json()["folders"]] == [folder]
    query = {"type": "notes", "location": folder, "search": str(note["id"])}
    assert [one["id"] for one in service.http.get("/folders", params=query).json()["notes"]] == [note["id"]]
    listed = service.http.get("/folders", params={"type": "notes", "location": folder, "search": ""}).json()
    assert ([one["name"] for one in listed["folders"]], len(listed["notes"])) == (["deep"], 1)
    refused = service.http.get("/folders", params={"type": "notes", "search": "x" * 256})
    assert "search" in refusal(refused, 422)
