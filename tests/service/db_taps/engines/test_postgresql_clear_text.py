"""A server that asks for the password in clear text: whoever answers at a tap's address can do that."""

from __future__ import annotations

import socketserver
import struct
import threading
from collections.abc import Iterator

import pytest

from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.engines.postgresql import PostgresqlEngine
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.ground.settings import Settings

PASSWORD = "geheim-42"
_ASK_FOR_PASSWORD = b"R" + struct.pack("!ii", 8, 3)


class Asking(socketserver.ThreadingTCPServer):
    """Speaks as much of PostgreSQL's protocol as it takes to ask for a password, and keeps what it gets."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.heard = b""


class Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while len(self.rfile.read(struct.unpack("!i", self.rfile.read(4))[0] - 4)) == 4:
            self.wfile.write(b"N")  # neither TLS nor Kerberos
        self.wfile.write(_ASK_FOR_PASSWORD)
        assert isinstance(self.server, Asking)
        if begin := self.rfile.read(5):
            self.server.heard += begin + self.rfile.read(struct.unpack("!i", begin[1:])[0] - 4)


@pytest.fixture
def server() -> Iterator[Asking]:
    with Asking() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def tables(tap: TapAttributes) -> QueryFailure:
    with pytest.raises(QueryFailure) as failure:
        PostgresqlEngine(connection_of(tap, Settings())).tables()
    return failure.value


def test_it_does_not_get_the_password(server: Asking):
    port = server.server_address[1]
    tap = TapAttributes("t", "postgresql", db_host="127.0.0.1", port=port, db_user="reader", password=PASSWORD)
    message = str(tables(tap))
    assert "server requested a cleartext password; the password was not sent; have the server ask for" in message
    assert server.heard == b""


def test_it_does_not_get_the_password_of_a_url(server: Asking):
    url = f"postgresql://reader:{PASSWORD}@127.0.0.1:{server.server_address[1]}/d"
    assert "cleartext" in str(tables(TapAttributes("t", "url", url=url)))
    assert server.heard == b""


def test_a_url_may_say_otherwise(server: Asking):
    url = f"postgresql://reader:{PASSWORD}@127.0.0.1:{server.server_address[1]}/d?require_auth=password&sslmode=disable"
    tables(TapAttributes("t", "url", url=url))
    assert PASSWORD.encode() in server.heard
