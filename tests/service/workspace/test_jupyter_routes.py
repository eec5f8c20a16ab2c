"""The room as clients meet it: a real service, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import end_commands_of
from tests.support.service_process import ServiceProcess

from svc_jupyter.client import AsyncClient, Client, Invalid, NotFound

BASE = "/jupyter_notebooks/contents"
MODEL = {
    *("name", "path", "type", "format", "content", "created", "last_modified", "mimetype", "size", "writable"),
    *("hash", "hash_algorithm", "message"),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service that takes small bodies only, its feature on."""
    service = ServiceProcess(tmp_path_factory.mktemp("contents") / "data", max_body_bytes=100_000).start()
    service.http.put("/account/features", json={"jupyter_notebooks": True})
    yield service
    service.kill()
    end_commands_of(service.data_dir)


@pytest.fixture(scope="module")
def member(service: ServiceProcess) -> Iterator[httpx.Client]:
    user = service.http.post("/users/invite_new", json={"invitee_email": "ann@example.org"}).json()["user"]
    token = service.http.post(f"/users/{user['id']}/tokens", json={"name": "laptop"}).json()["token"]
    with service.client(token) as client:
        yield client


@pytest.fixture
def folder(service: ServiceProcess, request: pytest.FixtureRequest) -> str:
    """A folder of the test's own in `Common`."""
    made = service.http.post(f"{BASE}/Common", json={"type": "directory", "name": request.node.name[:80]})
    assert made.status_code == 200, made.text
    return str(made.json()["path"])


def refusal(answer: httpx.Response, status: int) -> str:
    error = answer.json()["error"]
    assert (answer.status_code, error["error_code"]) == (status, status), answer.text
    return str(error["error_message"])


def test_a_notebook_lives_from_creation_to_deletion(service: ServiceProcess, folder: str, notebook: dict[str, Any]):
    http = service.http
    made = http.post(f"{BASE}/{folder}", json={"type": "notebook", "unknown": 1, "name": None})
    assert set(made.json()) == MODEL
    path = f"{folder}/Untitled.ipynb"
    assert (made.json()["path"], made.json()["content"]) == (path, None)
    saved = http.put(f"{BASE}/{path}", json={"type": "notebook", "format": "json", "content": notebook})
    assert (saved.status_code, saved.json()["size"] > 100) == (200, True)
    assert http.get(f"{BASE}/{path}/").json()["content"] == notebook
    bare = http.get(f"{BASE}/{path}", params={"content": 0, "hash": 1}).json()
    assert (bare["content"], bare["format"], len(bare["hash"])) == (None, None, 64)
    moved = http.patch(f"{BASE}/{path}", json={"path": f"{folder}/done é%.ipynb"})
    assert moved.json()["name"] == "done é%.ipynb"
    latest = httpx.get(
        f"{service.base_url}/api/latest{BASE}/{folder}/done%20%C3%A9%25.ipynb",
        headers={"X-AUTH-TOKEN": service.token},
        timeout=90,
    )
    assert latest.json()["content"] == notebook
    listed = http.get(f"{BASE}/{folder}").json()
    assert [(child["name"], child["content"]) for child in listed["content"]] == [("done é%.ipynb", None)]
    assert http.delete(f"{BASE}/{folder}").json() == {"status": "deleted", "path": folder}
    refusal(http.get(f"{BASE}/{folder}"), 404)


def test_a_member_has_their_own_folder_and_common(service: ServiceProcess, member: httpx.Client, folder: str):
    roots = member.get(BASE).json()
    assert [child["path"] for child in roots["content"]] == ["Common", "Users"]
    assert [child["path"] for child in member.get(f"{BASE}/Users").json()["content"]] == ["Users/ann@example.org"]
    assert member.put(f"{BASE}/Users/ann@example.org/a.txt", json={"content": "mine"}).status_code == 200
    assert service.http.get(f"{BASE}/Users/ann%40example.org/a.txt").json()["content"] == "mine"
    for method, body in [("GET", None), ("PUT", {"content": "x"}), ("POST", {}), ("DELETE", None)]:
        answer = member.request(method, f"{BASE}/Users/admin%40localhost/a.txt", json=body)
        assert "this needs membership of system-admin or of a group with a role" in refusal(answer, 403)
    assert member.put(f"{BASE}/{folder}/b.txt", json={"content": "ours"}).status_code == 200


