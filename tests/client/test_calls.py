"""Conversations without a socket: the test plays the part of the client that performs the steps."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.double.service import TOKEN
from tests.support.http_front import error

from svc_jupyter.client import (
    ConnectionFailed,
    Invalid,
    NotFound,
    Retries,
    ServerError,
    Settings,
    StatusError,
    TooManyRequests,
    UnexpectedAnswer,
)
from svc_jupyter.client.transport.calls import Call, Pause, Relocate, Send, exchange
from svc_jupyter.client.transport.link import Link

CALM = Retries(attempts=3, first=1.0, jitter=lambda: 1.0)


@pytest.fixture
def link() -> Link:
    return Link(Settings.load("https://service.test", TOKEN), CALM)


@pytest.fixture
def embedded_link(tmp_path: Path) -> Link:
    return Link(Settings.load(environ={"SVC_DATA_DIR": str(tmp_path)}), CALM)


def answered(response: httpx.Response, url: str = "https://service.test/api/v1.2/account?x=1") -> httpx.Response:
    response.request = httpx.Request("GET", url)
    return response


def converse(flow: Any, *replies: Any) -> tuple[list[Any], Any]:
    """Return the steps after the first and what the conversation comes to."""
    steps = [next(flow)]
    try:
        for reply in replies:
            step = flow.throw(reply) if isinstance(reply, Exception) else flow.send(reply)
            steps.append(step)
    except StopIteration as end:
        return steps, end.value
    return steps, None


def test_a_success_takes_one_step(link: Link) -> None:
    answer = answered(httpx.Response(200, json={}))
    steps, result = converse(exchange(link, Call("GET", "/x")), answer)
    assert result is answer
    assert [type(step) for step in steps] == [Send]


def test_a_get_is_sent_again_after_growing_pauses(link: Link) -> None:
    flow = exchange(link, Call("GET", "/x"))
    steps, result = converse(
        flow, httpx.ReadError("reset"), None, answered(error(502, "gone")), None, answered(httpx.Response(200))
    )
    assert result.status_code == 200
    assert [step.seconds for step in steps if isinstance(step, Pause)] == [1.0, 2.0]


def test_the_last_error_is_raised_when_the_tries_are_used_up(link: Link) -> None:
    flow = exchange(link, Call("GET", "/x"))
    with pytest.raises(ConnectionFailed, match=r"https://service.test cannot be reached \(refused\)"):
        converse(flow, *[httpx.ConnectError("refused"), None] * 3)


def test_a_retry_after_is_waited_for(link: Link) -> None:
    answer = answered(error(429, "slow down", **{"Retry-After": "9"}))
    steps, _ = converse(exchange(link, Call("POST", "/x", body={})), answer)
    assert isinstance(steps[-1], Pause)
    assert steps[-1].seconds == 9.0


def test_a_retry_after_beyond_the_limit_is_raised_with_its_seconds(link: Link) -> None:
    answer = answered(error(429, "slow down", **{"Retry-After": "3600"}))
    with pytest.raises(TooManyRequests, match="slow down") as raised:
        converse(exchange(link, Call("GET", "/x")), answer)
    assert raised.value.retry_after == 3600.0


def test_a_refused_call_to_the_embedded_service_looks_for_it_once(embedded_link: Link) -> None:
    refused = httpx.ConnectError("refused")
    steps, _ = converse(exchange(embedded_link, Call("POST", "/x", body={})), refused, True, refused)
    assert isinstance(steps[1], Relocate)
    assert steps[1].start
    assert [type(step) for step in steps] == [Send, Relocate, Send, Pause]


def test_a_wrong_token_at_the_embedded_service_looks_for_a_new_one_without_starting_it(embedded_link: Link) -> None:
    wrong = answered(error(401, "the token is wrong"))
    steps, _ = converse(exchange(embedded_link, Call("GET", "/x")), wrong, True)
    assert isinstance(steps[1], Relocate)
    assert not steps[1].start
    assert isinstance(steps[2], Send)


def test_the_services_own_words_and_trace_are_in_the_error(link: Link) -> None:
    with pytest.raises(Invalid, match=r"^name: too long$") as raised:
        converse(exchange(link, Call("GET", "/x")), answered(error(422, "name: too long")))
    assert raised.value.trace_id == "trace-1"


def refused(link: Link, answer: httpx.Response) -> StatusError:
    with pytest.raises(StatusError) as raised:
        converse(exchange(link, Call("GET", "/x")), answered(answer))
    return raised.value


def test_the_services_words_for_each_field_are_in_the_error(link: Link) -> None:
    answers = [
        httpx.Response(422, json={"error": {"error_code": 422, "error_message": "no", "fields": fields}})
        for fields in ({"name": "too long"}, "odd", None)
    ]
    errors = [refused(link, answer) for answer in answers]
    assert [error.fields for error in errors] == [{"name": "too long"}, {}, {}]
    assert {type(error) for error in errors} == {Invalid}


def test_an_error_in_a_form_of_its_own_is_reported_by_call_and_status(link: Link) -> None:
    contents = (b"<html>gateway</html>", b"[]", b'{"error": null}', b'{"error": {}}', b"\xff")
    found = {content: refused(link, httpx.Response(404, content=content)) for content in contents}
    wanted = (NotFound, "GET https://service.test/api/v1.2/account answered 404 Not Found")
    assert {content: (type(error), str(error)) for content, error in found.items()} == dict.fromkeys(contents, wanted)


def test_an_error_that_is_a_bare_text_is_reported(link: Link) -> None:
    with pytest.raises(ServerError, match=r"^out of order$"):
        converse(exchange(link, Call("GET", "/x")), answered(httpx.Response(500, json={"error": "out of order"})))


def test_a_redirect_is_not_followed_but_reported(link: Link) -> None:
    answer = answered(httpx.Response(302, headers={"Location": "https://login.test/?next=secret"}))
    with pytest.raises(UnexpectedAnswer, match=r"redirects to https://login.test/;") as raised:
        converse(exchange(link, Call("GET", "/x")), answer)
    assert "secret" not in str(raised.value)


def test_a_target_holds_what_is_given_only() -> None:
    assert Call("GET", "/x").target == "/x"
    assert Call("GET", "/x", {"a": None}).target == "/x"
    assert Call("GET", "/x", {"a": True, "b": ["c d", "e"], "f": 1}).target == "/x?a=true&b=c+d%2Ce&f=1"
