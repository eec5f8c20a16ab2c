"""What the client sends; with a real service it is tested in tests/service/workspace."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.client.sending import sent
from tests.support.double.service import ServiceDouble
from tests.support.http_front import error

from svc_jupyter.client import Invalid, UnexpectedAnswer

BASE = "/api/v1.2/jupyter_notebooks/contents"
MODEL = {
    "name": "n.ipynb",
    "path": "Common/n.ipynb",
    "type": "notebook",
    "format": None,
    "content": None,
    "created": "2026-11-21T09:00:00.000000Z",
    "last_modified": "2026-11-21T09:00:00.000000Z",
    "mimetype": None,
    "size": 2,
    "writable": True,
    "hash": None,
    "hash_algorithm": None,
    "message": None,
}
FOLDER = MODEL | {"name": "Common", "path": "Common", "type": "directory", "format": "json", "content": [MODEL]}
NOTEBOOK = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}


def contents_of(connect: Any, service: ServiceDouble, *answers: dict[str, Any] | None) -> Any:
    """Return the contents of a client whose calls get these answers; None is a 404."""
    for answer in answers:
        service.next_answers.append(httpx.Response(200, json=answer) if answer else error(404, "nothing is there"))
    return connect(service).jupyter_contents


CALLS: list[tuple[Callable[[Any], Any], dict[str, Any], str, Any]] = [
    (lambda contents: contents.get("Common/n.ipynb"), MODEL, f"GET {BASE}/Common/n.ipynb", None),
    (lambda contents: contents.get(), FOLDER, f"GET {BASE}", None),
    (
        lambda contents: contents.get(
            "/Users/ann@example.org/a #?%.txt",
            content=False,
            contents_type="file",
            contents_format="text",
            with_hash=True,
        ),
        MODEL,
        f"GET {BASE}/Users/ann@example.org/a%20%23%3F%25.txt?content=0&type=file&format=text&hash=1",
        None,
    ),
    (lambda contents: contents.create("Common"), MODEL, f"POST {BASE}/Common", {"type": "notebook"}),
    (
        lambda contents: contents.create("Common", name="n", kernel="ir"),
        MODEL,
        f"POST {BASE}/Common",
        {"name": "n", "type": "notebook", "kernel": "ir"},
    ),
    (
        lambda contents: contents.save("Common/n.ipynb", NOTEBOOK),
        MODEL,
        f"PUT {BASE}/Common/n.ipynb",
        {"type": "notebook", "format": "json", "content": NOTEBOOK},
    ),
    (
        lambda contents: contents.save("Common/t", "text"),
        MODEL,
        f"PUT {BASE}/Common/t",
        {"type": "file", "format": "text", "content": "text"},
    ),
    (
        lambda contents: contents.save("Common/b", b"\xff"),
        MODEL,
        f"PUT {BASE}/Common/b",
        {"type": "file", "format": "base64", "content": "/w=="},
    ),
    (lambda contents: contents.move("Common/a", "Common/b"), MODEL, f"PATCH {BASE}/Common/a", {"path": "Common/b"}),
]


def test_a_call_sends_and_reads_what_the_contract_says(connect: Any, extended: ServiceDouble) -> None:
    answers = [answer for _, answer, _, _ in CALLS]
    contents = contents_of(connect, extended, *answers)

    results = [make(contents).model_dump() for make, *_ in CALLS]

    assert sent(extended) == [(line, body) for _, _, line, body in CALLS]
    assert results == answers


def test_a_folder_is_listed_as_models(connect: Any, extended: ServiceDouble) -> None:
    listed = contents_of(connect, extended, FOLDER).list("Common")
    assert [child.path for child in listed] == ["Common/n.ipynb"]
    assert extended.calls == [f"GET {BASE}/Common?type=directory"]
    with pytest.raises(UnexpectedAnswer, match="'Common' without what is in it"):
        contents_of(connect, extended, FOLDER | {"content": None}).list("Common")


def test_a_deletion_shows_what_is_gone(connect: Any, extended: ServiceDouble) -> None:
    answer = {"status": "deleted", "path": "Common/n.ipynb"}
    assert contents_of(connect, extended, answer).delete("Common/n.ipynb").model_dump() == answer
    assert extended.calls == [f"DELETE {BASE}/Common/n.ipynb"]


UPLOADS: list[tuple[str, list[dict[str, Any] | None], str]] = [
    ("Common", [FOLDER, MODEL], f"PUT {BASE}/Common/n.ipynb"),
    ("Common/", [MODEL], f"PUT {BASE}/Common/n.ipynb"),
    ("Common/m.ipynb", [None, MODEL], f"PUT {BASE}/Common/m.ipynb"),
    ("Common/n.ipynb", [MODEL, MODEL], f"PUT {BASE}/Common/n.ipynb"),
]


def test_an_upload_goes_into_a_folder_or_under_a_name(connect: Any, extended: ServiceDouble, tmp_path: Path) -> None:
    local = tmp_path / "n.ipynb"
    local.write_text(json.dumps(NOTEBOOK))
    found = []
    for to, answers, _ in UPLOADS:
        contents_of(connect, extended, *answers).upload(str(local), to=to)
        line, body = sent(extended)[-1]
        found.append((to, line, body["content"]))
    assert found == [(to, line, NOTEBOOK) for to, _, line in UPLOADS]


def test_an_invalid_or_missing_upload_is_reported_before_anything_is_sent(
    connect: Any, extended: ServiceDouble, tmp_path: Path
) -> None:
    contents = contents_of(connect, extended)
    (tmp_path / "n.ipynb").write_text("no JSON")
    with pytest.raises(Invalid, match=r"n\.ipynb is not a notebook: it is not JSON"):
        contents.upload(tmp_path / "n.ipynb", to="Common")
    with pytest.raises(FileNotFoundError):
        contents.upload(tmp_path / "none.ipynb", to="Common")
    assert extended.calls == []


def test_a_path_that_would_make_it_another_call_is_not_sent(connect: Any, extended: ServiceDouble) -> None:
    contents = contents_of(connect, extended)

    def refusal(path: str) -> str:
        with pytest.raises(Invalid) as refused:
            contents.delete(path)
        return str(refused.value)

    refusals = {
        path: f"the path {path!r} must not hold '.' or '..'" for path in ("..", "Common/../../commands/7", "Common/./x")
    }
    assert {path: refusal(path) for path in refusals} == refusals
    assert extended.calls == []
