"""Which connection a call takes, and how long it is kept: seen from the other end."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from tests.support.service_process import wait_until
from tests.support.until import until

from svc_jupyter.client.transport import connections
from svc_jupyter.client.transport.connections import AsyncKeptConnections, KeptConnections

_ONE_TIME_OUT = httpx.Timeout(10.0, pool=0.05)


class Peer(ThreadingHTTPServer):
    """Answers every GET with `hi`; one of /held only once it is released."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.released = threading.Event()
        self.opened = self.closed = self.held = 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Peer

    def setup(self) -> None:
        self.server.opened += 1
        super().setup()

    def finish(self) -> None:
        super().finish()
        self.server.closed += 1

    def do_GET(self) -> None:
        if self.path == "/long":
            self.send_response(200)
            self.send_header("Content-Length", str(10**9))
            self.end_headers()
            with contextlib.suppress(OSError):
                for _ in range(1000):
                    self.wfile.write(bytes(10**6))
            self.close_connection = True
            return
        if self.path == "/held":
            self.server.held += 1
            self.server.released.wait(30)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"hi")

    def log_message(self, *_: object) -> None:
        """Nothing is told."""


@pytest.fixture
def peer() -> Iterator[Peer]:
    with Peer() as peer:
        thread = threading.Thread(target=peer.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield peer
        peer.released.set()
        peer.shutdown()
        thread.join(10)


@pytest.fixture
def client(peer: Peer) -> Iterator[httpx.Client]:
    kept = KeptConnections(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    with httpx.Client(transport=kept, base_url=peer.url, timeout=_ONE_TIME_OUT) as client:
        yield client


@pytest.fixture
async def async_client(peer: Peer) -> AsyncIterator[httpx.AsyncClient]:
    kept = AsyncKeptConnections(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    async with httpx.AsyncClient(transport=kept, base_url=peer.url, timeout=_ONE_TIME_OUT) as client:
        yield client


class TestBlocking:
    def test_calls_one_after_the_other_share_a_connection(self, peer: Peer, client: httpx.Client) -> None:
        assert [client.get("/").text for _ in range(5)] == ["hi"] * 5
        assert peer.opened == 1

    def test_calls_at_once_have_a_connection_each_and_leave_them_to_the_next(
        self, peer: Peer, client: httpx.Client
    ) -> None:
        with ThreadPoolExecutor(3) as threads:
            calls = [threads.submit(client.get, "/held") for _ in range(3)]
            wait_until(lambda: peer.held == 3, "the other end")
            peer.released.set()
            assert [call.result().text for call in calls] == ["hi"] * 3
            assert [call.text for call in threads.map(client.get, ["/"] * 3)] == ["hi"] * 3
        assert peer.opened == 3

    def test_a_connection_is_free_once_its_answer_is_closed(self, peer: Peer, client: httpx.Client) -> None:
        with client.stream("GET", "/") as streamed:
            client.get("/")
            assert peer.opened == 2
            assert streamed.read() == b"hi"
        client.get("/")
        assert peer.opened == 2

    def test_a_call_beyond_the_limit_waits_no_longer_than_its_timeout(
        self, peer: Peer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connections, "LIMIT", 1)
        kept = KeptConnections(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        with httpx.Client(transport=kept, base_url=peer.url, timeout=_ONE_TIME_OUT) as client:
            with client.stream("GET", "/"), pytest.raises(httpx.PoolTimeout):
                client.get("/")
            assert client.get("/").text == "hi"

    def test_a_call_that_fails_leaves_its_place_to_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connections, "LIMIT", 1)
        kept = KeptConnections(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        with httpx.Client(transport=kept, timeout=_ONE_TIME_OUT) as client:
            for _ in range(3):
                with pytest.raises(httpx.ConnectError):
                    client.get("http://127.0.0.1:1/")

    def test_an_idle_connection_is_closed(
        self, peer: Peer, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with client.stream("GET", "/") as streamed:
            client.get("/")
            streamed.read()
        monkeypatch.setattr(connections, "KEEP_SECONDS", 0.0)
        client.get("/")
        wait_until(lambda: peer.closed == 1, "the other end")
        assert peer.opened == 2

    def test_a_connection_that_the_service_closed_is_made_anew(self, peer: Peer, client: httpx.Client) -> None:
        client.get("/")
        with client.stream("GET", "/", headers={"Connection": "close"}):
            pass
        wait_until(lambda: peer.closed == 1, "the other end")
        assert client.get("/").text == "hi"
        assert peer.opened == 2

    def test_the_end_of_the_client_closes_every_connection(self, peer: Peer, client: httpx.Client) -> None:
        with client.stream("GET", "/"):
            client.get("/")
            client.close()
            wait_until(lambda: peer.closed == peer.opened == 2, "the other end")


class TestAsyncio:
    async def test_calls_one_after_the_other_share_a_connection(
        self, peer: Peer, async_client: httpx.AsyncClient
    ) -> None:
        assert [(await async_client.get("/")).text for _ in range(5)] == ["hi"] * 5
        assert peer.opened == 1

    async def test_calls_at_once_have_a_connection_each_and_leave_them_to_the_next(
        self, peer: Peer, async_client: httpx.AsyncClient
    ) -> None:
        calls = [asyncio.ensure_future(async_client.get("/held")) for _ in range(3)]
        await until(lambda: peer.held == 3)
        peer.released.set()
        answers = await asyncio.gather(*calls)
        answers += await asyncio.gather(*(async_client.get("/") for _ in range(3)))
        assert [answer.text for answer in answers] == ["hi"] * 6
        assert peer.opened == 3

    async def test_a_call_beyond_the_limit_waits_no_longer_than_its_timeout(
        self, peer: Peer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connections, "LIMIT", 1)
        kept = AsyncKeptConnections(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        async with httpx.AsyncClient(transport=kept, base_url=peer.url, timeout=_ONE_TIME_OUT) as client:
            async with client.stream("GET", "/"):
                with pytest.raises(httpx.PoolTimeout):
                    await client.get("/")
            assert (await client.get("/")).text == "hi"

    async def test_a_call_that_is_cancelled_leaves_its_place_to_others(
        self, peer: Peer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connections, "LIMIT", 1)
        kept = AsyncKeptConnections(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        async with httpx.AsyncClient(transport=kept, base_url=peer.url, timeout=_ONE_TIME_OUT) as client:
            call = asyncio.ensure_future(client.get("/held"))
            await until(lambda: peer.held == 1)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert (await client.get("/")).text == "hi"

    async def test_an_idle_connection_is_closed(
        self, peer: Peer, async_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with async_client.stream("GET", "/") as streamed:
            await async_client.get("/")
            await streamed.aread()
        monkeypatch.setattr(connections, "KEEP_SECONDS", 0.0)
        await async_client.get("/")
        await until(lambda: peer.closed == 1)
        assert peer.opened == 2

    async def test_the_end_of_the_client_closes_every_connection(
        self, peer: Peer, async_client: httpx.AsyncClient
    ) -> None:
        async with async_client.stream("GET", "/"):
            await async_client.get("/")
            await async_client.aclose()
            await until(lambda: peer.closed == peer.opened == 2)


class _Interrupted(httpx.AsyncByteStream):
    """A body whose closing is cancelled before it has closed anything."""

    def __init__(self, body: httpx.AsyncByteStream) -> None:
        self._body = body

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._body.__aiter__()

    async def aclose(self) -> None:
        raise asyncio.CancelledError


def test_a_connection_that_opens_while_all_are_closed_is_closed_after_its_call(peer: Peer) -> None:
    transport = KeptConnections(ssl.create_default_context())
    request = httpx.Request("GET", peer.url, extensions={"timeout": {"pool": 10}})
    transport.close()
    response = transport.handle_request(request)
    response.read()
    response.close()
    wait_until(lambda: peer.closed == 1, "the end of the connection")


def test_a_connection_whose_opening_the_closing_meets_is_closed_after_its_call(peer: Peer) -> None:
    transport = KeptConnections(ssl.create_default_context())

    def trace(event: str, _: object) -> None:
        if event == "connection.connect_tcp.complete":
            transport.close()

    request = httpx.Request("GET", peer.url, extensions={"timeout": {"pool": 10}, "trace": trace})
    response = transport.handle_request(request)
    response.read()
    response.close()
    wait_until(lambda: peer.closed == 1, "the end of the connection")


async def test_an_asyncio_connection_whose_opening_the_closing_meets_is_closed_after_its_call(peer: Peer) -> None:
    transport = AsyncKeptConnections(ssl.create_default_context())

    async def trace(event: str, _: object) -> None:
        if event == "connection.connect_tcp.complete":
            await transport.aclose()

    request = httpx.Request("GET", peer.url, extensions={"timeout": {"pool": 10}, "trace": trace})
    response = await transport.handle_async_request(request)
    await response.aread()
    await response.aclose()
    await until(lambda: peer.closed == 1)


async def test_an_asyncio_connection_that_opens_while_all_are_closed_is_closed_after_its_call(peer: Peer) -> None:
    transport = AsyncKeptConnections(ssl.create_default_context())
    request = httpx.Request("GET", peer.url, extensions={"timeout": {"pool": 10}})
    await transport.aclose()
    response = await transport.handle_async_request(request)
    await response.aread()
    await response.aclose()
    await until(lambda: peer.closed == 1)


async def test_a_connection_whose_closing_was_cancelled_is_no_longer_used(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = httpx.AsyncHTTPTransport.handle_async_request

    async def interrupted(transport: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        response = await send(transport, request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Interrupted(response.stream)
        return response

    transport = AsyncKeptConnections(ssl.create_default_context())
    async with httpx.AsyncClient(transport=transport, timeout=httpx.Timeout(5.0)) as client:
        with monkeypatch.context() as patch:
            patch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", interrupted)
            answer = await client.send(client.build_request("GET", f"{peer.url}/long"), stream=True)
        await anext(answer.aiter_raw())
        with pytest.raises(asyncio.CancelledError):
            await answer.aclose()
        for _ in range(3):  # on that connection they would wait until their time is over
            assert (await client.get(peer.url)).text == "hi"