def test_a_path_that_hides_its_words_in_escapes_is_refused(service: ServiceProcess):
    paths = [
        "Common/%2e%2e/%2e%2e/service.db",
        "Common%2F..%2F..%2Fservice.db",
        "Common/..%2f..%2f..%2fservice.json",
        "Common/%2e%2e%5cx",
        "Common/a%00b",
        "%2e%2e",
        "Users/%2e%2e/x",
        "Users/a%2500b/x",
    ]

    def status(method: str, path: str) -> tuple[int, int | None]:
        body = {"json": {"content": "x"}} if method in ("PUT", "POST") else {}
        answer = service.http.request(method, f"{service.base_url}/api/v1.2{BASE}/{path}", **body)
        return answer.status_code, answer.json().get("error", {}).get("error_code")

    calls = [(method, path) for path in paths for method in ("GET", "PUT", "DELETE", "POST")]
    assert {call: status(*call) for call in calls} == dict.fromkeys(calls, (422, 422))


def test_a_link_that_a_command_plants_leads_nowhere(service: ServiceProcess, folder: str):
    place = service.data_dir / "jupyter" / "1" / folder.replace("Common", "common", 1)
    command = service.submit(f"ln -s '{service.data_dir}' '{place}/out'; ln -s '{service.token_file}' '{place}/token'")
    assert service.ended(command["id"])["status"] == "done"
    assert (place / "out" / "service.json").exists()
    for path in ("out", "out/service.json", "token"):
        answer = service.http.get(f"{BASE}/{folder}/{path}")
        assert service.token not in answer.text
        refusal(answer, 404)
    assert service.http.get(f"{BASE}/{folder}").json()["content"] == []


def test_a_field_that_is_wrong_is_named(service: ServiceProcess):
    def named(method: str, given: dict[str, Any]) -> str:
        how = {"params": given} if method == "GET" else {"json": given}
        path = "Common/x" if method == "PUT" else "Common"  # what is written need not be there
        return refusal(service.http.request(method, f"{BASE}/{path}", **how), 422).partition(": ")[0]

    calls: list[tuple[str, dict[str, Any], str]] = [
        ("PUT", {"type": "link"}, "type"),
        ("PUT", {"format": "xml", "content": ""}, "format"),
        ("POST", {"kernel": "a b"}, "kernel"),
        ("POST", {"name": 7}, "name"),
        ("POST", {"name": ""}, "name"),
        ("PATCH", {}, "path"),
        ("GET", {"content": "2"}, "content"),
        ("GET", {"type": "link"}, "type"),
        ("GET", {"format": "xml"}, "format"),
        ("GET", {"hash": "maybe"}, "hash"),
    ]
    assert [(method, given, named(method, given)) for method, given, _ in calls] == calls


def test_a_notebook_with_deep_nesting_or_nan_is_returned_as_valid_json(service: ServiceProcess, folder: str):
    deep: Any = []
    for _ in range(260):
        deep = [deep]
    for name, value in [("deep", deep), ("number", float("nan"))]:
        content = {"nbformat": 4, "nbformat_minor": 4, "metadata": {"x": value}, "cells": []}
        path = f"{BASE}/{folder}/{name}.ipynb"
        headers = {"Content-Type": "application/json"}
        saved = service.http.put(path, content=json.dumps({"content": content}), headers=headers)
        assert saved.status_code == 200, saved.text
        answer = service.http.get(path)
        assert answer.status_code == 200, answer.text
        assert json.loads(answer.content)["content"]["metadata"]["x"] == (None if name == "number" else value)
        assert b"NaN" not in answer.content


def test_text_that_is_not_valid_unicode_is_refused_and_the_old_stays(service: ServiceProcess, folder: str):
    path = f"{BASE}/{folder}/a.txt"
    service.http.put(path, json={"content": "old"})
    half = service.http.put(path, content='{"content": "\\ud800"}', headers={"Content-Type": "application/json"})
    assert "half of a surrogate pair" in refusal(half, 422)
    assert service.http.get(path).json()["content"] == "old"


