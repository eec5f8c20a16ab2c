"""`commands`: the history, one command, its log, its result, its cancellation, and its events."""

from __future__ import annotations

from svc_jupyter.api import paths
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.service_handler import ServiceHandler, StreamHandler, asks_the_service

_EVENT_STREAM = "text/event-stream"
_FILES = (paths.CSV, paths.PARQUET)
_LOGS = ("logs", "error_logs")


class CommandsHandler(ServiceHandler):
    """The history."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with a page of commands; the filters are the service's."""
        await self.pass_on(Call("GET", paths.api("commands"), self.query))

    @asks_the_service
    async def post(self) -> None:
        """Submit a command, such as one that ran before; answer with its record."""
        await self.pass_on(Call("POST", paths.api("commands"), body=self.body))


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


class CommandPartHandler(StreamHandler):
    """Logs, results, jobs."""

    @asks_the_service
    async def get(self, command_id: str, part: str) -> None:
        """Answer with a part of a command, as the service sends it; results also as CSV and Parquet."""
        path = paths.command(int(command_id), part)
        # Streamed: a page reads only the first rows of a result, and a log may be gigabytes.
        accepted = self.request.headers.get("Accept", "")
        if part == "results" and accepted in _FILES:
            await self.pass_on_stream(Call("GET", path, self.query, accept=accepted, stream=True), accepted)
        elif part in _LOGS:
            await self.pass_on_stream(Call("GET", path, self.query, accept="*/*", stream=True), "text/plain")
        else:
            await self.pass_on(Call("GET", path, self.query, accept="*/*"))


class CommandRowsHandler(StreamHandler):
    """Rows of a result."""

    @asks_the_service
    async def get(self, command_id: str, part: str) -> None:
        """Answer with a page of the rows, what a column holds, or a chart's points; the query is the service's."""
        query = {name: self.get_query_argument(name, strip=False) for name in self.request.query_arguments}
        call = Call("GET", paths.command(int(command_id), part), query, accept="*/*", stream=True)
        await self.pass_on_stream(call, "application/json")


class CommandEventsHandler(StreamHandler):
    """The event stream of a command."""

    @asks_the_service
    async def get(self, command_id: str) -> None:
        """Answer with the service's events as they arrive, until the command has ended or the page has disconnected."""
        last = self.request.headers.get("Last-Event-ID")
        headers = () if last is None else (("Last-Event-ID", last),)
        path = paths.command(int(command_id), "events")
        call = Call("GET", path, accept=_EVENT_STREAM, headers=headers, stream=True, hold=3600)
        await self.pass_on_stream(call, _EVENT_STREAM)


COMMAND_HANDLERS = (
    (r"commands", CommandsHandler),
    (r"commands/([0-9]{1,18})", CommandHandler),
    (r"commands/([0-9]{1,18})/(logs|error_logs|results|status_with_results|jobs)", CommandPartHandler),
    (r"commands/([0-9]{1,18})/(rows|rows/statistics|rows/points)", CommandRowsHandler),
    (r"commands/([0-9]{1,18})/events", CommandEventsHandler),
)
