"""Answers the most frequent calls of commands without FastAPI's routing, which takes longer than the calls' work.

Only requests in exactly the form that clients send are answered here, by the route's own function. All others take the
normal route, which checks their parameters. So there is one set of rules and one OpenAPI document.
"""

from __future__ import annotations

import re

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from svc_jupyter.api.paths import COMMAND_VERSIONS, IDEMPOTENCY_HEADER, TOKEN_HEADER
from svc_jupyter.service.access.dependencies import authenticated_caller
from svc_jupyter.service.access.permissions import require_to_read_some, require_to_submit_some
from svc_jupyter.service.commands import result_routes, routes
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.intake import Intake
from svc_jupyter.service.commands.route_parameters import require_readable
from svc_jupyter.service.http.bodies import ROUTE
from svc_jupyter.service.http.responses import answer_to
from svc_jupyter.service.http.rooms import part_of

_VERSIONS = "|".join(map(re.escape, COMMAND_VERSIONS))
_PATH = re.compile(rf"/api/(?:{_VERSIONS})/commands(?:/([1-9][0-9]{{0,15}})(/status_with_results|/results)?)?")
_QUERY = re.compile(rb"(?:wait=([1-5]?[0-9]|60)(&arrow=true)?)?")
_RESULTS = "/results"


class HotCalls:
    """ASGI middleware: answers submissions and look-ups of one command and its results.

    Passes on everything else.
    """

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        path = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        query = _QUERY.fullmatch(scope["query_string"]) if path is not None else None
        if path is None or query is None or scope["method"] != ("GET" if path[1] else "POST"):
            await self._app(scope, receive, send)
            return
        if (path[2] == _RESULTS and query[0]) or (path[1] is not None and query[2]):
            await self._app(scope, receive, send)
            return
        scope["app"] = self._app
        rest = f"/{{command_id}}{path[2] or ''}" if path[1] else ""
        scope.setdefault("state", {})[ROUTE] = routes.router.prefix + rest
        request = Request(scope, receive)
        try:
            response = await _answer(request, path, wait=int(query[1] or 0), arrow="true" if query[2] else "false")
        except Exception as error:  # noqa: BLE001  as around the routes: every error has its answer
            response = answer_to(request, error)
        await response(scope, receive, send)


async def _answer(request: Request, path: re.Match[str], *, wait: int, arrow: str) -> Response:
    caller = await authenticated_caller(request, request.headers.get(TOKEN_HEADER))
    commands = part_of(request.app, Commands)
    if path[1] is None:
        require_to_submit_some(caller)
        key = request.headers.get(IDEMPOTENCY_HEADER)
        return await routes.submit_command(request, part_of(request.app, Intake), commands, caller, key, wait, arrow)
    require_to_read_some(caller)
    await require_readable(int(path[1]), commands, caller)
    if path[2] is None:
        return await routes.get_command(int(path[1]), commands, caller, wait=wait)
    if path[2] == _RESULTS:
        return await result_routes.get_results(request, int(path[1]), commands, caller)
    return await result_routes.get_status_with_results(int(path[1]), commands, caller, wait=wait)
