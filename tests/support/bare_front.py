"""A front before a real service that has not some of our extensions: calls to them are answered with 404."""

from __future__ import annotations

import threading
from collections.abc import Collection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

MISSING = frozenset({("GET", "/api/v1.2/object_policy/decision"), ("GET", "/api/v1.2/folders/delete")})
"""What tells about policies and deletions before they count; a service without our extensions has none of it."""


class BareFront:
    """Passes every call on but the missing ones; use it in a `with`. A `refusal` is answered instead of any call."""

    def __init__(self, base_url: str, missing: Collection[tuple[str, str]] = MISSING) -> None:
        self._missing = missing
        self._target = httpx.Client(base_url=base_url, timeout=60, trust_env=False)
        self.refusal: tuple[int, str] | None = None
        self.held: threading.Event | None = None
        self.requests: list[tuple[str, str]] = []

    def __enter__(self) -> Self:
        front = self

        class Handler(_Handler):
            def pass_on(self) -> httpx.Response:
                return front._answer(self.command, self.path, self.headers, self.body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.held is not None:
            self.held.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._target.close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def _answer(self, method: str, target: str, headers: Any, body: bytes) -> httpx.Response:
        self.requests.append((method, target))
        if self.held is not None:
            self.held.wait(30)
        if self.refusal is not None:
            status, text = self.refusal
            return httpx.Response(status, json={"error": {"error_code": status, "error_message": text}})
        if (method, urlsplit(target).path) in self._missing:
            return httpx.Response(404, json={"error": {"error_code": 404, "error_message": "there is no such call"}})
        kept = {name: value for name, value in headers.items() if name.lower() not in ("host", "connection")}
        return self._target.request(method, target, headers=kept, content=body)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    body: bytes

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def pass_on(self) -> httpx.Response:
        raise NotImplementedError

    def do_GET(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        answer = self.pass_on()
        self.send_response(answer.status_code)
        for name in ("content-type", "etag"):
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815  names that http.server calls
