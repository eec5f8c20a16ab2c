"""The calls that every command makes are answered past the routes, and just as the routes answer them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from tests.service.commands.test_routes_submitting import BODIES
from tests.support.service_process import ServiceProcess

from svc_jupyter.api.paths import ARROW_STREAM, CSV
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.hot_calls import HotCalls
from svc_jupyter.service.ground.errors import Unauthorized

SLOW = {"wait": "0.0"}
"""A query that says nothing, in a form that only the routes take."""


class Application:
    """Stands in for what is behind: it counts what is passed on to it, and knows no token."""

    def __init__(self) -> None:
        self.passed = 0
        self.state = SimpleNamespace(parts={Access: SimpleNamespace(tokens=self), Commands: None})

    async def caller(self, _token: str | None) -> None:
        raise Unauthorized("asked for a token")

    async def __call__(self, _scope: Any, _receive: Any, send: Any) -> None:
        self.passed += 1
        await send({"type": "http.response.start", "status": 418, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def status_of(method: str, target: str) -> int:
    """Return 401 for what is answered here, 418 for what is passed on."""
    application = Application()
    transport = httpx.ASGITransport(HotCalls(application))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        status = (await client.request(method, f"/api/{target}")).status_code
    assert application.passed == (status == 418)
    return status


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("POST", "v1.2/commands"),
        ("POST", "latest/commands?wait=30"),
        ("POST", "v1.2/commands?wait=30&arrow=true"),
        ("GET", "v2.2/commands/1"),
        ("GET", "v1.2/commands/9999999999999999?wait=60"),
        ("GET", "v1.2/commands/12/status_with_results?wait=0"),
        ("GET", "v1.2/commands/12/results"),
    ],
)
async def test_frequent_calls_are_answered_without_the_routes(method: str, target: str):
    assert await status_of(method, target) == 401


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "v1.2/commands"),
        ("POST", "v1.2/commands/1"),
        ("PUT", "v1.2/commands/1"),
        ("HEAD", "v1.2/commands/1"),
        ("POST", "v9/commands"),
        ("POST", "v1x2/commands"),
        ("POST", "v1.2/commands/"),
        ("POST", "v1.2/commands?wait=61"),
        ("POST", "v1.2/commands?wait=1.5"),
        ("POST", "v1.2/commands?arrow=true"),
        ("GET", "v1.2/commands/1?wait=1&arrow=true"),
        ("POST", "v1.2/commands?wait=1&wait=2"),
        ("GET", "v1.2/commands/0"),
        ("GET", "v1.2/commands/01"),
        ("GET", "v1.2/commands/10000000000000000"),
        ("GET", "v1.2/commands/1%0A"),
        ("GET", "v1.2/commands/1?include_query_properties=true"),
        ("GET", "v1.2/commands/1/status_with_results?include_headers=true"),
        ("GET", "v1.2/commands/1/results?wait=1"),
        ("GET", "v1.2/commands/1/results?table=1"),
        ("POST", "v1.2/commands/1/results"),
        ("GET", "v1.2/db_taps/1"),
    ],
)
async def test_everything_else_goes_the_ordinary_way(method: str, target: str):
    assert await status_of(method, target) == 418


def seen(response: httpx.Response) -> tuple[int, Any, list[str]]:
    """Return what a caller sees of an answer, but for what differs between any two."""
    body = response.json()
    if "error" in body and isinstance(body["error"], dict):
        assert body["error"].pop("trace_id") == response.headers["X-Trace-Id"]
    return response.status_code, body, sorted(response.headers)


def bytes_of(response: httpx.Response) -> tuple[int, bytes, list[str]]:
    """As `seen`, of an answer that is no JSON."""
    return response.status_code, response.content, sorted(response.headers)


@pytest.mark.parametrize("content", [content for content, _, _ in BODIES if b"for (;;)" not in content])
def test_a_submission_is_refused_as_the_route_refuses_it(http: httpx.Client, content: bytes):
    headers = {"Content-Type": "application/json"}
    hot, slow = (http.post("/commands", content=content, headers=headers, params=params) for params in ({}, SLOW))
    assert seen(hot) == seen(slow)


@pytest.mark.parametrize("part", ["", "/status_with_results"])
@pytest.mark.parametrize("token", [None, "wrong", "right"])
def test_a_look_up_is_answered_as_the_route_answers_it(
    http: httpx.Client, shared_service: ServiceProcess, done: int, failed: int, part: str, token: str | None
):
    with shared_service.client(shared_service.token if token == "right" else token) as client:
        for command_id in (done, failed, 999_999):
            path = f"/commands/{command_id}{part}"
            assert seen(client.get(path)) == seen(client.get(path, params=SLOW))
            assert seen(client.get(path, params={"wait": 5})) == seen(client.get(path, params=SLOW))


@pytest.mark.parametrize("accept", ["application/json", ARROW_STREAM, CSV, "text/html"])
@pytest.mark.parametrize("token", [None, "right"])
def test_results_are_given_as_the_route_gives_them(
    http: httpx.Client, shared_service: ServiceProcess, done: int, failed: int, accept: str, token: str | None
):
    with shared_service.client(shared_service.token if token == "right" else token) as client:
        for command_id in (done, failed, 999_999):
            hot, slow = (
                client.get(f"/commands/{command_id}/results", params=params, headers={"Accept": accept})
                for params in ({}, SLOW)
            )
            as_json = hot.headers["content-type"] == "application/json"
            assert (seen(hot) if as_json else bytes_of(hot)) == (seen(slow) if as_json else bytes_of(slow))


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "as hot as not"}, {"Idempotency-Key": ""}])
def test_a_submission_is_taken_as_the_route_takes_it(http: httpx.Client, headers: dict[str, str]):
    def submit(params: dict[str, str]) -> tuple[int, set[str]]:
        body = {"command_type": "ShellCommand", "inline": "true"}
        response = http.post("/commands", json=body, headers=headers, params=params)
        return response.status_code, set(response.json())

    assert submit({}) == submit(SLOW)


class TestASubmissionThatWaits:
    def submit(self, http: httpx.Client, script: str, **headers: str) -> dict[str, Any]:
        body = {"command_type": "ShellCommand", "inline": script}
        response = http.post("/commands", json=body, params={"wait": 20}, headers=headers)
        assert response.status_code == 200
        return dict(response.json())

    def test_is_answered_with_the_end(self, http: httpx.Client):
        record = self.submit(http, "exit 3")
        assert (record["status"], record["attempts"][0]["exit_code"]) == ("error", 3)
        assert http.get(f"/commands/{record['id']}").json() == record

    def test_is_answered_with_what_is_known_when_the_time_is_over(self, http: httpx.Client):
        body = {"command_type": "ShellCommand", "inline": "sleep 600"}
        record = http.post("/commands", json=body, params={"wait": "0.1"}).json()
        assert record["status"] == "running"
        http.put(f"/commands/{record['id']}", json={"status": "kill"}).raise_for_status()

    def test_a_second_time_with_the_same_key_is_answered_with_the_end_of_the_first(self, http: httpx.Client):
        key = {"Idempotency-Key": "waited for twice"}
        first, second = (self.submit(http, "echo $SVC_COMMAND_ID", **key) for _ in range(2))
        assert first == second
        assert first["status"] == "done"
