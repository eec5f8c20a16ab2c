"""Idempotency keys around the creating calls other than commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from svc_jupyter.api.paths import IDEMPOTENCY_HEADER, TOKEN_HEADER
from svc_jupyter.service.ground.errors import ServiceError
from svc_jupyter.service.http.idempotency import Answer, Idempotency, identify
from svc_jupyter.service.http.responses import error_response

_KEY = IDEMPOTENCY_HEADER.lower().encode()
_TOKEN = TOKEN_HEADER.lower().encode()


class IdempotentPosts:
    """ASGI middleware. Commands are not handled here: their keys are written together with the command."""

    def __init__(self, app: ASGIApp, answers: Idempotency, user_of: Callable[[str | None], Awaitable[int]]) -> None:
        """`user_of` returns the id of a token's user; it raises for an invalid token."""
        self._app = app
        self._answers = answers
        self._user_of = user_of

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
        message = await receive()  # RequestShell gives the complete body in one message
        body: bytes = message.get("body", b"")
        user_id = await self._user_of(headers.get(_TOKEN, b"").decode("latin-1") or None)
        call = identify(user_id, headers[_KEY].decode("latin-1"), "POST", scope["path"], body)
        first = await self._answers.begin(call)
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
            await self._answers.complete(call, answer)
        for part in answered:
            await send(part)
