"""Handles every request: trace id, token before body, valid Unicode, access log, and no redirect for a slash."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol
from urllib.parse import unquote_to_bytes

import structlog
from sqlalchemy.exc import DBAPIError
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from svc_jupyter.api.paths import TOKEN_HEADER, TRACE_HEADER
from svc_jupyter.api.text import NOT_UNICODE
from svc_jupyter.service.ground.errors import Invalid, ServiceError, TooLarge, UnsupportedMedia
from svc_jupyter.service.ground.memory import give_back_soon
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.bodies import LARGE_BYTES, ROUTE, check_unicode
from svc_jupyter.service.http.responses import answer_to

_TRACE_FORM = re.compile(r"[A-Za-z0-9._-]{8,64}")
_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_TYPE, _JSON = b"content-type", b"application/json"
_TOKEN, _TRACE = TOKEN_HEADER.lower().encode(), TRACE_HEADER.lower().encode()
_OTHER_FORMS = re.compile(rb"(?:.*[/+])?(?:xml|yaml|x-yaml|msgpack|x-msgpack|protobuf|x-protobuf|cbor)|multipart/.*")
log = structlog.get_logger("svc_jupyter.access")


_CLIENT_GONE = 499
"""The log's status for a request that its caller aborted, as in nginx."""


class _Gone(Exception):
    """The caller disconnected before its request was complete."""


class Observer(Protocol):
    """Learns of every request."""

    def answered(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """Take in an answer: the template of its route if one matched, and the seconds until the answer began."""
        ...

    def stream_opened(self) -> None:
        """Take in that an event stream has begun."""
        ...

    def stream_closed(self) -> None:
        """Take in that an event stream has ended."""
        ...


class RequestShell:
    """ASGI middleware: Starlette's own base class would add a task and a queue to every streamed chunk.

    `authenticate` raises the error for a missing or wrong token.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        authenticate: Callable[[str | None], Awaitable[object]],
        observer: Observer | None = None,
    ) -> None:
        self._app = app
        self._limit = settings.max_body_bytes
        self._authenticate = authenticate
        self._observer = observer
        self.last_request = time.monotonic()
        """When the last request came in, by the monotonic clock: the embedded service stops when idle."""
        self.open_requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass on what is not HTTP."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if _TYPE not in headers:
            scope["headers"] = [*scope["headers"], (_TYPE, _JSON)]  # without a body it would not be a JSON object
        trace_id = _trace_id(headers)
        scope.setdefault("state", {})["trace_id"] = trace_id
        _drop_trailing_slash(scope)
        status, seconds, is_stream = 0, None, False

        async def send_with_trace(message: Message) -> None:
            nonlocal status, seconds, is_stream
            if message["type"] == "http.response.start":
                status, seconds = message["status"], time.perf_counter() - started
                if self._observer is not None and _is_event_stream(message):
                    is_stream = True
                    self._observer.stream_opened()
                message["headers"] = [*message["headers"], (_TRACE, trace_id.encode())]
            await send(message)

        started = time.perf_counter()
        self.last_request = time.monotonic()
        self.open_requests += 1
        try:
            await self._answer(scope, headers, receive, send_with_trace)
        except _Gone:
            status = _CLIENT_GONE
        finally:
            self.open_requests -= 1
            took = time.perf_counter() - started
            if self._observer is not None:
                if is_stream:
                    self._observer.stream_closed()
                route = scope["state"].get(ROUTE)
                answer_seconds = took if seconds is None else seconds
                self._observer.answered(scope["method"], route, status or _CLIENT_GONE, answer_seconds)
            log.info(
                "request",
                method=scope["method"],
                path=scope["path"],
                status=status,
                trace_id=trace_id,
                milliseconds=round(1000 * took, 2),
            )

    async def _answer(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        try:
            whole = await self._admitted(scope, headers, receive)
        except (ServiceError, DBAPIError) as error:  # other DBAPIErrors than "away" are reported as bugs
            await answer_to(Request(scope), error)(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # the server itself sends no body for it
            await self._app({**scope, "method": "GET"}, whole, _head_only(send))
        else:
            await self._app(scope, whole, send)

    async def _admitted(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        """Return a `receive` that gives the body at once, an empty JSON body as `{}`.

        Reads no byte of a body without a token. Raises `ServiceError`, and `_Gone`.
        """
        if b"%" in scope["query_string"] or b"%" in scope["raw_path"]:
            await self._check_place(scope, headers)
        has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
        if not has_body:
            return _replay(b"{}", receive) if _is_json(headers) and scope["method"] in _WITH_BODY else receive
        await self._authenticate(headers.get(_TOKEN, b"").decode("latin-1") or None)
        _check_form(headers)
        body = await self._whole_body(headers, receive)
        if not _is_json(headers):
            return _replay(body, receive)
        if not body.strip():
            body = b"{}"
        if not scope["path"].endswith("/commands"):  # a submission's error names the type that could not be created
            await check_unicode(body)
        if len(body) > LARGE_BYTES:
            give_back_soon()
        return _replay(body, receive)

    async def _check_place(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Raise `Invalid` for a path or query that is not valid Unicode, to callers with a token."""
        for part in ("raw_path", "query_string"):
            try:
                unquote_to_bytes(scope[part]).decode()
            except UnicodeDecodeError:
                await self._authenticate(headers.get(_TOKEN, b"").decode("latin-1") or None)
                where = "the path" if part == "raw_path" else "the query"
                raise Invalid(f"{where}: {NOT_UNICODE}", {where: NOT_UNICODE}) from None

    async def _whole_body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        length = headers.get(b"content-length", b"")
        too_large = TooLarge(f"the request's body is larger than {self._limit} bytes")
        if length.isdigit() and int(length) > self._limit:
            raise too_large
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                raise _Gone
            body += message.get("body", b"")
            if len(body) > self._limit:
                raise too_large
            more = message.get("more_body", False)
        return bytes(body)


def _is_event_stream(start: Mapping[str, Any]) -> bool:
    return any(name == _TYPE and value.startswith(b"text/event-stream") for name, value in start["headers"])


def _head_only(send: Send) -> Send:
    """Return a `send` that ends the answer after its head, also for endless streams."""
    is_over = False

    async def send_head(message: Message) -> None:
        nonlocal is_over
        if message["type"] != "http.response.body":
            await send(message)
        elif not is_over:
            is_over = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return send_head


def _check_form(headers: dict[bytes, bytes]) -> None:
    """Raise `UnsupportedMedia` for a body whose content type is neither JSON nor a form."""
    form = headers.get(_TYPE, _JSON).split(b";")[0].strip().lower()
    if _OTHER_FORMS.fullmatch(form):
        raise UnsupportedMedia(
            f"the body is {form.decode('latin-1')[:100]}; send JSON, with the header Content-Type: application/json"
        )


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
    form = headers.get(_TYPE, _JSON).split(b";")[0].strip().lower()
    return form == _JSON or form.endswith(b"+json")


def _trace_id(headers: dict[bytes, bytes]) -> str:
    """Return the caller's trace id if it is valid, else a new one."""
    given = headers.get(_TRACE, b"").decode("latin-1")
    return given if _TRACE_FORM.fullmatch(given) else uuid.uuid4().hex


def _drop_trailing_slash(scope: Scope) -> None:
    """Remove a trailing slash: both forms of a path are answered, without a redirect."""
    path: str = scope["path"]
    if len(path) > 1 and path.endswith("/"):
        scope["path"] = path.rstrip("/") or "/"
        scope["raw_path"] = scope["path"].encode()
