"""What surrounds every request, tried on a small application."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send
from structlog.testing import capture_logs

from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.middleware import RequestShell

LIMIT = 1000


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with what arrived."""
    request = Request(scope, receive)
    if request.url.path == "/stream":
        await StreamingResponse(iter([b"a", b"b"]))(scope, receive, send)
        return
    body = (await request.body()).decode()
    content = {"path": scope["path"], "raw_path": scope["raw_path"].decode(), "body": body}
    await JSONResponse({**content, "trace": scope["state"]["trace_id"]})(scope, receive, send)


async def let_in(token: str | None) -> None:
    """Know no wrong token."""


@pytest.fixture
def shell() -> RequestShell:
    return RequestShell(echo, Settings(max_body_bytes=LIMIT), let_in)


@pytest.fixture
async def http(shell: RequestShell) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(shell), base_url="http://here") as client:
        yield client


async def test_every_answer_has_a_trace_id_of_its_own(http: httpx.AsyncClient):
    answers = [await http.get(path) for path in ("/a", "/a", "/stream")]
    ids = [answer.headers["X-Trace-Id"] for answer in answers]
    assert len(set(ids)) == 3
    assert all(re.fullmatch("[0-9a-f]{32}", item) for item in ids)
    assert answers[0].json()["trace"] == ids[0]


async def traces(http: httpx.AsyncClient, given: list[str]) -> list[str]:
    answers = [await http.get("/a", headers={"X-Trace-Id": trace}) for trace in given]
    return [answer.headers["X-Trace-Id"] for answer in answers]


async def test_the_callers_trace_id_is_kept(http: httpx.AsyncClient):
    given = ["my-trace.0001", "a" * 64]
    assert await traces(http, given) == given


async def test_an_invalid_trace_id_is_replaced(http: httpx.AsyncClient):
    answered = await traces(http, ["short", "a" * 65, "with blank", "a;b,c%0d%0a", ""])
    assert [trace for trace in answered if not re.fullmatch("[0-9a-f]{32}", trace)] == []


async def test_the_log_line_of_a_request_holds_its_trace_id_and_nothing_secret(http: httpx.AsyncClient):
    with capture_logs() as lines:
        answer = await http.post(
            "/a?token=secret", headers={"X-AUTH-TOKEN": "secret"}, content=b'{"password": "secret"}'
        )
    assert [(line["event"], line["method"], line["path"], line["status"]) for line in lines] == [
        ("request", "POST", "/a", 200)
    ]
    assert lines[0]["trace_id"] == answer.headers["X-Trace-Id"]
    assert "secret" not in json.dumps(lines)


async def test_a_trailing_slash_makes_no_difference(http: httpx.AsyncClient):
    seen = {"/a": "/a", "/a/": "/a", "/a/b//": "/a/b", "/": "/", "/gr%C3%BCn/": "/grün"}
    answers = {path: await http.get(path) for path in seen}
    assert {path: answer.json()["path"] for path, answer in answers.items()} == seen
    assert {answer.status_code for answer in answers.values()} == {200}


async def test_an_empty_json_body_is_an_empty_object(http: httpx.AsyncClient):
    empty = [
        ("POST", {"Content-Type": "application/json"}, b""),
        ("PUT", {"Content-Type": "application/json; charset=utf-8"}, b" \n"),
        ("DELETE", {}, None),
        ("POST", {}, b""),
    ]
    answers = [await http.request(method, "/a", content=body, headers=headers) for method, headers, body in empty]
    assert [answer.json()["body"] for answer in answers] == ["{}"] * 4


async def test_an_empty_form_stays_empty(http: httpx.AsyncClient):
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert (await http.post("/a", content=b"", headers=headers)).json()["body"] == ""


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_over_the_limit_is_refused(http: httpx.AsyncClient, chunked: bool):
    async def answer_to(size: int) -> httpx.Response:
        async def parts() -> AsyncIterator[bytes]:
            for start in range(0, size, 300):
                yield b"x" * min(300, size - start)

        return await http.post("/a", content=parts() if chunked else b"x" * size)

    allowed = await answer_to(LIMIT)
    assert (allowed.status_code, allowed.json()["body"]) == (200, "x" * LIMIT)
    refused = [await answer_to(size) for size in (LIMIT + 1, 50 * LIMIT)]
    errors = [answer.json()["error"] for answer in refused]
    told = [(answer.status_code, error["error_code"]) for answer, error in zip(refused, errors, strict=True)]
    assert told == [(413, 413)] * 2
    assert [error["error_message"] for error in errors] == [f"the request's body is larger than {LIMIT} bytes"] * 2


async def test_a_body_in_parts_arrives_whole(http: httpx.AsyncClient):
    async def parts() -> AsyncIterator[bytes]:
        yield b'{"a"'
        yield b": 1}"

    assert (await http.post("/a", content=parts())).json()["body"] == '{"a": 1}'


async def test_open_requests_are_counted(shell: RequestShell, http: httpx.AsyncClient):
    before = shell.last_request
    await http.get("/a")
    assert shell.open_requests == 0
    assert shell.last_request > before


async def test_a_scope_other_than_http_passes_through():
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def nothing(*_: object) -> Any:
        raise NotImplementedError

    await RequestShell(app, Settings(), let_in)({"type": "lifespan"}, nothing, nothing)
    assert seen == ["lifespan"]
