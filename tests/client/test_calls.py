"""Calls and their retries, with prepared replies and a clock of the test's own."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.client.clock import Clock
from tests.support.double.service import TOKEN
from tests.support.http_front import error

from svc_jupyter.api.run_connection import CONNECTION_FILE
from svc_jupyter.client import (
    ConnectionFailed,
    Invalid,
    NotFound,
    Retries,
    ServerError,
    Settings,
    StatusError,
    TooManyRequests,
    Unauthorized,
    UnexpectedAnswer,
)
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.link import Connection

CALM = Retries(attempts=3, first=1.0, jitter=lambda: 1.0)
Reply = httpx.Response | httpx.RequestError


class Stage:
    """A service with prepared replies, and a clock of the test's own."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.clock = clock
        self.sender = AsyncSender(settings, transport=httpx.MockTransport(self._reply), retries=CALM)
        self.sender.link.connection = Connection.to("https://service.test", TOKEN)
        self.left: list[Reply] = []
        self.relocations: list[bool] = []
        """Of each search for the service, whether it may start one."""
        self.has_moved = True

    def send(self, *replies: Reply, method: str = "GET", stream: bool = False) -> httpx.Response:
        """Send a call, and return its answer; all replies must be used up."""
        self.left = [*replies]
        call = Call(method, "/api/v1.2/account", {"x": 1}, body=None if method == "GET" else {}, stream=stream)
        try:
            return asyncio.run(self.sender.send(call))
        finally:
            assert self.left == []

    def relocate(self, _failed: Connection | None, *, start: bool) -> bool:
        """Stand for the search of a service that may have moved."""
        self.relocations.append(start)
        return self.has_moved

    def _reply(self, _request: httpx.Request) -> httpx.Response:
        reply = self.left.pop(0)
        if isinstance(reply, httpx.RequestError):
            raise reply
        return reply


@pytest.fixture
def stage(clock: Clock) -> Stage:
    return Stage(Settings.load("https://service.test", TOKEN), clock)


@pytest.fixture
def embedded(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage(Settings.load(environ={"SVC_DATA_DIR": str(tmp_path)}), clock)
    monkeypatch.setattr(stage.sender.link, "relocate", stage.relocate)
    return stage


@pytest.fixture
def of_run(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Stage:
    file = tmp_path / "connection.json"
    file.write_text(json.dumps({"base_url": "https://service.test", "token": TOKEN}))
    stage = Stage(Settings.load(environ={CONNECTION_FILE: str(file)}), clock)
    monkeypatch.setattr(stage.sender.link, "relocate", stage.relocate)
    return stage


def test_a_success_takes_one_call(stage: Stage) -> None:
    assert stage.send(httpx.Response(200, json={})).status_code == 200
    assert stage.clock.pauses == []


def test_a_get_is_sent_again_after_growing_pauses(stage: Stage) -> None:
    assert stage.send(httpx.ReadError("reset"), error(502, "gone"), httpx.Response(200)).status_code == 200
    assert stage.clock.pauses == [1.0, 2.0]


def test_the_last_error_is_raised_when_the_tries_are_used_up(stage: Stage) -> None:
    with pytest.raises(ConnectionFailed, match=r"https://service.test cannot be reached \(refused\)") as raised:
        stage.send(*[httpx.ConnectError("refused")] * 3)
    assert stage.clock.pauses == [1.0, 2.0]
    assert isinstance(raised.value.__cause__, httpx.ConnectError)


def test_a_retry_after_is_waited_for(stage: Stage) -> None:
    stage.send(error(429, "slow down", **{"Retry-After": "9"}), httpx.Response(200), method="POST")
    assert stage.clock.pauses == [9.0]


def test_a_retry_after_beyond_the_limit_is_raised_with_its_seconds(stage: Stage) -> None:
    with pytest.raises(TooManyRequests, match="slow down") as raised:
        stage.send(error(429, "slow down", **{"Retry-After": "3600"}))
    assert raised.value.retry_after == 3600.0


def test_a_refused_call_to_the_embedded_service_looks_for_it_once(embedded: Stage) -> None:
    embedded.send(httpx.ConnectError("refused"), httpx.ConnectError("refused"), httpx.Response(200), method="POST")
    assert embedded.relocations == [True]
    assert embedded.clock.pauses == [2.0]


def test_a_wrong_token_at_the_embedded_service_looks_for_a_new_one_without_starting_it(embedded: Stage) -> None:
    embedded.send(error(401, "the token is wrong"), httpx.Response(200))
    assert embedded.relocations == [False]
    embedded.has_moved = False
    with pytest.raises(Unauthorized):
        embedded.send(error(401, "the token is wrong"))
    assert embedded.relocations == [False, False]


def test_a_refused_call_to_the_service_of_a_run_looks_for_it_before_each_try(of_run: Stage) -> None:
    of_run.send(*[httpx.ConnectError("refused")] * 3, httpx.Response(200))
    assert of_run.relocations == [False] * 3
    assert of_run.clock.pauses == []


def test_the_services_own_words_and_trace_are_in_the_error(stage: Stage) -> None:
    with pytest.raises(Invalid, match=r"^name: too long$") as raised:
        stage.send(error(422, "name: too long"))
    assert raised.value.trace_id == "trace-1"


def test_the_words_of_a_refused_stream_are_in_the_error(stage: Stage) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield error(404, "the result was deleted").content

    with pytest.raises(NotFound, match=r"^the result was deleted$"):
        stage.send(httpx.Response(404, content=body()), stream=True)


def refused(stage: Stage, answer: httpx.Response) -> StatusError:
    with pytest.raises(StatusError) as raised:
        stage.send(answer)
    return raised.value


def test_the_services_words_for_each_field_are_in_the_error(stage: Stage) -> None:
    answers = [
        httpx.Response(422, json={"error": {"error_code": 422, "error_message": "no", "fields": fields}})
        for fields in ({"name": "too long"}, "odd", None)
    ]
    errors = [refused(stage, answer) for answer in answers]
    assert [error.fields for error in errors] == [{"name": "too long"}, {}, {}]
    assert {type(error) for error in errors} == {Invalid}


def test_an_error_in_a_form_of_its_own_is_reported_by_call_and_status(stage: Stage) -> None:
    contents = (b"<html>gateway</html>", b"[]", b'{"error": null}', b'{"error": {}}', b"\xff")
    found = {content: refused(stage, httpx.Response(404, content=content)) for content in contents}
    wanted = (NotFound, "GET https://service.test/api/v1.2/account answered 404 Not Found")
    assert {content: (type(error), str(error)) for content, error in found.items()} == dict.fromkeys(contents, wanted)


def test_an_error_that_is_a_bare_text_is_reported(stage: Stage) -> None:
    with pytest.raises(ServerError, match=r"^out of order$"):
        stage.send(httpx.Response(500, json={"error": "out of order"}))


def test_a_redirect_is_not_followed_but_reported(stage: Stage) -> None:
    with pytest.raises(UnexpectedAnswer, match=r"redirects to https://login.test/;") as raised:
        stage.send(httpx.Response(302, headers={"Location": "https://login.test/?next=secret"}))
    assert "secret" not in str(raised.value)


def test_a_target_holds_what_is_given_only() -> None:
    assert Call("GET", "/x").target == "/x"
    assert Call("GET", "/x", {"a": None}).target == "/x"
    assert Call("GET", "/x", {"a": True, "b": ["c d", "e"], "f": 1}).target == "/x?a=true&b=c+d%2Ce&f=1"
