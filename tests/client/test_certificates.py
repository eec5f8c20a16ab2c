"""Which certificates the client trusts: behind a tunnel to this machine as anywhere else."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from svc_jupyter.client import AsyncClient, Client, ConfigurationError, Retries
from svc_jupyter.client.errors import ConnectionFailed, Unauthorized

_ONCE = Retries(attempts=1)


class _Stranger(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def url(authority: trustme.CA) -> Iterator[str]:
    """The https address of a server on this machine that knows nobody's token."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Stranger) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"https://localhost:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_an_authority_of_ones_own_is_trusted_at_the_end_of_a_tunnel(
    authority: trustme.CA, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with Client(url, "a-token", retries=_ONCE) as client, pytest.raises(Unauthorized):
        client.account.get()

    async def ask() -> None:
        async with AsyncClient(url, "a-token", retries=_ONCE) as client:
            await client.account.get()

    with pytest.raises(Unauthorized):
        asyncio.run(ask())


def test_an_unknown_authority_is_reported(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with Client(url, "a-token", retries=_ONCE) as client, pytest.raises(ConnectionFailed, match="certificate"):
        client.account.get()


@pytest.mark.parametrize("base_url", ["https://localhost:1", "https://svc.example.com"])
def test_certificates_that_cannot_be_read_are_named(base_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nowhere.pem"))
    with pytest.raises(ConfigurationError, match=r"SSL_CERT_FILE=.*nowhere\.pem cannot be read: No such file"):
        Client(base_url, "a-token")
