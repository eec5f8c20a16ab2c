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


@pytest.mark.parametrize("given", ["my-trace.0001", "a" * 64])
async def test_the_callers_trace_id_is_kept(http: httpx.AsyncClient, given: str):
    assert (await http.get("/a", headers={"X-Trace-Id": given})).headers["X-Trace-Id"] == given


@pytest.mark.parametrize("given", ["short", "a" * 65, "with blank", "a;b,c%0d%0a", ""])
async def test_an_invalid_trace_id_is_replaced(http: httpx.AsyncClient, given: str):
    assert (await http.get("/a", headers={"X-Trace-Id": given})).headers["X-Trace-Id"] != given


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


@pytest.mark.parametrize(
    ("path", "seen"),
    [("/a", "/a"), ("/a/", "/a"), ("/a/b//", "/a/b"), ("/", "/"), ("/gr%C3%BCn/", "/grün")],
)
async def test_a_trailing_slash_makes_no_difference(http: httpx.AsyncClient, path: str, seen: str):
    answer = await http.get(path)
    assert (answer.status_code, answer.json()["path"]) == (200, seen)


@pytest.mark.parametrize(
    ("method", "headers", "content"),
    [
        ("POST", {"Content-Type": "application/json"}, b""),
        ("PUT", {"Content-Type": "application/json; charset=utf-8"}, b" \n"),
        ("DELETE", {}, None),
        ("POST", {}, b""),
    ],
)
async def test_an_empty_json_body_is_an_empty_object(
    http: httpx.AsyncClient, method: str, headers: dict[str, str], content: bytes | None
):
    answer = await http.request(method, "/a", content=content, headers=headers)
    assert answer.json()["body"] == "{}"


async def test_an_empty_form_stays_empty(http: httpx.AsyncClient):
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert (await http.post("/a", content=b"", headers=headers)).json()["body"] == ""


@pytest.mark.parametrize(("size", "status"), [(LIMIT, 200), (LIMIT + 1, 413), (50 * LIMIT, 413)])
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_over_the_limit_is_refused(http: httpx.AsyncClient, size: int, status: int, chunked: bool):
    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, size, 300):
            yield b"x" * min(300, size - start)

    answer = await http.post("/a", content=parts() if chunked else b"x" * size)
    assert answer.status_code == status
    if status == 413:
        error: dict[str, Any] = answer.json()["error"]
        assert error["error_code"] == 413
        assert error["error_message"] == f"the request's body is larger than {LIMIT} bytes"
    else:
        assert answer.json()["body"] == "x" * size


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
