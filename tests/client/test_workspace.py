"""What the client sends about folders, notes and dashboards; a real service answers in tests/service/workspace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.client.sending import sent
from tests.support.double.service import ServiceDouble

from svc_jupyter.client import Conflict, Invalid

BASE = "/api/v1.2"
EDITED = {"account_id": 1, "user_id": 1, "created_at": "x", "updated_by": 1, "updated_at": "x", "version": 7}
FOLDER = {"id": 3, "name": "a", "location": "Common/a", "type": "notes", "created_at": "x"}
SUMMARY = {"id": 5, "name": "n", "location": "Common", "folder_id": 1, "note_type": "spark", "revision": 2, **EDITED}
NOTE = {**SUMMARY, "cluster_id": None, "paragraphs": [{"id": "p", "text": "1"}], "config": {"a": 1}}
BOARD = {"id": 8, "name": "b", "location": "Common", "folder_id": 2, "note_id": 5, "note_revision": 2, **EDITED}
MOVED = {"success": True, "message": "moved", "folder": FOLDER}
COUNTS = {"folders": 1, "notes": 2, "notebook_dashboards": 3}


def paging(next_page: int | None) -> dict[str, Any]:
    return {"page": 1, "per_page": 100, "next_page": next_page, "previous_page": None}


def connected(connect: Any, service: ServiceDouble, *answers: dict[str, Any]) -> Any:
    service.next_answers.extend(httpx.Response(200, json=answer) for answer in answers)
    return connect(service)


CALLS_OF_FOLDERS: list[tuple[Callable[[Any], Any], dict[str, Any], str, dict[str, Any]]] = [
    (lambda c: c.folders.create("Common", "a"), FOLDER, "POST /folders", {"name": "a", "location": "Common"}),
    (lambda c: c.folders.rename(3, "b"), FOLDER, "PUT /folders/rename", {"folder_id": 3, "name": "b"}),
    (
        lambda c: c.folders.move("Common/a", "Users/x@y.z"),
        MOVED,
        "POST /folders/move",
        {"location": "Common/a", "destination_location": "Users/x@y.z"},
    ),
    (lambda c: c.folders.delete(3), MOVED | {"deleted": COUNTS}, "DELETE /folders/delete", {"folder_id": 3}),
]


def test_folders_are_named_by_location_or_id(connect: Any, service: ServiceDouble) -> None:
    client = connected(connect, service, *(answer for _, answer, _, _ in CALLS_OF_FOLDERS))

    found = [call(client) for call, *_ in CALLS_OF_FOLDERS]

    assert [getattr(one, "folder", one).location for one in found] == ["Common/a"] * 4
    assert sent(service) == [
        (line.replace(" ", f" {BASE}"), {**body, "type": "notes"}) for _, _, line, body in CALLS_OF_FOLDERS
    ]
    with_key = ["Idempotency-Key" in request.headers for request in service.requests]
    assert with_key == [line.startswith("POST") for _, _, line, _ in CALLS_OF_FOLDERS]


def test_the_effect_of_a_deletion_is_requested_and_is_none_where_unsupported(
    connect: Any, service: ServiceDouble
) -> None:
    answer = {"message": "deleting Common/a takes 1 folder", "folder": FOLDER, "deletes": COUNTS}
    client = connected(connect, service, answer)
    assert client.folders.deletion("Common/a").deletes.notes == 2
    assert service.calls == [f"GET {BASE}/folders/delete?location=Common%2Fa&type=notes"]
    for status in (404, 405):
        service.next_answers.append(httpx.Response(status, json={"error": {"error_code": status}}))
        assert client.folders.deletion(3, folder_type="notebook_dashboards") is None
    service.next_answers.append(httpx.Response(409, json={"error": {"error_code": 409, "error_message": "is run"}}))
    with pytest.raises(Conflict, match="is run"):
        client.folders.deletion(3)


def test_a_folder_is_read_to_its_last_page(connect: Any, service: ServiceDouble) -> None:
    first = {"folders": [FOLDER], "notes": [SUMMARY], "paging_info": paging(2)}
    last = {"folders": [], "notes": [SUMMARY | {"id": 6}], "paging_info": paging(None)}
    found = connected(connect, service, first, last).folders.get("Common/é")
    assert ([one.id for one in found.folders], [one.id for one in found.notes]) == ([3], [5, 6])
    assert found.paging_info.next_page is None
    query = "type=notes&location=Common%2F%C3%A9"
    assert service.calls == [f"GET {BASE}/folders?{query}&page={number}&per_page=100" for number in (1, 2)]


def test_a_service_that_knows_no_pages_of_folders_is_understood(connect: Any, service: ServiceDouble) -> None:
    client = connected(connect, service, {"folders": [{"id": 3, "name": "a", "location": "Common/a", "type": "notes"}]})
    found = client.folders.get(folder_type="notebook_dashboards")
    assert ([one.name for one in found.folders], found.notes) == (["a"], [])


def test_a_note_that_was_read_is_saved_over_no_other_edit(connect: Any, service: ServiceDouble) -> None:
    client = connected(connect, service, NOTE, NOTE | {"version": 8})
    note = client.notes.get(5)
    note.paragraphs[0]["text"] = "2"
    assert client.notes.save(note).version == 8
    request = service.requests[1]
    assert (request.method, request.url.path, request.headers["If-Match"]) == ("PUT", f"{BASE}/notebooks/5", '"7"')
    sent = json.loads(request.content)
    assert (sent["paragraphs"], sent["config"], sent["cluster_id"]) == ([{"id": "p", "text": "2"}], {"a": 1}, 0)
    error = {"error": {"error_code": 409, "error_message": "note 5 was changed meanwhile"}}
    service.next_answers.append(httpx.Response(409, json=error))
    with pytest.raises(Conflict, match="changed meanwhile"):
        client.notes.save(note)


CALLS: list[tuple[Callable[[Any], Any], dict[str, Any], str, dict[str, Any] | None]] = [
    (
        lambda c: c.notes.create("Common", "n", cluster_id=4),
        NOTE,
        "POST /notebooks",
        {"name": "n", "location": "Common", "cluster_id": 4},
    ),
    (lambda c: c.notes.update(5, name="m", location=None), NOTE, "PUT /notebooks/5", {"name": "m"}),
    (lambda c: c.notes.clone(5), NOTE, "PUT /notebooks/5/clone", {}),
    (
        lambda c: c.notes.delete(5),
        {"status": "deleted", "id": 5, "notebook_dashboards": 0},
        "DELETE /notebooks/5",
        None,
    ),
    (lambda c: c.notes.restore(5, 2), NOTE, "PUT /notebooks/5/revisions/2/restore", {}),
    (
        lambda c: c.notes.revision(5, 2),
        {"number": 2, "user_id": 1, "created_at": "x", "size": 9, "paragraphs": []},
        "GET /notebooks/5/revisions/2",
        None,
    ),
    (
        lambda c: c.notes.revisions(5),
        {"revisions": [], "paging_info": paging(None)},
        "GET /notebooks/5/revisions?page=1&per_page=10",
        None,
    ),
    (
        lambda c: c.dashboards.create(5, "b", "Common"),
        BOARD | {"paragraphs": []},
        "POST /notebook_dashboard",
        {"note_id": 5, "name": "b", "location": "Common"},
    ),
    (lambda c: c.dashboards.get(8), BOARD | {"paragraphs": []}, "GET /notebook_dashboard/8", None),
    (
        lambda c: c.dashboards.update(8, refresh=True, if_version=7),
        BOARD | {"paragraphs": []},
        "PUT /notebook_dashboard/8",
        {"refresh": True},
    ),
    (lambda c: c.dashboards.clone(8, name="c"), BOARD, "PUT /notebook_dashboard/8/clone", {"name": "c"}),
    (lambda c: c.dashboards.delete(8), {"status": "deleted", "id": 8}, "DELETE /notebook_dashboard/8", None),
    (
        lambda c: c.notes.list(page=2),
        {"notes": [SUMMARY], "paging_info": paging(None)},
        "GET /notebooks?page=2&per_page=10",
        None,
    ),
    (
        lambda c: c.dashboards.of_note(5),
        {"notebook_dashboards": [BOARD], "paging_info": paging(None)},
        "GET /notebooks/5/list_dashboards?page=1&per_page=10",
        None,
    ),
]


def test_a_call_says_what_is_meant(connect: Any, service: ServiceDouble) -> None:
    client = connected(connect, service, *(answer for _, answer, _, _ in CALLS))
    for call, *_ in CALLS:
        call(client)
    assert sent(service) == [(line.replace(" ", f" {BASE}"), body) for _, _, line, body in CALLS]


def test_a_local_file_becomes_a_note_and_a_note_a_file(connect: Any, service: ServiceDouble, tmp_path: Path) -> None:
    local = tmp_path / "report.zpln"
    local.write_text(json.dumps({"name": "other", "paragraphs": [], "config": {}}))
    client = connected(connect, service, NOTE)
    client.notes.import_file(local, location="Common", cluster_id=2)
    assert service.calls == [f"POST {BASE}/notebooks/import"]
    expected = {"name": "report", "location": "Common", "cluster_id": 2, "paragraphs": [], "config": {}}
    assert json.loads(service.requests[0].content) == expected
    service.next_answers.append(httpx.Response(200, content=b"{}\n"))
    assert client.notes.export(5, "ipynb") == b"{}\n"
    assert service.calls[1] == f"GET {BASE}/notebooks/5/export?format=ipynb"
    for content in ("{", "[1]"):
        local.write_text(content)
        with pytest.raises(Invalid, match=r"report\.zpln is not a note"):
            client.notes.import_file(local, location="Common")
    with pytest.raises(FileNotFoundError):
        client.notes.import_file(tmp_path / "gone.zpln", location="Common")
    assert len(service.calls) == 2
