"""An HTTP server in a thread of the test, which can refuse and hold its answers."""

from __future__ import annotations

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import httpx

_OF_THE_CONNECTION = ("content-length", "content-encoding", "transfer-encoding", "connection", "date", "server")


def error(status: int, message: str, fields: dict[str, str] | None = None, **headers: str) -> httpx.Response:
    """Return an error in the form of the contract; `fields` are our extension."""
    body = {"error": {"error_code": status, "error_message": message, **({"fields": fields} if fields else {})}}
    return httpx.Response(status, json=body, headers={"X-Trace-Id": "trace-1", **headers})


class HttpFront:
    """Answers calls with `answer`; use it in a `with`, or pass `respond` to an `httpx.MockTransport`."""

    base_url = "http://service.test"
    is_served = False

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.refusal: tuple[int, str] | None = None
        """The status and message of the error that answers every call."""
        self.held: threading.Event | None = None
        """What each answer waits for."""
        self.changed = threading.Condition()

    def __enter__(self) -> Self:
        front = self

        class Handler(_Handler):
            respond = staticmethod(front.respond)

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.base_url = f"http://127.0.0.1:{self._server.server_port}"
        self.is_served = True
        return self

    def __exit__(self, *_: object) -> None:
        if self.held is not None:
            self.held.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def calls(self) -> list[str]:
        """The requests so far, as `GET /api/v1.2/account`."""
        return [f"{request.method} {request.url.raw_path.decode()}" for request in self.requests]

    def wait_until_asked(self, part: str) -> None:
        """Wait for a request whose line contains `part`."""
        with self.changed:
            assert self.changed.wait_for(lambda: any(part in call for call in self.calls), timeout=30)

    def respond(self, request: httpx.Request) -> httpx.Response:
        """Record a request and return what answers it."""
        with self.changed:
            self.requests.append(request)
            self.changed.notify_all()
        if self.held is not None:
            self.held.wait(30)
        return error(*self.refusal) if self.refusal is not None else self.answer(request)

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Return the answer to a request that is neither refused nor held."""
        raise NotImplementedError


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do not report that a client went away; clients do that."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    respond: Any

    def log_message(self, *_: Any) -> None:
        """Write no log."""

    def do_GET(self) -> None:
        try:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            url = httpx.URL(f"http://{self.headers['Host']}").join(self.path)  # a proxy gets the whole address
            answer = self.respond(httpx.Request(self.command, url, headers=dict(self.headers), content=body))
            content = answer.read()
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name not in _OF_THE_CONNECTION:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()
        except ConnectionError:  # the client went away
            self.close_connection = True

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815  names that http.server calls
