import asyncio
import logging
import ssl
import traceback
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.service.notifications.clocks import NOON
from tests.service.notifications.hook_server import HookServer

from svc_jupyter.service.notifications import webhooks as module
from svc_jupyter.service.notifications.due_work import NotDelivered
from svc_jupyter.service.notifications.webhooks import Webhooks, retry_after_seconds

SECRET = "T0-secret-B0"
BODY = {"event": "schedule.failure", "text": "Größe ✓"}


async def post(url: str, *, within: float = 30, may_be_private: bool = True) -> None:
    webhooks = Webhooks(within=within, may_be_private=may_be_private, clock=lambda: NOON)
    await webhooks.post(url, BODY, delivery_id="7.1", event="schedule.failure")


async def failure(url: str, **options: Any) -> NotDelivered:
    with pytest.raises(NotDelivered) as caught:
        await post(url, **options)
    told = "".join(traceback.format_exception(caught.value))
    assert SECRET not in told.replace(__file__, "")
    return caught.value


async def test_a_message_is_posted_as_json_with_its_id_and_nothing_else(hook_server: HookServer) -> None:
    await post(hook_server.url(f"/hook/{SECRET}?key=a%20b"))

    (posted,) = hook_server.posted
    assert posted.path == f"/hook/{SECRET}?key=a%20b"
    assert posted.body == BODY
    assert posted.headers["Host"] == f"127.0.0.1:{hook_server.port}"
    known = {"Host", "Accept", "Accept-Encoding", "Connection", "Content-Type", "Content-Length", "User-Agent"}
    assert set(posted.headers) == known | {"X-Delivery-Id", "X-Event"}
    assert posted.headers["Content-Type"] == "application/json"
    assert posted.headers["X-Delivery-Id"] == "7.1"
    assert posted.headers["X-Event"] == "schedule.failure"


async def test_user_and_password_of_the_url_are_a_login(hook_server: HookServer) -> None:
    await post(f"http://user:pass@127.0.0.1:{hook_server.port}/")

    assert hook_server.posted[0].headers["Authorization"] == "Basic dXNlcjpwYXNz"
    assert hook_server.posted[0].headers["Host"] == f"127.0.0.1:{hook_server.port}"


async def test_a_proxy_of_the_environment_is_not_asked(
    hook_server: HookServer, monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port}")

    await post(hook_server.url())

    assert len(hook_server.posted) == 1


async def test_no_cookie_reaches_another_message(hook_server: HookServer) -> None:
    webhooks = Webhooks(within=30, may_be_private=True, clock=lambda: NOON)
    hook_server.answers = [(200, {"Set-Cookie": "who=ada"})]

    for _ in range(2):
        await webhooks.post(hook_server.url(), BODY, delivery_id="7.1", event="schedule.failure")

    assert all("Cookie" not in posted.headers for posted in hook_server.posted)


async def test_every_success_counts(hook_server: HookServer) -> None:
    statuses = [200, 201, 202, 204]
    hook_server.answers = [(status, {}) for status in statuses]

    for _ in statuses:
        await post(hook_server.url())

    assert hook_server.answers == []


async def test_a_refusal_is_final_and_a_fault_is_not(hook_server: HookServer) -> None:
    may_retry = {400: False, 401: False, 404: False, 410: False, 408: True, 429: True, 500: True, 503: True}
    hook_server.answers = [(status, {}) for status in may_retry]

    failures = {status: await failure(hook_server.url(f"/{SECRET}")) for status in may_retry}

    assert {status: str(failed) for status, failed in failures.items()} == {
        status: f"127.0.0.1 answered {status}" for status in may_retry
    }
    assert {status: failed.may_retry for status, failed in failures.items()} == may_retry
    assert {failed.retry_after for failed in failures.values()} == {0}


async def test_a_server_says_when_it_wants_to_be_asked_again(hook_server: HookServer) -> None:
    hook_server.answers = [(429, {"Retry-After": "120"})]
    assert (await failure(hook_server.url())).retry_after == 120


def test_retry_after_is_seconds_or_a_date() -> None:
    moment = format_datetime(datetime.fromtimestamp(NOON + 90, UTC), usegmt=True)
    assert retry_after_seconds(moment, NOON) == 90
    assert retry_after_seconds(moment, NOON + 200) == 0
    assert retry_after_seconds("17", NOON) == 17
    assert retry_after_seconds(None, NOON) == 0


@given(st.text())
def test_nonsense_in_retry_after_harms_nobody(text: str) -> None:
    assert retry_after_seconds(text, NOON) >= 0


