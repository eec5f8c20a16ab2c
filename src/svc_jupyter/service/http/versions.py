"""The API's versions: one set of routes answers all of them, since they are equivalent."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from svc_jupyter.api.paths import DEFAULT_VERSION, versions_of

_REQUESTED = "svc_jupyter.requested_path"


class OtherVersions:
    """ASGI middleware: answers every version of a path by the route of v1.2."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass on what is not HTTP."""
        if scope["type"] == "http":
            scope = _in_default_version(scope)
        await self._app(scope, receive, send)


def requested_path(request: Request) -> str:
    """Return the path of a request as its caller wrote it."""
    path: str = request.scope.get(_REQUESTED, request.scope["path"])
    return path


def requested_version(request: Request) -> str:
    """Return the API version in the path of a request, as in `v2`."""
    return requested_path(request).split("/")[2]


def _in_default_version(scope: Scope) -> Scope:
    match scope["path"].split("/", 4):
        case ["", "api", version, resource, *rest] if version != DEFAULT_VERSION and version in versions_of(resource):
            path = "/".join(["", "api", DEFAULT_VERSION, resource, *rest])
            return {**scope, "path": path, _REQUESTED: scope["path"]}
    return scope
