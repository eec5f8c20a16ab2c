"""Who may call the handlers, what they give away, and a service that is slow, down or does not know the token."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from tests.server.jupyter_process import TOKEN, JupyterProcess
from tests.support.ports import free_port
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.server.extension import ALL_HANDLERS
from svc_jupyter.server.handlers.passed_on import Route

pytestmark = pytest.mark.xdist_group("jupyter-server")
METHODS = ("get", "post", "put", "patch", "delete")
_EXAMPLES = ((r"([0-9]{1,18})", "1"), (r"([^/]+)", "default"), (r"/?(.*)", "/Common"))


def example(pattern: str) -> str:
    """Return a path that a handler's pattern matches."""
    for group, value in _EXAMPLES:
        pattern = pattern.replace(group, value)
    return re.sub(r"\(([a-z_]+)\|[^)]*\)", r"\1", pattern)


def methods_of(handler: type, options: list[dict[str, Route]]) -> list[str]:
    """Return the methods of a handler: those of its route, if it has one."""
    allowed = options[0]["route"].methods.lower().split() if options else vars(handler)
    return [method for method in METHODS if method in allowed]


CALLS = [
    (method, example(pattern))
    for pattern, handler, *options in ALL_HANDLERS
    for method in methods_of(handler, [*options])
]


def is_short(call: tuple[str, str]) -> bool:
    """Return whether a call is answered at once."""
    return not call[1].endswith("/events")


def test_every_route_is_in_the_table() -> None:
    assert CALLS
    assert [pattern for pattern, handler, *options in ALL_HANDLERS if not methods_of(handler, [*options])] == []
    assert not [path for _, path in CALLS if "(" in path]


def test_nobody_gets_an_answer_without_logging_in(jupyter: JupyterProcess) -> None:
    with jupyter.client({}) as stranger:
        answers = {(method, path): stranger.request(method, f"/{path}").status_code for method, path in CALLS}
    assert {call: status for call, status in answers.items() if status != 403} == {}


def test_a_logged_in_browser_cannot_be_made_to_write_by_another_page(jupyter: JupyterProcess) -> None:
    with jupyter.client({}) as browser:
        browser.get(f"{jupyter.base_url}login", params={"token": TOKEN}, follow_redirects=True)
        assert browser.get("/status").status_code == 200
        body = {"name": "forged", "location": "Common", "type": "notes"}
        assert browser.post("/folders", json=body).status_code == 403
        own = {"X-XSRFToken": browser.cookies["_xsrf"]}
        assert browser.post("/folders", json=body, headers=own).status_code == 200
        elsewhere = {**own, "Origin": "https://elsewhere.example"}
        assert browser.get("/status", headers=elsewhere).headers.get("Access-Control-Allow-Origin") is None


def test_who_is_not_authorised_is_refused(
    new_jupyter: Callable[..., JupyterProcess], service: ServiceProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    authorizer = {"authorizer_class": "tests.server.reading_only.ReadingOnly"}
    server = new_jupyter(base_url=service.base_url, token=service.token, ServerApp=authorizer)
    answers = {
        call: server.http.request(call[0], f"/{call[1]}", json={}).status_code for call in CALLS if is_short(call)
    }
    assert {call for call, status in answers.items() if status == 403} == {call for call in answers if call[0] != "get"}


def test_the_services_token_is_in_no_answer_and_no_log(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    for method, path in CALLS:
        if method == "get" and is_short((method, path)):
            answer = jupyter.http.get(f"/{path}")
            assert service.token not in answer.text + str(answer.headers)
    assert service.token not in jupyter.log_file.read_text()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("DELETE", "clusters/nowhere", 405),
        ("POST", "notification_channels", 405),
        ("GET", "clusters/%2E%2E/state", 404),
        ("GET", "hive/%2E", 404),
        ("GET", "contents/Common/%2E%2E", 422),
    ],
)
def test_a_page_reaches_only_the_calls_of_the_table(
    jupyter: JupyterProcess, method: str, path: str, status: int
) -> None:
    assert jupyter.http.request(method, f"/{path}").status_code == status


@pytest.mark.all
def test_a_service_that_is_away_is_reported_and_found_when_it_is_back(
    new_jupyter: Callable[..., JupyterProcess], new_service: Callable[..., ServiceProcess]
) -> None:
    service = new_service(port=free_port()).start()
    server = new_jupyter(base_url=service.base_url, token=service.token)
    assert server.http.get("/status").json()["connected"] is True
    service.stop()
    assert server.http.get("/status").json()["connected"] is False
    away = server.http.get("/commands")
    assert away.status_code == 503
    assert service.base_url in away.json()["message"]
    service.start()
    assert server.http.get("/commands").status_code == 200


def test_a_slow_service_holds_up_nothing_else(new_jupyter: Callable[..., JupyterProcess]) -> None:
    with never_answers() as (address, asked):
        server = new_jupyter(base_url=address, token="x")
        held: list[int | None] = []

        def ask() -> None:
            try:
                held.append(server.http.get("/commands").status_code)
            except httpx.TransportError:
                held.append(None)

        asking = [threading.Thread(target=ask) for _ in range(5)]
        for thread in asking:
            thread.start()
        wait_until(asked.is_set, "the service is asked")
        with httpx.Client(trust_env=False, timeout=90) as other:
            assert other.get(f"{server.base_url}api").status_code == 200
        assert held == []  # Jupyter answered although these five still wait
    for thread in asking:
        thread.join(60)
    assert len(held) == 5
    assert set(held) <= {502, 503, None}


@contextmanager
def never_answers() -> Iterator[tuple[str, threading.Event]]:
    """A double of a service that takes calls and does not answer them; at the end it breaks them off."""
    listener = socket.create_server(("127.0.0.1", 0))
    asked, kept = threading.Event(), []

    def take() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                kept.append(connection)
                asked.set()

    taking = threading.Thread(target=take, daemon=True)
    taking.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        taking.join(10)
        for connection in kept:
            connection.close()
