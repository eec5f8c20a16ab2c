"""A server that stands in for a Presto coordinator: it answers as it was told, over real connections."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, Any], dict[str, str]]


class Handler(BaseHTTPRequestHandler):
    """Gives the answers of its server in turn; None is a connection that ends without one."""

    protocol_version = "HTTP/1.1"
    server: Coordinator

    def do_GET(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        self.server.asked.append((self.command, self.path, self.rfile.read(size).decode(), self.headers))
        self.server.connections.add(self.client_address)
        if self.command == "GET":
            assert self.server.gate.wait(20)
        answer = self.server.answers.pop(0)
        if answer is None:
            self.close_connection = True
            return
        status, body, headers = answer
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        if self.command == "DELETE":
            self.server.gate.set()

    do_POST = do_DELETE = do_GET  # noqa: N815  the names that the standard library looks for

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Coordinator(ThreadingHTTPServer):
    """Answers as it was told."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer | None] = []
        self.asked: list[tuple[str, str, str, Any]] = []
        self.connections: set[Any] = set()
        self.gate = threading.Event()
        """Until then the next answer is not given; a cancellation gives it."""
        self.gate.set()

    def handle_error(self, *_: object) -> None:
        """Say nothing of callers that went before they had their answer."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def coordinator_at_work() -> Iterator[Coordinator]:
    """Lend a coordinator that answers."""
    with Coordinator() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
