"""Stream the service's answers, so that this server never holds them in memory."""

from __future__ import annotations

import asyncio

import httpx
from tornado.iostream import StreamClosedError

from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.service_handler import ServiceHandler


class StreamHandler(ServiceHandler):
    """Streams an answer of the service."""

    _stream: asyncio.Task[None] | None = None

    async def pass_on_stream(self, call: Call, media_type: str) -> None:
        """Stream the service's answer until it ends or the page disconnects."""
        answer = await self.connection.answer(call)
        self._stream = asyncio.ensure_future(self._copy(answer, media_type))
        try:
            await self._stream
        except asyncio.CancelledError:
            if not self._stream.cancelled():
                raise  # the server stops

    def on_connection_close(self) -> None:
        """Close the service's stream when the page has disconnected."""
        if self._stream is not None:
            self._stream.cancel()
        super().on_connection_close()

    async def _copy(self, answer: httpx.Response, media_type: str) -> None:
        self.set_header("Content-Type", media_type)
        self.begin_with(answer)
        self.set_header("Cache-Control", "no-cache")
        self.set_header("X-Accel-Buffering", "no")
        try:
            await self.flush()  # send the headers before the first data
            async for piece in answer.aiter_bytes():
                self.write(piece)
                await self.flush()
        except (StreamClosedError, httpx.HTTPError) as error:
            self.log.info("a stream of the service broke off: %s", type(error).__name__)
        finally:
            await asyncio.shield(answer.aclose())  # the page's disconnect may cancel this too
