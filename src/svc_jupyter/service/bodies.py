"""The bodies of requests: in valid Unicode, and large ones read one after the other beside the event loop.

A decoder holds the interpreter from the first byte of a document to its last. So others wait for one document, of the
size that the operator allows, and not for as many as are sent.
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

from svc_jupyter.api.text import NOT_UNICODE, broken_place
from svc_jupyter.service.errors import Invalid

Result = TypeVar("Result")
LARGE_BYTES: Final = 2**20
_CONTAINER_BYTES = 8
"""Denser than this no data are, and millions of empty arrays stop everybody while they are made, counted and freed."""
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_WHOLE_PAIRS = re.compile(
    rb"(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+"
)
_large = ThreadPoolExecutor(max_workers=1, thread_name_prefix="large-bodies")
"""One after the other: ten together would take the memory of ten."""


def parsed(raw: bytes) -> Any:
    """Return the JSON value of a body, and raise, as `json.loads`; in a fraction of its time where that is long.

    Raises `Invalid` for a large one of hardly anything but brackets.
    """
    if len(raw) <= LARGE_BYTES:
        return json.loads(raw)
    if _CONTAINER_BYTES * (raw.count(b"[") + raw.count(b"{")) > len(raw):
        raise Invalid(f"the body holds an array or object for every {_CONTAINER_BYTES} bytes; send less at once")
    gc.disable()  # it would go through the growing value again and again, for longer than the reading takes
    try:
        return from_json(raw)
    except ValueError:  # another encoding than UTF-8, what is no Unicode, and whatever is no JSON
        return json.loads(raw)
    finally:
        gc.enable()


async def beside(raw: bytes, work: Callable[..., Result], *arguments: Any) -> Result:
    """Return what `work` makes of a body: at once, or in a thread when it is large."""
    if len(raw) <= LARGE_BYTES:
        return work(*arguments)
    return await asyncio.get_running_loop().run_in_executor(_large, work, *arguments)


def may_be_broken(raw: bytes) -> bool:
    """Return whether a body is worth a look for texts that are not valid Unicode."""
    return not raw.isascii() or _SURROGATE_ESCAPE.search(raw) is not None


async def check_unicode(raw: bytes) -> None:
    """Raise `Invalid`, which names the field, for JSON that holds half of a surrogate pair; what is no JSON passes."""
    if not may_be_broken(raw):
        return
    place = await beside(raw, _broken_place, raw)
    if place is not None:
        where = place[:200] or "the body"
        raise Invalid(f"{where}: {NOT_UNICODE}", {where: NOT_UNICODE})


class JsonRoute(APIRoute):
    """A route whose body, where it is large, is read beside the event loop."""

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
    """Return where the JSON text `raw` is not valid Unicode; None for what is, and for what is no JSON at all."""
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
