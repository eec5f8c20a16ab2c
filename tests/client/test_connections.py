"""What a client that is closed leaves behind, seen from the other end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from tests.support.service_process import wait_until
from tests.support.until import until

from svc_jupyter.client import AsyncClient, Client
from svc_jupyter.client.transport import wire


class Peer(ThreadingHTTPServer):
    """Answers every GET with an empty list of taps, and counts the connections."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.opened = self.closed = 0


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
        body = b'{"db_taps": []}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is told."""


@pytest.fixture
def peer() -> Iterator[Peer]:
    with Peer() as peer:
        thread = threading.Thread(target=peer.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield peer
        peer.shutdown()
        thread.join(10)


@pytest.fixture
def at_the_opening(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Calls what a test gives it when a connection has just been opened."""

    def arrange(trace: Any) -> None:
        def request(*arguments: Any) -> httpx.Request:
            built = real(*arguments)
            built.extensions["trace"] = trace
            return built

        real = wire.request
        monkeypatch.setattr(wire, "request", request)

    return arrange


def test_the_end_of_a_client_closes_its_connection(peer: Peer) -> None:
    with Client(peer.url, "token") as client:
        client.db_taps.list()
        client.db_taps.list()
        assert (peer.opened, peer.closed) == (1, 0)
    wait_until(lambda: peer.closed == 1, "the end of the connection")


def test_a_connection_whose_opening_the_closing_meets_is_closed_after_its_call(
    peer: Peer, at_the_opening: Callable[[Any], None]
) -> None:
    client = Client(peer.url, "token")

    def trace(event: str, _: object) -> None:
        if event == "connection.connect_tcp.complete":
            client.close()

    at_the_opening(trace)
    client.db_taps.list()
    wait_until(lambda: peer.closed == 1, "the end of the connection")


async def test_the_same_for_asyncio(peer: Peer, at_the_opening: Callable[[Any], None]) -> None:
    client = AsyncClient(peer.url, "token")

    async def trace(event: str, _: object) -> None:
        if event == "connection.connect_tcp.complete":
            await client.aclose()

    at_the_opening(trace)
    await client.db_taps.list()
    await until(lambda: peer.closed == 1)
