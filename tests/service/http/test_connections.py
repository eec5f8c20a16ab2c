"""What a connection may keep the server waiting for, on a real server whose clock the tests turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from svc_jupyter.service.ground.errors import Unauthorized
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.connections import (
    HEADER_BYTES,
    HEADER_SECONDS,
    KEEP_ALIVE_SECONDS,
    Connections,
    connection_class,
)
from svc_jupyter.service.http.middleware import RequestShell

TOKEN = b"X-AUTH-TOKEN: right\r\n"
LIMIT = 1000


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await JSONResponse({"length": len(body), "method": scope["method"]})(scope, receive, send)


async def check(token: str | None) -> None:
    if token != "right":
        raise Unauthorized("who are you?")


@dataclass
class Server:
    port: int
    connections: Connections

    async def open(self) -> Caller:
        return Caller(*await asyncio.open_connection("127.0.0.1", self.port))

    def after(self, seconds: float) -> None:
        """Have the server look at its connections as it would in so many seconds."""
        self.connections.look(asyncio.get_running_loop().time() + seconds)


@dataclass
class Caller:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, *parts: bytes) -> None:
        self.writer.write(b"".join(parts))
        await self.writer.drain()

    async def answer(self, *, has_body: bool = True) -> tuple[int, dict[str, str], Any]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await self.reader.readexactly(int(headers["content-length"])) if has_body else b"null"
        return int(head[0].split()[1]), headers, json.loads(body)

    async def is_closed(self) -> bool:
        """Wait for the end of the connection."""
        return await self.reader.read() == b""

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


async def serving(**settings: Any) -> AsyncIterator[Server]:
    chosen = Settings(max_body_bytes=LIMIT, **settings)
    connections = Connections(chosen)
    app: Any = RequestShell(echo, chosen, check)
    config = uvicorn.Config(app, http=connection_class(connections), lifespan="off", log_config=None)
    config.load()
    state: Any = {"config": config, "server_state": ServerState(), "app_state": {}}
    made: Any = config.http_protocol_class
    server = await asyncio.get_running_loop().create_server(lambda: made(**state), "127.0.0.1", 0)
    yield Server(server.sockets[0].getsockname()[1], connections)
    server.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async for one in serving():
        yield one


@pytest.fixture
async def caller(server: Server) -> AsyncIterator[Caller]:
    one = await server.open()
    yield one
    await one.close()


def post(length: int, *headers: bytes) -> bytes:
    return b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n" % length + b"".join(headers) + b"\r\n"


async def test_a_wrong_token_is_reported_before_the_body_has_come(caller: Caller):
    await caller.send(post(500, b"X-AUTH-TOKEN: wrong\r\n"), b"{")
    status, headers, body = await caller.answer()
    assert (status, body["error"]["error_code"], body["error"]["error_message"]) == (401, 401, "who are you?")
    assert "connection" not in headers


async def test_a_kept_connection_goes_on_after_an_answer_that_did_not_wait_for_the_body(caller: Caller):
    async def status_of(head: bytes, rest: bytes, *, comes_before_the_body: bool) -> int:
        await caller.send(head, b"" if comes_before_the_body else rest)
        status, _, _ = await caller.answer()
        await caller.send(rest if comes_before_the_body else b"")
        await caller.send(post(2, TOKEN), b"{}")
        assert (await caller.answer())[::2] == (200, {"length": 2, "method": "POST"}), head
        return status

    at_once = {
        (post(500), b"x" * 500): 401,
        (b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"3\r\nabc\r\n0\r\n\r\n"): 401,
        (post(LIMIT + 1, TOKEN), b"x" * (LIMIT + 1)): 413,
        (post(9, TOKEN, b"Content-Type: application/xml\r\n"), b"<a>1</a>\n"): 415,
    }
    with_body = {
        (post(4, TOKEN), b'{"a"'): 200,
        (post(12, TOKEN), rb'{"\ud800":1}'): 422,
        (b"GET /?name=%ED%A0%80 HTTP/1.1\r\n" + TOKEN + b"\r\n", b""): 422,
        (b"GET /%FF HTTP/1.1\r\n" + TOKEN + b"\r\n", b""): 422,
    }
    assert {call: await status_of(*call, comes_before_the_body=True) for call in at_once} == at_once
    assert {call: await status_of(*call, comes_before_the_body=False) for call in with_body} == with_body


async def test_head_is_answered_as_get_without_a_body_and_the_connection_goes_on(caller: Caller):
    answers = []
    for method in (b"HEAD", b"GET"):
        await caller.send(method, b" /a HTTP/1.1\r\nHost: h\r\n\r\n")
        answers.append(await caller.answer(has_body=method == b"GET"))
    (head, told, _), (get, headers, body) = answers
    assert (head, get, body["method"]) == (200, 200, "GET")
    assert told["content-length"] == headers["content-length"]


@pytest.mark.parametrize("begun", [b"", b"P", b"POST /a HTTP/1.1\r\nHo"])
async def test_a_head_that_does_not_come_is_not_waited_for(server: Server, caller: Caller, begun: bytes):
    await caller.send(begun)
    await until_read(server)
    server.after(HEADER_SECONDS - 1)
    server.after(HEADER_SECONDS + 1)
    if begun:
        status, headers, body = await caller.answer()
        assert (status, body["error"]["error_code"], headers["connection"]) == (408, 408, "close")
    assert await caller.is_closed()


async def test_a_body_that_stalls_is_not_waited_for(server: Server, caller: Caller):
    await caller.send(post(500, TOKEN), b"{")
    await until_read(server)
    server.after(60)
    status, headers, body = await caller.answer()
    assert (status, headers["connection"]) == (408, "close")
    assert "did not come" in body["error"]["error_message"]
    assert await caller.is_closed()


async def test_the_rest_of_a_body_that_nobody_wants_is_not_waited_for(server: Server, caller: Caller):
    await caller.send(post(500), b"{")
    assert (await caller.answer())[0] == 401
    server.after(60)
    assert (await caller.answer())[0] == 408
    assert await caller.is_closed()


async def test_a_byte_after_an_answer_does_not_keep_the_connection_for_ever(server: Server, caller: Caller):
    await caller.send(post(2, TOKEN), b"{}")
    await caller.answer()
    await caller.send(b"\r\n")
    await until_read(server)
    server.after(KEEP_ALIVE_SECONDS + 1)
    assert await caller.is_closed()


async def test_a_head_without_end_is_refused(caller: Caller):
    await caller.send(b"GET /a HTTP/1.1\r\n")
    for number in range(200):
        await caller.send(b"X-%d: %s\r\n" % (number, b"x" * (HEADER_BYTES // 50)))
    status, headers, body = await caller.answer()
    assert (status, body["error"]["error_code"], headers["connection"]) == (431, 431, "close")
    assert await caller.is_closed()


async def test_a_request_that_is_not_http_is_answered_in_the_error_envelope(caller: Caller):
    await caller.send(b"\x16\x03\x01 hello\r\n\r\n")
    status, headers, body = await caller.answer()
    assert (status, body["error"]["error_code"]) == (400, 400)
    assert body["error"]["trace_id"] == headers["x-trace-id"]
    assert await caller.is_closed()


async def test_one_address_has_so_many_connections_and_the_next_is_reported_why():
    async for server in serving(connections_per_address=2):
        first, second, third = [await server.open() for _ in range(3)]
        status, headers, body = await third.answer()
        assert (status, headers["connection"], headers["retry-after"]) == (503, "close", "2")
        assert "127.0.0.1 has 2 connections open" in body["error"]["error_message"]
        await first.send(post(2, TOKEN), b"{}")
        assert (await first.answer())[0] == 200
        await first.close()
        await third.close()
        fourth = await server.open()
        await fourth.send(post(2, TOKEN), b"{}")
        assert (await fourth.answer())[0] == 200
        for caller in (second, fourth):
            await caller.close()


@pytest.mark.parametrize("trusted", ["127.0.0.1", "127.0.0.0/8", "*"])
async def test_a_proxy_speaks_for_many(trusted: str):
    async for server in serving(connections_per_address=1, trusted_proxies=[trusted]):
        callers = [await server.open() for _ in range(3)]
        for caller in callers:
            await caller.send(post(2, TOKEN), b"{}")
            assert (await caller.answer())[0] == 200
            await caller.close()


async def test_a_caller_that_was_turned_away_and_stays_is_cut_off():
    async for server in serving(connections_per_address=1):
        first, second = await server.open(), await server.open()
        await second.answer()
        server.after(10)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            await keep_sending(second)
        await first.close()


async def until_read(server: Server) -> None:
    """Return once the server has read what was sent: it answers another caller afterwards."""
    other = await server.open()
    await other.send(post(2, TOKEN), b"{}")
    await other.answer()
    await other.close()


async def keep_sending(caller: Caller) -> None:
    while True:
        await caller.send(b"x")
        await asyncio.sleep(0)
