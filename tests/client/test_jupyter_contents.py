"""What the client sends; with a real service it is tested in tests/service/workspace."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
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


@pytest.mark.parametrize(
    ("make", "answer", "line", "body"),
    [
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
    ],
)
def test_a_call_sends_and_reads_what_the_contract_says(
    connect: Any, extended: ServiceDouble, make: Callable[[Any], Any], answer: dict[str, Any], line: str, body: Any
) -> None:
    result = make(contents_of(connect, extended, answer))
    assert extended.calls == [line]
    sent = extended.requests[0].content
    assert (json.loads(sent) if sent else None) == body
    assert result.model_dump() == answer


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


@pytest.mark.parametrize(
    ("to", "answers", "line"),
    [
        ("Common", [FOLDER, MODEL], "PUT {}/Common/n.ipynb"),
        ("Common/", [MODEL], "PUT {}/Common/n.ipynb"),
        ("Common/m.ipynb", [None, MODEL], "PUT {}/Common/m.ipynb"),
        ("Common/n.ipynb", [MODEL, MODEL], "PUT {}/Common/n.ipynb"),
    ],
)
def test_an_upload_goes_into_a_folder_or_under_a_name(
    connect: Any, extended: ServiceDouble, tmp_path: Path, to: str, answers: list[Any], line: str
) -> None:
    local = tmp_path / "n.ipynb"
    local.write_text(json.dumps(NOTEBOOK))
    contents_of(connect, extended, *answers).upload(str(local), to=to)
    assert extended.calls[-1] == line.format(BASE)
    assert json.loads(extended.requests[-1].content)["content"] == NOTEBOOK


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


@pytest.mark.parametrize("path", ["..", "Common/../../commands/7", "Common/./x"])
def test_a_path_that_would_make_it_another_call_is_not_sent(connect: Any, extended: ServiceDouble, path: str) -> None:
    contents = contents_of(connect, extended)
    with pytest.raises(Invalid, match=r"must not hold '\.' or '\.\.'"):
        contents.delete(path)
    assert extended.calls == []
