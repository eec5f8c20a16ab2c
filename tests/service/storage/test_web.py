from __future__ import annotations

import asyncio
import gzip
import logging

import pytest
from tests.support.until import until

from svc_jupyter.api.account import StorageUpdate
from svc_jupyter.service.storage.failures import StorageFailure

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])


@pytest.fixture
def fetch(storage, account_id, tmp_path):
    """Fetches a location and returns what came."""

    async def fetch(text: str) -> bytes:
        target = tmp_path / "copy"
        location = await storage.locate(account_id, text)
        size = await storage.fetch(account_id, location, target)
        assert size == target.stat().st_size
        return target.read_bytes()

    return fetch


async def failure_of(fetch, text, tmp_path) -> str:
    with pytest.raises(StorageFailure) as failure:
        await fetch(text)
    assert not (tmp_path / "copy").exists()
    return failure.value.message


async def test_a_url_is_fetched_with_its_query(fetch, web):
    url = web.answer("/a%20b.sh", b"echo hi")
    assert await fetch(url + "?signature=a%2Fb") == b"echo hi"
    path, headers = web.requests[0]
    assert path == "/a%20b.sh?signature=a%2Fb"
    assert "authorization" not in headers
    assert "referer" not in headers


async def test_an_answer_of_unknown_length_is_fetched(fetch, web):
    assert await fetch(web.answer("/a", [b"one", b"two" * 1_000_000])) == b"one" + b"two" * 1_000_000


async def test_an_encoded_answer_is_decoded(fetch, web):
    url = web.answer("/a.sh", gzip.compress(b"echo" * 1000), headers={"Content-Encoding": "gzip"})
    assert await fetch(url) == b"echo" * 1000
    assert web.requests[0][1]["accept-encoding"] == "identity"


async def test_redirects_are_followed_and_bounded(fetch, web, tmp_path):
    loop = web.answer("/loop", b"", status=302, headers={"Location": "/loop"})
    assert "more than 10 redirects" in await failure_of(fetch, loop, tmp_path)
    web.answer("/to", b"there")
    assert await fetch(web.answer("/from", b"", status=302, headers={"Location": "/to?x=1"})) == b"there"


async def test_a_redirect_is_held_to_the_rules_of_locations(fetch, web, tmp_path):
    targets = ["file:///etc/passwd", "http://example.org/a", "ftp://example.org/a", "http://u:p@127.0.0.1/", "//"]
    urls = [web.answer(f"/{number}", b"", status=302, headers={"Location": to}) for number, to in enumerate(targets)]
    told = {url: await failure_of(fetch, url, tmp_path) for url in urls}
    assert {url: message for url, message in told.items() if url not in message or "u:p" in message} == {}


async def test_an_error_of_the_server_is_reported_without_the_query(fetch, web, tmp_path):
    reasons = {
        404: "does not exist",
        403: "needs a signature",
        401: "needs a signature",
        418: "answered 418",
        204: "204",
    }
    urls = {status: web.answer(f"/{status}", b"", status=status) for status in reasons}
    told = {status: await failure_of(fetch, url + "?signature=secret", tmp_path) for status, url in urls.items()}
    assert {
        status: message
        for status, message in told.items()
        if reasons[status] not in message or urls[status] not in message or "signature=" in message
    } == {}
    assert [path for path, _ in web.requests] == [f"/{status}?signature=secret" for status in reasons]


async def test_a_passing_fault_is_tried_again(fetch, web):
    web.answer("/a", b"", status=503)
    web.answer("/a", b"half", headers={"Content-Length": "8"})
    assert await fetch(web.answer("/a", b"complete")) == b"complete"
    assert len(web.requests) == 3


async def test_a_lasting_fault_is_given_up(fetch, web, tmp_path):
    assert "answered 503" in await failure_of(fetch, web.answer("/a", b"", status=503), tmp_path)
    assert len(web.requests) == 3


async def test_an_answer_that_breaks_off_is_never_taken_for_whole(fetch, web, tmp_path):
    url = web.answer("/a", b"half", headers={"Content-Length": "8"})
    assert "broke off" in await failure_of(fetch, url, tmp_path)


async def test_a_server_that_is_not_there_is_named(fetch, closed_port, tmp_path):
    message = await failure_of(fetch, f"http://127.0.0.1:{closed_port}/a?signature=secret", tmp_path)
    assert f"cannot connect to 127.0.0.1:{closed_port}" in message
    assert "secret" not in message


async def test_an_answer_over_the_limit_is_cut_short(fetch, web, settings, tmp_path):
    settings.max_fetched_bytes = 100_000
    assert "larger than 100.0 kB" in await failure_of(fetch, web.answer("/told", bytes(200_000)), tmp_path)
    untold = web.answer("/untold", [bytes(60_000)] * 4)
    assert "larger than 100.0 kB" in await failure_of(fetch, untold, tmp_path)


async def test_no_log_shows_a_signed_url(fetch, web, caplog):
    caplog.set_level(logging.DEBUG)
    await fetch(web.answer("/a", b"x") + "?signature=secret")
    assert "secret" not in caplog.text


async def test_a_transfer_that_is_given_up_ends_and_leaves_nothing(fetch, web, tmp_path):
    url = web.answer("/slow", [b"x" * 2_000_000] * 200)
    task = asyncio.create_task(fetch(url))
    assert await asyncio.to_thread(web.was_asked.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not (tmp_path / "copy").exists())


class TestAService:
    """A service whose users may not reach its machine and network by themselves."""

    @pytest.fixture(autouse=True)
    def _for_a_team(self, storage, settings):
        settings.webhook_private_addresses = None

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
    async def test_reads_nothing_from_its_own_machine(self, fetch, web, tmp_path, host):
        url = web.answer("/a", b"secret").replace("127.0.0.1", host)
        message = await failure_of(fetch, f"{url}?signature=s", tmp_path)
        assert f"{url}: {host} is not a public address, and this service reads from no other" in message
        assert web.requests == []

    async def test_reads_nothing_from_private_networks(self, fetch, tmp_path):
        hosts = ["169.254.169.254", "10.1.2.3", "[::1]", "[::ffff:127.0.0.1]", "[fd00::1]"]
        told = {host: await failure_of(fetch, f"https://{host}/latest/meta-data", tmp_path) for host in hosts}
        assert {host: message for host, message in told.items() if "is not a public address" not in message} == {}

    async def test_is_not_led_there_by_a_redirect(self, fetch, web, tmp_path, storage, admin):
        storage.replace(StorageUpdate(url=f"{web.url}/data"), by=admin)
        web.answer("/data/a", b"", status=302, headers={"Location": f"{web.url}/elsewhere"})
        assert "is not a public address" in await failure_of(fetch, "a", tmp_path)
        assert [path for path, _ in web.requests] == ["/data/a"]

    async def test_reads_from_the_storage_that_an_administrator_chose(self, fetch, web, storage, admin):
        storage.replace(StorageUpdate(url=f"{web.url}/data"), by=admin)
        web.answer("/data/a", b"content")
        assert await fetch("a") == b"content"


async def test_the_judged_address_is_the_one_connected_to(fetch, web, monkeypatch):
    asked = []

    def look_up(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["127.0.0.1"]

    monkeypatch.setattr("svc_jupyter.service.storage.web.look_up_here", look_up)
    url = web.answer("/a", b"content").replace("127.0.0.1", "localhost")
    assert await fetch(url) == b"content"
    assert asked == [("localhost", int(url.split(":")[2].split("/")[0]))]
    assert web.requests[0][1]["host"] == url.split("/")[2]
