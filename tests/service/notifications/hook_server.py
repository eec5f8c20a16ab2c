"""A real HTTP server that takes webhooks."""

from __future__ import annotations

import json
import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOST = "127.0.0.1"
DEADLINE_SECONDS = 30.0


@dataclass
class Posted:
    """A request as the server got it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class HookServer:
    """A server: what it was sent, and how it answers."""

    posted: list[Posted] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """Answers to give next; without one 200."""
    holds: bool = False
    """Whether it waits for `go_on` before it answers."""
    go_on: threading.Event = field(default_factory=threading.Event)
    port: int = 0
    _server: ThreadingHTTPServer | None = None
    _thread: threading.Thread | None = None

    def start(self, context: ssl.SSLContext | None = None) -> None:
        """Listen, on the port of the last time if there was one."""
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                hook.posted.append(Posted(self.path, dict(self.headers), json.loads(body)))
                if hook.holds:
                    hook.go_on.wait(DEADLINE_SECONDS)
                status, headers = hook.answers.pop(0) if hook.answers else (200, {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                """A sender that has gone is not an error here."""

        self._server = Server((HOST, self.port), Handler)
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop to listen, once every request is answered."""
        self.go_on.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join(DEADLINE_SECONDS)
            self._server.server_close()
            self._server = None

    def url(self, path: str = "/hook", *, scheme: str = "http", host: str = HOST) -> str:
        """Return the address of a path."""
        return f"{scheme}://{host}:{self.port}{path}"
