"""`commands`: the events of a command, and the notebook that it executed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tornado.web import HTTPError

from svc_jupyter.api import paths
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.comparing import compared
from svc_jupyter.server.handlers.service_handler import ServiceHandler, StreamHandler, asks_the_service

_EVENT_STREAM = "text/event-stream"
_FORMATS = {"html": paths.HTML, "ipynb": paths.NOTEBOOK}
_PAGE_POLICY = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:"
"""An executed notebook is untrusted content: it is displayed, but must not run scripts or reach this server."""


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


class CommandNotebookHandler(ServiceHandler):
    """The notebook that a command executed."""

    @asks_the_service
    async def get(self, command_id: str) -> None:
        """Answer with the executed notebook, as `format=html` (the default) or `ipynb`."""
        wanted = self.get_query_argument("format", "html")
        if wanted not in _FORMATS:
            raise HTTPError(422, f"format must be one of {', '.join(_FORMATS)}")
        call = Call("GET", paths.command(int(command_id), "results"), accept=_FORMATS[wanted])
        answer = await self.connection.answer(call)
        self.set_header("Content-Security-Policy", _PAGE_POLICY)
        self.finish_with(answer)


class ComparisonHandler(ServiceHandler):
    """What differs between the notebooks that two commands executed."""

    @asks_the_service
    async def get(self, command_id: str, other_id: str) -> None:
        """Answer with `cells`, the other command's on the left."""
        calls = (
            Call("GET", paths.command(int(one), "results"), accept=paths.NOTEBOOK) for one in (other_id, command_id)
        )
        left, right = await asyncio.gather(*(self.connection.answer(call) for call in calls))
        self.finish(await comparison(left.json(), right.json()))


async def comparison(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return what differs between two notebooks. Raises `HTTPError` 501 without nbdime."""
    try:
        return await asyncio.to_thread(compared, left, right)
    except ImportError:
        raise HTTPError(
            501, "comparing needs nbdime: pip install 'svc-jupyter[compare]' beside JupyterLab, then restart it"
        ) from None


_COMMAND = r"commands/([0-9]{1,18})"
COMMAND_HANDLERS = (
    (rf"{_COMMAND}/events", CommandEventsHandler),
    (rf"{_COMMAND}/notebook", CommandNotebookHandler),
    (rf"{_COMMAND}/comparison/([0-9]{{1,18}})", ComparisonHandler),
)
