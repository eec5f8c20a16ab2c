import logging
import subprocess
import sys
import threading
from typing import Any

import httpx
import pytest
from tests.support.double.records import BrokenStream
from tests.support.double.service import TOKEN, ServiceDouble

import svc_jupyter.client
from svc_jupyter.client import (
    AsyncClient,
    Client,
    ConfigurationError,
    ConnectionFailed,
    Settings,
    SvcError,
    Unauthorized,
    UnexpectedAnswer,
)
from svc_jupyter.client.transport import wire
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.link import Connection

WRONG = "wrong-token-9876543210"


@pytest.mark.both_clients
def test_the_token_goes_with_every_call(client: Any, service: ServiceDouble) -> None:
    client.commands.list()
    assert service.requests[0].headers["X-AUTH-TOKEN"] == TOKEN


def test_a_wrong_token_is_unauthorized_and_shown_nowhere(
    extended: ServiceDouble, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with Client(extended.base_url, WRONG, transport=extended.transport()) as client:
        with pytest.raises(Unauthorized) as raised:
            client.commands.get(1)
        shown = [repr(client), repr(client.settings), repr(Connection.to(client.base_url, WRONG)), str(raised.value)]
        shown += [repr(raised.value), repr(vars(raised.value)), repr(extended.requests[0].headers), caplog.text]
    assert WRONG not in "".join(shown)


def test_the_same_settings_can_be_given_as_one(extended: ServiceDouble) -> None:
    settings = Settings.load(extended.base_url, TOKEN)
    with Client(config=settings, transport=extended.transport()) as client:
        assert client.base_url == extended.base_url
        assert client.commands.list().commands == []
    with pytest.raises(TypeError, match="either config"):
        Client("https://other.test", config=settings)
    with pytest.raises(TypeError, match="either config"):
        AsyncClient("https://other.test", config=settings)


def test_an_address_without_a_token_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(ConfigurationError, match=r"there is no token for https://a.test"):
        Client("https://a.test")


def test_a_page_that_is_no_service_is_reported(connect: Any, extended: ServiceDouble) -> None:
    extended.next_answers.append(httpx.Response(200, html="<h1>Welcome</h1>"))
    with pytest.raises(UnexpectedAnswer, match="is this the address of a service"):
        connect(extended).commands.get(1)


@pytest.mark.both_clients
def test_a_body_that_breaks_off_is_fetched_again(client: Any, service: ServiceDouble) -> None:
    service.add()
    service.next_answers.append(httpx.Response(200, stream=BrokenStream(b'{"id":')))
    assert client.commands.get(1).id == 1


@pytest.mark.both_clients
def test_a_service_that_is_away_is_reported_without_httpx_words_alone(connect: Any, extended: ServiceDouble) -> None:
    extended.next_answers.extend(httpx.ConnectError("[Errno 111] Connection refused") for _ in range(9))
    with pytest.raises(ConnectionFailed, match=r"http://service.test cannot be reached \(\[Errno 111\]") as raised:
        connect(extended).account.get()
    assert isinstance(raised.value, SvcError)
    assert not raised.value.maybe_sent


@pytest.mark.both_clients
def test_whether_a_service_has_the_extensions_is_learnt_from_its_records(
    connect: Any, extended: ServiceDouble, bare: ServiceDouble
) -> None:
    def learnt(service: ServiceDouble) -> tuple[bool, bool]:
        client = connect(service)
        before = client.extended
        service.add()
        client.commands.get(1)
        return before, client.extended

    assert (learnt(extended), learnt(bare)) == ((False, True), (False, False))


def test_one_client_serves_several_threads(extended: ServiceDouble) -> None:
    texts: list[str] = []
    extended.prepare = lambda command: setattr(command, "results", f"{command.record['id']}\r\n")
    with Client(extended.base_url, TOKEN, transport=extended.transport()) as client:

        def work() -> None:
            texts.extend(client.commands.submit("ShellCommand", inline="x").result().text() for _ in range(20))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(map(int, texts)) == list(range(1, 81))


def test_a_held_answer_is_waited_for_longer() -> None:
    connection = Connection.to("https://service.test", TOKEN)
    plain = wire.request(connection, Call("GET", "/x")).extensions["timeout"]
    held = wire.request(connection, Call("GET", "/x", hold=30)).extensions["timeout"]
    assert plain["connect"] == 5.0
    assert held["read"] == plain["read"] + 30


def test_a_proxy_of_the_environment_never_sees_calls_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with ServiceDouble() as own, ServiceDouble() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url)
        for url in (own.base_url, "http://service.test"):
            with Client(url, TOKEN) as client:
                client.account.get()
    assert len(own.requests) == 1
    assert [request.url.host for request in proxy.requests] == ["service.test"]


def test_the_public_names_are_sorted_and_there() -> None:
    names = svc_jupyter.client.__all__
    assert "Client" in names
    assert names == sorted(names)
    assert [name for name in names if not hasattr(svc_jupyter.client, name)] == []


def test_the_import_leaves_the_heavy_libraries_out() -> None:
    code = (
        "import sys, svc_jupyter.client; "
        "print(sorted({'pandas', 'pyarrow', 'numpy', 'httpx_sse', 'platformdirs'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
