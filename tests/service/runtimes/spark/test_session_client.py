"""The connection to a cluster's session server."""

from __future__ import annotations

import asyncio

import pytest

from svc_jupyter.service.runtimes.spark.session_client import ServerSilent, SessionClient


async def test_the_connection_to_a_server_that_says_something_else_is_closed() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\n")
        said.set_result(await reader.read())
        writer.close()

    said = asyncio.get_running_loop().create_future()
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        client = SessionClient(*server.sockets[0].getsockname(), "secret")
        with pytest.raises(ServerSilent):
            await client.__aenter__()
        async with asyncio.timeout(5):
            assert await said == b""
