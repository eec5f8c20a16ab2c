"""What surrounds every request: trace id, size limit, empty bodies, access log, and no redirect for a slash."""

from __future__ import annotations

import re
import time
import uuid

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from svc_jupyter.api.paths import TRACE_HEADER
from svc_jupyter.service.responses import error_response
from svc_jupyter.service.settings import Settings

_TRACE_FORM = re.compile(r"[A-Za-z0-9._-]{8,64}")
_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_TYPE, _JSON = b"content-type", b"application/json"
log = structlog.get_logger("svc_jupyter.access")


class RequestShell:
    """Pure ASGI: Starlette's own base class would put a task and a queue around every streamed chunk."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._limit = settings.max_body_bytes
        self.last_request = time.monotonic()
        """When the last request came in, by the monotonic clock: the embedded service stops when idle."""
        self.open_requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass on what is no HTTP."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if _TYPE not in headers:
            scope["headers"] = [*scope["headers"], (_TYPE, _JSON)]  # else a request without a body is no JSON object
        trace_id = _trace_id(headers)
        scope.setdefault("state", {})["trace_id"] = trace_id
        _drop_trailing_slash(scope)
        status = 0

        async def send_with_trace(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (TRACE_HEADER.lower().encode(), trace_id.encode())]
            await send(message)

        started = time.perf_counter()
        self.last_request = time.monotonic()
        self.open_requests += 1
        try:
            limited = await self._whole_body(scope, headers, receive)
            if limited is None:
                text = f"the request's body is larger than {self._limit} bytes"
                await error_response(413, text, trace_id)(scope, receive, send_with_trace)
            else:
                await self._app(scope, limited, send_with_trace)
        finally:
            self.open_requests -= 1
            log.info(
                "request",
                method=scope["method"],
                path=scope["path"],
                status=status,
                trace_id=trace_id,
                milliseconds=round(1000 * (time.perf_counter() - started), 2),
            )

    async def _whole_body(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive | None:
        """Return a `receive` that gives the body at once, an empty JSON body as `{}`; None when it is too large."""
        length = headers.get(b"content-length")
        if length is None and b"transfer-encoding" not in headers:
            return _replay(b"{}", receive) if _is_json(headers) and scope["method"] in _WITH_BODY else receive
        if length is not None and length.isdigit() and int(length) > self._limit:
            return None
        parts: list[bytes] = []
        size = 0
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return receive  # the client went away
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._limit:
                return None
            more = message.get("more_body", False)
        body = b"".join(parts)
        if not body.strip() and _is_json(headers):
            body = b"{}"
        return _replay(body, receive)


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _is_json(headers: dict[bytes, bytes]) -> bool:
    return headers.get(_TYPE, _JSON).split(b";")[0].strip().lower() == _JSON


def _trace_id(headers: dict[bytes, bytes]) -> str:
    """Return the caller's own trace id when it is one, else a new one."""
    given = headers.get(TRACE_HEADER.lower().encode(), b"").decode("latin-1")
    return given if _TRACE_FORM.fullmatch(given) else uuid.uuid4().hex


def _drop_trailing_slash(scope: Scope) -> None:
    """Both forms of a path are answered, without a redirect."""
    path: str = scope["path"]
    if len(path) > 1 and path.endswith("/"):
        scope["path"] = path.rstrip("/") or "/"
        scope["raw_path"] = scope["path"].encode()
