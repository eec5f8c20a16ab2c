"""The bodies of requests: checked for valid Unicode; large ones are parsed one after the other in a thread.

A decoder holds the interpreter for a whole document. Other requests therefore wait for one document of the size that
the operator allows, not for all that are sent.
"""

from __future__ import annotations

import asyncio
import gc
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.types import Receive, Scope, Send

from svc_jupyter.api.text import NOT_UNICODE, broken_place
from svc_jupyter.service.ground.errors import Invalid

Result = TypeVar("Result")
LARGE_BYTES: Final = 2**20
ROUTE: Final = "route_template"
"""The key of a request's state for the template of its route."""
_CONTAINER_BYTES = 8
"""No real data are denser. Millions of empty arrays block all requests while they are created, counted and freed."""
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_WHOLE_PAIRS = re.compile(
    rb"(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+"
)
_large = ThreadPoolExecutor(max_workers=1, thread_name_prefix="large-bodies")
"""One thread: ten documents at once would take ten times the memory."""


def parsed(raw: bytes) -> Any:
    """Return the JSON value of a body, and raise, like `json.loads`; much faster for a long body.

    Raises `Invalid` for a large one that is almost only brackets.
    """
    if len(raw) <= LARGE_BYTES:
        return json.loads(raw)
    if _CONTAINER_BYTES * (raw.count(b"[") + raw.count(b"{")) > len(raw):
        raise Invalid(f"the body holds an array or object for every {_CONTAINER_BYTES} bytes; send less at once")
    gc.disable()  # it would scan the growing value repeatedly, for longer than the parsing takes
    try:
        return from_json(raw)
    except ValueError:  # an encoding other than UTF-8, invalid Unicode, or not JSON
        return json.loads(raw)
    finally:
        gc.enable()


async def beside(raw: bytes, work: Callable[..., Result], *arguments: Any) -> Result:
    """Return the result of `work` on a body: at once, or in a thread when it is large."""
    if len(raw) <= LARGE_BYTES:
        return work(*arguments)
    return await asyncio.get_running_loop().run_in_executor(_large, work, *arguments)


def may_be_broken(raw: bytes) -> bool:
    """Return whether a body may have texts that are not valid Unicode."""
    return not raw.isascii() or _SURROGATE_ESCAPE.search(raw) is not None


async def check_unicode(raw: bytes) -> None:
    """Raise `Invalid`, which names the field, for JSON with half of a surrogate pair; other bodies pass."""
    if not may_be_broken(raw):
        return
    place = await beside(raw, _broken_place, raw)
    if place is not None:
        where = place[:200] or "the body"
        raise Invalid(f"{where}: {NOT_UNICODE}", {where: NOT_UNICODE})


class JsonRoute(APIRoute):
    """A route whose body is parsed in a thread when it is large, and which writes its template into the state."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request of the route."""
        scope.setdefault("state", {}).setdefault(
            ROUTE, self.path
        )  # a request that the service sends itself comes later
        await super().handle(scope, receive, send)

    def get_route_handler(self) -> Callable[[Request], Any]:
        """Return the handler of the route."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            response: Response = await handler(_JsonRequest(request.scope, request.receive))
            return response

        return handle


class _JsonRequest(Request):
    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            raw = await self.body()
            self._json = await beside(raw, parsed, raw)
        return self._json


def _broken_place(raw: bytes) -> str | None:
    """Return where the JSON text `raw` is not valid Unicode; None for valid text, and for text that is not JSON."""
    encoding = json.detect_encoding(raw)
    try:
        text = raw.decode(encoding).encode() if encoding != "utf-8" else raw
        text.decode()
        if _WHOLE_PAIRS.fullmatch(text):
            return None
    except UnicodeDecodeError:
        pass
    try:
        return broken_place(parsed(raw))
    except (ValueError, RecursionError):
        return None
