"""A MySQL server that asks for the password in clear text: whoever answers at a tap's address can do that."""

from __future__ import annotations

import socketserver
import struct
import threading
from collections.abc import Iterator

import pytest

from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.engines.sqlalchemy_url import SqlalchemyEngine
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.ground.settings import Settings

PASSWORD = "geheim-42"
_CAPABILITIES = 0x00000200 | 0x00008000 | 0x00080000  # protocol 4.1, secure connection, plug-ins


class Asking(socketserver.ThreadingTCPServer):
    """Speaks as much of MySQL's protocol as it takes to ask for a password, and keeps what it gets.

    See https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, plugin: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.plugin = plugin
        self.heard = b""


class Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, Asking)
        low, high = _CAPABILITIES & 0xFFFF, _CAPABILITIES >> 16
        greeting = b"\x0a8.0.0\0" + struct.pack("<I", 1) + b"12345678\0" + struct.pack("<HBHHB", low, 33, 2, high, 21)
        self.send(0, greeting + bytes(10) + b"123456789012\0mysql_native_password\0")
        self.receive()
        self.send(2, b"\xfe" + self.server.plugin + b"\0" + b"\x04Password: \0")
        self.server.heard += self.receive()

    def send(self, number: int, payload: bytes) -> None:
        self.wfile.write(struct.pack("<I", len(payload))[:3] + bytes([number]) + payload)

    def receive(self) -> bytes:
        head = self.rfile.read(4)
        return self.rfile.read(int.from_bytes(head[:3], "little")) if head else b""


@pytest.fixture(params=[b"mysql_clear_password", b"dialog"])
def server(request: pytest.FixtureRequest) -> Iterator[Asking]:
    with Asking(request.param) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_it_does_not_get_the_password(server: Asking):
    port = server.server_address[1]
    by_url = TapAttributes("t", "url", url=f"mysql+pymysql://reader:{PASSWORD}@127.0.0.1:{port}/d")
    by_host = TapAttributes("t", "mysql", db_host="127.0.0.1", port=port, db_user="reader", password=PASSWORD)
    for tap in (by_url, by_host):
        with pytest.raises(QueryFailure, match="asks for the password in clear text; the password was not sent"):
            SqlalchemyEngine(connection_of(tap, Settings())).tables()
    assert server.heard == b""
