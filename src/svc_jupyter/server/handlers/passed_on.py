"""The calls that the service answers as they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote

from tornado.web import HTTPError

from svc_jupyter.api import paths
from svc_jupyter.client.requests.jupyter_contents import resource
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.service_handler import StreamHandler, asks_the_service

_GROUPS = {"{id}": r"([0-9]{1,18})", "{name}": r"([^/]+)", "{path}": r"/?(.*)"}
_PLACE = re.compile(r"\{\w*\}")
_WITH_BODY = ("POST", "PUT", "PATCH", "DELETE")
_FILES = (paths.CSV, paths.PARQUET, paths.ARROW_STREAM)
_LONGEST_WAIT = 30.0
"""Seconds that the service waits for a first reading of a catalogue at most."""
_TEXT, _JSON = "text/plain", "application/json"
_CONFIGURATION, _NODES = "v1.3", "v2.2"


@dataclass(frozen=True, slots=True)
class Route:
    """A call of the extension with its methods, and the service's path, by default the same."""

    name: str
    methods: str
    to: str | Callable[[str], str] = ""
    version: str = paths.DEFAULT_VERSION
    streamed: str | None = None
    """The media type of an answer that may be large: a page reads only the first rows of a result."""

    @property
    def pattern(self) -> str:
        """The pattern of the call's address."""
        return _PLACE.sub(lambda place: _GROUPS[place[0]], self.name)

    def path(self, found: tuple[str, ...]) -> str:
        """Return the service's path for what the pattern's groups found."""
        if callable(self.to):
            return self.to(*found)
        if {".", ".."} & {*found}:
            raise HTTPError(404, "a name of only dots would be another call")
        names = iter(found)
        return paths.api(_PLACE.sub(lambda _: quote(next(names), safe=""), self.to or self.name), self.version)


class PassOnHandler(StreamHandler):
    """Passes a call on to the service, and its answer back."""

    def initialize(self, name: str, route: Route) -> None:
        """Take the route of this address."""
        super().initialize(name)
        self._route = route
        self.SUPPORTED_METHODS = (*route.methods.split(), "OPTIONS")

    # One by one: `authorized` keeps the action, read or write, of the first call of each function that it wraps.

    @asks_the_service
    async def get(self, *found: str) -> None:
        """Answer with the service's answer."""
        await self._pass_on(found)

    @asks_the_service
    async def post(self, *found: str) -> None:
        """Answer with the service's answer."""
        await self._pass_on(found)

    @asks_the_service
    async def put(self, *found: str) -> None:
        """Answer with the service's answer."""
        await self._pass_on(found)

    @asks_the_service
    async def patch(self, *found: str) -> None:
        """Answer with the service's answer."""
        await self._pass_on(found)

    @asks_the_service
    async def delete(self, *found: str) -> None:
        """Answer with the service's answer."""
        await self._pass_on(found)

    async def _pass_on(self, found: tuple[str, ...]) -> None:
        method, path, streamed = self.request.method or "GET", self._route.path(found), self._route.streamed
        if streamed is None:
            body = self.body if method in _WITH_BODY else None
            await self.pass_on(Call(method, path, self.query, body=body, hold=self._wait()))
        else:
            accepted = self.request.headers.get("Accept", "")
            # Not any type: an executed notebook as a page is passed on only with the policy that stops its scripts.
            is_file = accepted in _FILES
            call = Call(method, path, self.query, accept=accepted if is_file else "*/*", stream=True)
            await self.pass_on_stream(call, accepted if is_file else streamed)

    def _wait(self) -> float:
        """Return how long the answer may take more: a catalogue that is just being read is waited for."""
        with suppress(ValueError):
            return min(max(float(self.query.get("wait", 0)), 0.0), _LONGEST_WAIT)
        return 0.0


_ROUTES = (
    Route("commands", "GET POST"),
    Route("commands/{id}", "GET PUT"),
    Route("commands/{id}/status_with_results", "GET"),
    Route("commands/{id}/jobs", "GET"),
    Route("commands/{id}/logs", "GET", streamed=_TEXT),
    Route("commands/{id}/error_logs", "GET", streamed=_TEXT),
    Route("commands/{id}/results", "GET", streamed=_JSON),
    Route("commands/{id}/rows", "GET", streamed=_JSON),
    Route("commands/{id}/rows/value", "GET", streamed=_JSON),
    Route("commands/{id}/columns/{name}/summary", "GET", streamed=_JSON),
    Route("commands/{id}/rows/points", "GET", streamed=_JSON),
    Route("schedules/preview", "POST", "scheduler/preview_macro"),
    Route("schedules/{id}/actions", "GET", "scheduler/{id}/actions"),
    Route("actions", "GET"),
    Route("actions/{id}", "GET"),
    Route("actions/{id}/kill", "PUT"),
    Route("actions/{id}/rerun", "POST"),
    Route("notification_channels", "GET"),
    Route("contents{path}", "GET POST PUT PATCH DELETE", resource),
    Route("folders", "GET POST"),
    Route("folders/delete", "GET DELETE"),
    Route("folders/move", "POST"),
    Route("folders/rename", "PUT"),
    Route("notes", "POST", "notebooks"),
    Route("notes/forms", "POST", "notebooks/forms"),
    Route("notes/{id}", "PUT DELETE", "notebooks/{id}"),
    Route("dashboards", "POST", "notebook_dashboard"),
    Route("dashboards/{id}", "PUT DELETE", "notebook_dashboard/{id}"),
    Route("clusters", "GET", version=_CONFIGURATION),
    Route("clusters/{name}", "GET", version=_CONFIGURATION),
    Route("clusters/{name}/state", "GET PUT", version=_CONFIGURATION),
    Route("clusters/{name}/live_cluster_health", "GET", version=_CONFIGURATION),
    Route("clusters/{name}/metrics", "GET", version=_CONFIGURATION),
    Route("clusters/{name}/nodes", "POST DELETE", version=_NODES),
    Route("db_taps", "GET POST"),
    Route("db_taps/{id}", "GET PUT DELETE"),
    Route("db_taps/{id}/tables", "GET"),
    Route("db_taps/{id}/catalogue", "GET"),
    Route("db_taps/{id}/catalogue/tables", "GET"),
    Route("db_taps/{id}/catalogue/columns", "GET"),
    Route("hive_catalogue", "GET"),
    Route("hive_catalogue/tables", "GET"),
    Route("hive_catalogue/columns", "GET"),
    Route("hive", "GET"),
    Route("hive/{name}", "GET"),
    Route("hive/{name}/{name}", "GET"),
)
PASS_ON_HANDLERS = tuple((route.pattern, PassOnHandler, {"route": route}) for route in _ROUTES)
