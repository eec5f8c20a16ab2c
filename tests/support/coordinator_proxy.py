"""A proxy in front of a Presto coordinator, for what the coordinator of the tests has not: TLS, a password, the headers
of Trino (of which no server can be had here), a redirection, a restart that forgets all queries.
"""

from __future__ import annotations

import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import trustme

from svc_jupyter.service.runtimes.presto.access import PRESTO, TRINO

_NOT_PASSED_ON = ("host", "authorization", "connection", "accept-encoding")


class Handler(BaseHTTPRequestHandler):
    """Passes a request on, unless the proxy answers it itself."""

    protocol_version = "HTTP/1.1"
    server: CoordinatorProxy

    def do_GET(self) -> None:
        proxy = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        proxy.asked.append((self.command, self.path, dict(self.headers)))
        if proxy.redirects_to:
            return self._answer(307, {"Location": proxy.redirects_to + self.path}, b"")
        if proxy.login and self.path != "/v1/info":
            expected = f"Basic {b64encode(':'.join(proxy.login).encode()).decode()}"
            if self.headers.get("Authorization") != expected:
                return self._answer(401, {"WWW-Authenticate": "Basic"}, b"Unauthorized")
        if proxy.has_restarted and self.command == "GET" and self.path.startswith("/v1/statement"):
            return self._answer(404, {}, b"")
        sent = {
            proxy.translated(name, proxy.family, PRESTO): value
            for name, value in self.headers.items()
            if name.lower() not in _NOT_PASSED_ON
        }
        upstream = urlsplit(proxy.upstream)
        connection = HTTPConnection(upstream.hostname or "", upstream.port, timeout=60)
        try:
            connection.request(self.command, self.path, body or None, sent)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, HTTPException):
            return self._answer(502, {}, b"")
        finally:
            connection.close()
        passed = {
            proxy.translated(name, PRESTO, proxy.family): value
            for name, value in answer.headers.items()
            if name.lower() not in ("content-length", "transfer-encoding", "connection")
        }
        return self._answer(answer.status, passed, content)

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815  the names that the standard library looks for

    def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class CoordinatorProxy(ThreadingHTTPServer):
    """Listens on 127.0.0.1."""

    def __init__(self, upstream: str, *, family: str = PRESTO, authority: trustme.CA | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream = upstream
        self.family = family
        self.login: tuple[str, str] | None = None
        self.redirects_to = ""
        self.has_restarted = False
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        """Method, path and headers of each request."""
        self._scheme = "http"
        if authority is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert("127.0.0.1").configure_cert(context)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
            self._scheme = "https"

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.server_address[1]}"

    def translated(self, name: str, from_family: str, to_family: str) -> str:
        """Return a header's name in another family; a header of the other family alone stays unknown."""
        prefix = f"x-{from_family}-".lower()
        return f"X-{to_family}-{name[len(prefix) :]}" if name.lower().startswith(prefix) else name

    def users(self) -> set[str | None]:
        """Return the users in whose names statements were posted."""
        header = f"X-{self.family}-User"
        return {headers.get(header) for method, _, headers in self.asked if method == "POST"}

    def handle_error(self, *_: object) -> None:
        """Say nothing of callers that went before they had their answer, or trust no certificate."""


@contextmanager
def proxy_before(
    upstream: str, *, family: str = PRESTO, authority: trustme.CA | None = None
) -> Iterator[CoordinatorProxy]:
    """Lend a proxy in front of a coordinator; with an authority, it has a certificate and is reached by HTTPS."""
    assert family in (PRESTO, TRINO)
    with CoordinatorProxy(upstream, family=family, authority=authority) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def pem_of(authority: trustme.CA) -> str:
    """Return an authority's certificate as `tls_ca` takes it."""
    return authority.cert_pem.bytes().decode()
