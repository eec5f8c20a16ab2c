"""Daemons that answer, hang, fail, and come back, as small servers on loopback."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from tests.support.ports import refusing_port

from svc_jupyter.service.runtimes.hadoop.daemon_http import ANSWER_SECONDS, DaemonHttp, DaemonSilent


def _answer(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)


@asynccontextmanager
async def _daemon(*answers: bytes | None, seconds: float = ANSWER_SECONDS):
    """A server that gives these answers one after the other, the last one again and again; None hangs."""
    left = list(answers)
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.current_task())
        while await reader.read(65_536):
            answer = left.pop(0) if len(left) > 1 else left[0]
            if answer:
                writer.write(answer)
            elif answer is not None:
                break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        http = DaemonHttp(seconds=seconds)
        try:
            yield http, f"http://{host}:{port}"
        finally:
            await http.close()
            await asyncio.gather(*serving)


async def test_an_answer_is_json():
    async with _daemon(_answer(b'{"beans": []}')) as (http, address):
        assert await http.get(f"{address}/jmx", qry="x") == {"beans": []}


async def test_a_daemon_that_hangs_is_silent_after_the_limit():
    async with _daemon(None, seconds=0.5) as (http, address):
        with pytest.raises(DaemonSilent, match=r"127\.0\.0\.1:\d+ did not answer within 0\.5 s"):
            await http.get(address)


@pytest.mark.parametrize(
    ("answer", "words"),
    [(_answer(b"{}", b"503 Starting"), "answered 503"), (_answer(b"<html>"), "something else than JSON")],
)
async def test_an_answer_that_is_none_is_reported(answer, words):
    async with _daemon(answer) as (http, address):
        with pytest.raises(DaemonSilent, match=words):
            await http.get(address)


async def test_a_connection_that_died_is_opened_anew():
    async with _daemon(_answer(b"1"), b"", _answer(b"2")) as (http, address):
        assert await http.get(address) == 1
        assert await http.get(address) == 2


async def test_nobody_there_is_silent():
    http = DaemonHttp()
    with refusing_port() as port, pytest.raises(DaemonSilent, match="does not answer"):
        await http.get(f"http://127.0.0.1:{port}")
    await http.close()
