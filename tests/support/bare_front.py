"""A front before a real service that lacks some of our extensions: calls to them are answered with 404."""

from __future__ import annotations

from collections.abc import Collection

import httpx
from tests.support.http_front import HttpFront, error

MISSING = frozenset({("GET", "/api/v1.2/object_policy/decision"), ("GET", "/api/v1.2/folders/delete")})
"""What answers about policies and deletions in advance; a service without our extensions has neither."""


class BareFront(HttpFront):
    """Passes on every call but the missing ones; use it in a `with`."""

    def __init__(self, base_url: str, missing: Collection[tuple[str, str]] = MISSING) -> None:
        super().__init__()
        self._missing = missing
        self._target = httpx.Client(base_url=base_url, timeout=60, trust_env=False)

    def __exit__(self, *error_of_body: object) -> None:
        super().__exit__(*error_of_body)
        self._target.close()

    def answer(self, request: httpx.Request) -> httpx.Response:
        if (request.method, request.url.path) in self._missing:
            return error(404, "there is no such call")
        headers = [(name, value) for name, value in request.headers.items() if name not in ("host", "connection")]
        target = request.url.raw_path.decode()
        return self._target.request(request.method, target, headers=headers, content=request.content)
