"""The base of all handlers: calls to the service, and its errors passed on unchanged."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import httpx
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.extension.handler import ExtensionHandlerMixin
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, authenticated

from svc_jupyter.client.errors import ConfigurationError, ConnectionFailed, StatusError, SvcError
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.connection import CONNECTION, ServiceConnection
from svc_jupyter.server.copy_keeper import COPIES, CopyKeeper

P = ParamSpec("P")
H = TypeVar("H", bound="ServiceHandler")
_BAD_GATEWAY, _UNAVAILABLE = 502, 503
_PASSED_HEADERS = ("Content-Type", "X-Trace-Id", "Retry-After", "err_length", "tmp_length", "log_length")


class ServiceRefusal(HTTPError):
    """An error of the service, or of the connection to it, as sent to the page."""

    def __init__(self, error: SvcError) -> None:
        self.message = error.message
        self.trace_id = error.trace_id if isinstance(error, StatusError) else None
        self.retry_after = error.retry_after if isinstance(error, StatusError) else None
        self.fields = error.fields if isinstance(error, StatusError) else {}
        super().__init__(_status_of(error), error.message)

    @property
    def body(self) -> dict[str, Any]:
        """The service's envelope, plus the `message` that Jupyter pages expect."""
        error: dict[str, Any] = {"error_code": self.status_code, "error_message": self.message}
        if self.trace_id:
            error["trace_id"] = self.trace_id
        if self.fields:
            error["fields"] = self.fields
        return {"error": error, "message": self.message}


def asks_the_service(
    method: Callable[Concatenate[H, P], Awaitable[None]],
) -> Callable[Concatenate[H, P], Awaitable[None]]:
    """Require login and authorization for a method, and answer with the service's errors.

    The method's client stays open until the method has ended, even if the connection is renewed meanwhile.
    """

    @functools.wraps(method)
    async def translated(self: H, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            async with self.connection.request():
                await method(self, *args, **kwargs)
        except SvcError as error:
            raise ServiceRefusal(error) from error

    return cast("Callable[Concatenate[H, P], Awaitable[None]]", authenticated(authorized(translated)))


class ServiceHandler(ExtensionHandlerMixin, APIHandler):
    """Base of all handlers."""

    auth_resource = "svc_jupyter"

    @property
    def connection(self) -> ServiceConnection:
        """The connection to the service."""
        connection: ServiceConnection = self.settings[CONNECTION]
        return connection

    async def pass_on(self, call: Call) -> None:
        """Answer with the service's answer to a call."""
        self.finish_with(await self.connection.answer(call))

    def finish_with(self, answer: httpx.Response) -> None:
        """Finish with the service's response."""
        self.begin_with(answer)
        self.finish(answer.content, set_content_type=answer.headers.get("Content-Type"))

    def begin_with(self, answer: httpx.Response) -> None:
        """Copy status and headers of the service's response."""
        self.set_status(answer.status_code)
        for name in _PASSED_HEADERS:
            if name in answer.headers:
                self.set_header(name, answer.headers[name])

    @property
    def query(self) -> dict[str, str]:
        """The request's query parameters to the letter; of duplicates, the last one."""
        return {name: self.get_query_argument(name, strip=False) for name in self.request.query_arguments}

    @property
    def body(self) -> dict[str, Any]:
        """The request's JSON object, empty without a body. Raises `HTTPError` 400 for anything else."""
        value = self.get_json_body()
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise HTTPError(400, "the body must be a JSON object")
        return value

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Write an error of the service in its own format; others as Jupyter does, but with each `%` once."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        if isinstance(error, ServiceRefusal):
            body = error.body
            if error.retry_after is not None:
                self.set_header("Retry-After", str(max(1, round(error.retry_after))))
        elif isinstance(error, HTTPError) and error.log_message:
            # A format, in which Tornado has doubled each `%` of a text without arguments.
            body = {"message": error.log_message % error.args, "reason": error.reason}
        else:
            super().write_error(status_code, **kwargs)
            return
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(body))


def without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a copy without the named entries."""
    return {name: value for name, value in values.items() if name not in names}


def _status_of(error: SvcError) -> int:
    """Return the service's status; 503 without a connection, 502 when the answer is not from a service."""
    if isinstance(error, StatusError):
        return error.status
    if isinstance(error, (ConfigurationError, ConnectionFailed)):
        return _UNAVAILABLE
    return _BAD_GATEWAY


class StreamHandler(ServiceHandler):
    """Streams an answer of the service."""

    _stream: asyncio.Task[None] | None = None

    async def pass_on_stream(self, call: Call, media_type: str) -> None:
        """Stream the service's answer until it ends or the page disconnects."""
        self._stream = asyncio.ensure_future(self._copy(call, media_type))
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

    async def _copy(self, call: Call, media_type: str) -> None:
        answer = await self.connection.answer(call)
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


class CopiesHandler(ServiceHandler):
    """Base of the handlers that store copies of notebooks or change what runs them."""

    @property
    def copies(self) -> CopyKeeper:
        """The copies of this server."""
        copies: CopyKeeper = self.settings[COPIES]
        return copies

    async def remove_unused_copies(self) -> None:
        """Remove unused copies. Runs after the answer, which does not wait for it."""
        try:
            await self.copies.remove_unused()
        except SvcError as error:
            self.log.warning(
                "copies of notebooks that no schedule runs any more stay in the service (%s); they are removed after "
                "the next change of a schedule",
                error.message,
            )
