"""`commands`: the history, one command, its log, its result, its end, and its events as they come."""

from __future__ import annotations

import asyncio

import httpx
from tornado.iostream import StreamClosedError

from svc_jupyter.api import paths
from svc_jupyter.client.calls import Call
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service

_EVENT_STREAM = "text/event-stream"


class CommandsHandler(ServiceHandler):
    """The history."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with a page of commands, by the service's own filters."""
        await self.pass_on(Call("GET", paths.api("commands"), self.query))


class CommandHandler(ServiceHandler):
    """One command."""

    @asks_the_service
    async def get(self, command_id: str) -> None:
        """Answer with the record."""
        await self.pass_on(Call("GET", paths.command(int(command_id)), self.query))

    @asks_the_service
    async def put(self, command_id: str) -> None:
        """Cancel it: `{"status": "kill"}`."""
        await self.pass_on(Call("PUT", paths.command(int(command_id)), body=self.body))


class StreamHandler(ServiceHandler):
    """Passes an answer of the service on while it comes."""

    _stream: asyncio.Task[None] | None = None

    async def pass_on_stream(self, call: Call, media_type: str) -> None:
        """Answer with what the service sends, as it comes, until it ends or the page is gone."""
        answer = await self.connection.answer(call)
        self._stream = asyncio.ensure_future(self._copy(answer, media_type))
        try:
            await self._stream
        except asyncio.CancelledError:
            if not self._stream.cancelled():
                raise  # the server stops

    def on_connection_close(self) -> None:
        """Let go of the service's stream when the page has gone."""
        if self._stream is not None:
            self._stream.cancel()
        super().on_connection_close()

    async def _copy(self, answer: httpx.Response, media_type: str) -> None:
        self.set_header("Content-Type", answer.headers.get("Content-Type", media_type))
        self.set_header("Cache-Control", "no-cache")
        self.set_header("X-Accel-Buffering", "no")
        try:
            async for piece in answer.aiter_bytes():
                self.write(piece)
                await self.flush()
        except (StreamClosedError, httpx.HTTPError) as error:
            self.log.info("a stream of the service broke off: %s", type(error).__name__)
        finally:
            await asyncio.shield(answer.aclose())  # the page's going may cancel this, too


class CommandPartHandler(StreamHandler):
    """Logs, results, jobs."""

    @asks_the_service
    async def get(self, command_id: str, part: str) -> None:
        """Answer with a part of a command, as the service gives it; with results as CSV, where that is asked for."""
        path = paths.command(int(command_id), part)
        if part == "results" and self.request.headers.get("Accept", "") == paths.CSV:
            # A page reads the first rows and goes away: neither it nor this server is to hold all of them.
            await self.pass_on_stream(Call("GET", path, self.query, accept=paths.CSV, stream=True), paths.CSV)
        else:
            await self.pass_on(Call("GET", path, self.query, accept="*/*"))


class CommandEventsHandler(StreamHandler):
    """What happens to a command, while it happens."""

    @asks_the_service
    async def get(self, command_id: str) -> None:
        """Answer with the service's events as they come, until the command has ended or the page is gone."""
        last = self.request.headers.get("Last-Event-ID")
        headers = () if last is None else (("Last-Event-ID", last),)
        path = paths.command(int(command_id), "events")
        call = Call("GET", path, accept=_EVENT_STREAM, headers=headers, stream=True, hold=3600)
        await self.pass_on_stream(call, _EVENT_STREAM)


COMMAND_HANDLERS = (
    (r"commands", CommandsHandler),
    (r"commands/([0-9]{1,18})", CommandHandler),
    (r"commands/([0-9]{1,18})/(logs|error_logs|results|status_with_results|jobs)", CommandPartHandler),
    (r"commands/([0-9]{1,18})/events", CommandEventsHandler),
)