def test_a_body_that_is_too_large_is_refused_and_the_old_stays(service: ServiceProcess, folder: str):
    path = f"{BASE}/{folder}/a.txt"
    service.http.put(path, json={"content": "old"})
    assert "100000 bytes" in refusal(service.http.put(path, json={"content": "x" * 100_000}), 413)
    assert service.http.get(path).json()["content"] == "old"


def test_a_creation_that_is_repeated_with_its_key_creates_once(service: ServiceProcess, folder: str):
    made = [
        service.http.post(f"{BASE}/{folder}", json={"type": "file"}, headers={"Idempotency-Key": folder}).json()
        for _ in range(2)
    ]
    assert made[0] == made[1]
    assert len(service.http.get(f"{BASE}/{folder}").json()["content"]) == 1


def test_a_method_that_is_not_taken_is_reported_with_those_that_are(service: ServiceProcess):
    answer = service.http.request("OPTIONS", f"{BASE}/Common/a/b.ipynb")
    refusal(answer, 405)
    assert answer.headers["Allow"] == "DELETE, GET, PATCH, POST, PUT"
    refusal(service.http.delete(BASE), 405)


def test_an_embedded_service_starts_with_notebooks(new_service: Callable[..., ServiceProcess]):
    embedded = new_service(embedded=1).start()
    assert embedded.http.get(BASE).json()["content"][0]["path"] == "Common"


def test_the_client_uploads_and_reads_in_one_call_each(
    service: ServiceProcess, folder: str, notebook: dict[str, Any], tmp_path: Path
):
    local = tmp_path / "report.ipynb"
    local.write_text(json.dumps(notebook))
    picture = tmp_path / "dot #1.png"
    picture.write_bytes(b"\x89PNG\xff")
    with Client(service.base_url, service.token) as client:
        contents = client.jupyter_contents
        assert contents.upload(local, to=folder).path == f"{folder}/report.ipynb"
        assert contents.upload(local, to=f"{folder}/other.ipynb").name == "other.ipynb"
        assert contents.upload(picture, to=f"{folder}/").name == "dot #1.png"
        assert contents.get(f"{folder}/report.ipynb").content == notebook
        assert contents.get(f"{folder}/dot #1.png").content == "iVBOR/8="
        contents.save(f"{folder}/note.txt", "what?")
        assert contents.create(folder, copy_from=f"{folder}/note.txt").name == "note-Copy1.txt"
        assert contents.move(f"{folder}/note.txt", f"{folder}/100%?.txt").name == "100%?.txt"
        assert contents.delete(f"{folder}/100%?.txt").status == "deleted"
        names = [child.name for child in contents.list(folder)]
        assert names == ["dot #1.png", "note-Copy1.txt", "other.ipynb", "report.ipynb"]
        with pytest.raises(NotFound):
            contents.get(f"{folder}/gone")
        with pytest.raises(Invalid, match="exists already"):
            contents.create(folder, name="other")


async def test_the_asynchronous_client_does_the_same(service: ServiceProcess, folder: str, tmp_path: Path):
    local = tmp_path / "a.txt"
    local.write_text("text")
    async with AsyncClient(service.base_url, service.token) as client:
        assert (await client.jupyter_contents.upload(local, to=folder)).path == f"{folder}/a.txt"
        assert [child.name for child in await client.jupyter_contents.list(folder)] == ["a.txt"]
        with pytest.raises(NotFound):
            await client.jupyter_contents.delete(f"{folder}/b.txt")


def test_a_search_finds_in_all_folders(service: ServiceProcess, member: httpx.Client, folder: str):
    made = service.http.post(f"{BASE}/{folder}", json={"type": "directory", "name": "deep"}).json()["path"]
    path = service.http.post(f"{BASE}/{made}", json={"type": "notebook", "name": "found here.ipynb"}).json()["path"]
    everywhere = member.get(BASE, params={"search": "Found HERE", "type": "directory"}).json()
    assert (set(everywhere), [one["path"] for one in everywhere["content"]]) == (MODEL, [path])
    assert [one["path"] for one in member.get(f"{BASE}/{folder}", params={"search": "e"}).json()["content"]] == [
        made,
        path,
    ]
    assert [one["path"] for one in member.get(f"{BASE}/{folder}", params={"search": ""}).json()["content"]] == [made]
    assert "search" in refusal(member.get(BASE, params={"search": "x" * 256}), 422)
