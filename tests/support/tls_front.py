"""A port of 127.0.0.1 with TLS in front of one without, for servers of gRPC (HTTP/2) that have none themselves."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import trustme


@contextmanager
def tls_before(port: int, authority: trustme.CA) -> Iterator[int]:
    """Yield the port; its certificate is the authority's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    context.set_alpn_protocols(["h2"])
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def pass_on(near: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        far, request = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_copied(near, request), _copied(far, answer))

    async def start() -> asyncio.Server:
        return await asyncio.start_server(pass_on, "127.0.0.1", 0, ssl=context)

    async def end() -> None:
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _copied(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(65_536):
            target.write(data)
            await target.drain()
    target.close()