async def test_a_redirect_is_not_followed(hook_server: HookServer) -> None:
    schemes = ["http", "file", "gopher"]
    hook_server.answers = [(307, {"Location": hook_server.url("/other", scheme=scheme)}) for scheme in schemes]

    failures = {scheme: await failure(hook_server.url(f"/{SECRET}")) for scheme in schemes}

    told = {
        scheme: ("redirects are not followed" in str(failed), failed.may_retry) for scheme, failed in failures.items()
    }
    assert told == dict.fromkeys(schemes, (True, False))
    assert [posted.path for posted in hook_server.posted] == [f"/{SECRET}"] * 3


async def test_a_slow_server_is_given_up_in_time(hook_server: HookServer) -> None:
    hook_server.holds = True

    failed = await failure(hook_server.url(f"/{SECRET}"), within=0.3)

    assert str(failed) == "127.0.0.1 did not answer within 0.3 s"
    assert failed.may_retry


async def test_a_server_that_never_says_a_word_is_given_up_in_time(silent_port: int) -> None:
    failed = await failure(f"http://127.0.0.1:{silent_port}/{SECRET}", within=0.3)
    assert failed.may_retry


async def test_a_server_that_is_not_there_may_come_back(free_port: int) -> None:
    failed = await failure(f"http://127.0.0.1:{free_port}/{SECRET}")
    assert "cannot connect to 127.0.0.1" in str(failed)
    assert failed.may_retry


async def test_a_host_that_is_not_known_may_come_to_be() -> None:
    failed = await failure(f"https://nowhere.invalid/{SECRET}")
    assert "nowhere.invalid cannot be found" in str(failed)
    assert failed.may_retry


async def test_a_connection_that_breaks_off_may_hold_next_time() -> None:
    async def hang_up(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        failed = await failure(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/{SECRET}")
    assert "broke off" in str(failed)
    assert failed.may_retry


async def test_this_machine_is_out_of_reach_unless_it_is_allowed(hook_server: HookServer) -> None:
    hosts = ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]"]

    failures = {host: await failure(hook_server.url(f"/{SECRET}", host=host), may_be_private=False) for host in hosts}

    told = {host: ("is not a public address" in str(failed), failed.may_retry) for host, failed in failures.items()}
    assert told == dict.fromkeys(hosts, (True, False))
    assert hook_server.posted == []


async def test_of_a_hosts_addresses_only_the_public_ones_are_connected_to(
    hook_server: HookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look_up(_host: str, _port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    async def count(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        private.append(writer)
        writer.close()

    private: list[asyncio.StreamWriter] = []
    monkeypatch.setattr(module, "look_up", look_up)
    monkeypatch.setattr(module, "is_public", lambda address: address == "127.0.0.1")
    server = await asyncio.start_server(count, "127.0.0.2", hook_server.port)
    async with server:
        await post(hook_server.url(host="both.example.org"), may_be_private=False)

    assert private == []
    assert len(hook_server.posted) == 1


async def test_the_host_is_looked_up_once_so_that_its_name_cannot_lead_elsewhere_afterwards(
    hook_server: HookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [["127.0.0.1"]]

    async def look_up(_host: str, _port: int) -> list[str]:
        return answers.pop()

    monkeypatch.setattr(module, "look_up", look_up)
    await post(hook_server.url(host="rebinding.invalid"))

    assert hook_server.posted[0].headers["Host"] == f"rebinding.invalid:{hook_server.port}"


async def test_the_next_address_is_tried_where_one_does_not_answer(
    hook_server: HookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look_up(_host: str, _port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    monkeypatch.setattr(module, "look_up", look_up)
    await post(hook_server.url(host="two.example.org"))

    assert hook_server.posted[0].headers["Host"] == f"two.example.org:{hook_server.port}"


@pytest.mark.usefixtures("trusted")
async def test_a_certificate_is_checked_for_the_name_of_the_url(
    server_context: ssl.SSLContext, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look_up(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    monkeypatch.setattr(module, "look_up", look_up)
    server = HookServer()
    server.start(server_context)
    try:
        await post(server.url(scheme="https", host="localhost"))
        failed = await failure(server.url(f"/{SECRET}", scheme="https", host="other.example.org"))
        monkeypatch.delenv("SSL_CERT_FILE")
        untrusted = await failure(server.url(f"/{SECRET}", scheme="https", host="localhost"))
    finally:
        server.stop()

    assert len(server.posted) == 1
    assert "certificate" in str(failed)
    assert "certificate" in str(untrusted)


async def test_no_library_logs_the_url(hook_server: HookServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    await post(hook_server.url(f"/{SECRET}"))

    assert SECRET not in caplog.text
