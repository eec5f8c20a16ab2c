"""Idempotency keys around the creating calls other than commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from svc_jupyter.api.paths import IDEMPOTENCY_HEADER, TOKEN_HEADER
from svc_jupyter.service.errors import ServiceError
from svc_jupyter.service.idempotency import Answer, identify
from svc_jupyter.service.responses import error_response

if TYPE_CHECKING:
    from svc_jupyter.service.parts import Service

_KEY = IDEMPOTENCY_HEADER.lower().encode()
_TOKEN = TOKEN_HEADER.lower().encode()


class IdempotentPosts:
    """Pure ASGI. A command's key is not handled here: it is written together with the command."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a repeated creating call with its first answer; pass everything else on."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"].endswith("/commands"):
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if _KEY not in headers:
            await self._app(scope, receive, send)
            return
        try:
            await self._answer_once(scope, headers, receive, send)
        except ServiceError as error:
            trace_id = scope["state"]["trace_id"]
            await error_response(error.status, error.message, trace_id, error.retry_after)(scope, receive, send)

    async def _answer_once(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        message = await receive()  # RequestShell gives the whole body in one message
        body: bytes = message.get("body", b"")
        caller = await self._service.access.tokens.caller(headers.get(_TOKEN, b"").decode("latin-1") or None)
        call = identify(caller.user_id, headers[_KEY].decode("latin-1"), "POST", scope["path"], body)
        first = await self._service.idempotency.begin(call)
        if first is not None:
            await Response(first.body, first.status, media_type="application/json")(scope, receive, send)
            return
        answered: list[Message] = []

        async def replay() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def hold(part: Message) -> None:
            answered.append(part)

        answer = Answer(500, b"")
        try:
            await self._app(scope, replay, hold)
            content = b"".join(part.get("body", b"") for part in answered)
            answer = Answer(answered[0]["status"], content)
        finally:
            await self._service.idempotency.complete(call, answer)
        for part in answered:
            await send(part)
