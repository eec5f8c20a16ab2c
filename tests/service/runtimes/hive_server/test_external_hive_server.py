"""Connecting to HiveServer2 that others run: addresses, logins, progress. A stand-in gives the answers of servers."""

from __future__ import annotations

import json
import socket
import socketserver
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from tests.support.coordinator_proxy import pem_of

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.api.states import ClusterState
from svc_jupyter.api.text import HIDDEN
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, quietly
from svc_jupyter.service.clusters.cluster_rows import EXTERNAL_PASSWORD
from svc_jupyter.service.clusters.instances import OWNER_EMAIL, SEALED_SECRETS, Instance, Instances
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.runtimes.hive_server.client import Operation, Session
from svc_jupyter.service.runtimes.hive_server.endpoint import Endpoint
from svc_jupyter.service.runtimes.hive_server.external import Address, ExternalHiveServers, parsed

_OK, _COMPLETE, _BAD = 2, 5, 3


class StandIn(socketserver.ThreadingTCPServer):
    """Answers calls with what the test has set, after a login by SASL."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.refusal = ""
        self.answers: dict[str, bytes] = {}
        self.logins: list[bytes] = []
        self.calls: list[bytes] = []


class _Conversation(socketserver.StreamRequestHandler):
    server: StandIn

    def handle(self) -> None:
        self.rfile.read(5 + len("PLAIN"))
        status, length = struct.unpack(">BI", self.rfile.read(5))
        self.server.logins.append(self.rfile.read(length))
        refusal = self.server.refusal.encode()
        self.wfile.write(struct.pack(">BI", _BAD if refusal else _COMPLETE, len(refusal)) + refusal)
        while not refusal and status == _OK and (head := self.rfile.read(4)):
            call = self.rfile.read(struct.unpack(">I", head)[0])
            self.server.calls.append(call)
            (size,) = struct.unpack(">I", call[4:8])
            name = call[8 : 8 + size].decode()
            content = struct.pack(">II", 0x80010002, size) + name.encode() + struct.pack(">i", 0)
            content += struct.pack(">bh", 12, 0) + self.server.answers.get(name, _good(b"")) + b"\0"
            for piece in (content[:9], content[9:]):  # an answer may come in several frames
                self.wfile.write(struct.pack(">I", len(piece)) + piece)


def _good(fields: bytes) -> bytes:
    """A result with the status `success`, and more fields."""
    return struct.pack(">bh", 12, 1) + struct.pack(">bhi", 8, 1, 0) + b"\0" + fields + b"\0"


def _failed(text: str) -> bytes:
    said = text.encode()
    status = struct.pack(">bhi", 8, 1, 3) + struct.pack(">bhi", 11, 5, len(said)) + said + b"\0"
    return struct.pack(">bh", 12, 1) + status + b"\0"


@pytest.fixture
def server() -> Iterator[StandIn]:
    server = StandIn()
    handle = struct.pack(">bh", 12, 3) + b"\0"
    server.answers["OpenSession"] = _good(handle)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


@pytest.fixture
def servers(settings: Settings) -> Iterator[ExternalHiveServers]:
    database = Database(settings)
    yield ExternalHiveServers(Instances(settings, database), SecretBox(settings.data_dir / "secret.key"))
    database.close()


def configuration_of(**external: Any) -> ClusterConfiguration:
    return ClusterConfiguration.model_validate({"provider": "external", "external": external})


def instance_of(settings: Settings, password: str | None = None, **external: Any) -> Instance:
    box = SecretBox(settings.data_dir / "secret.key")
    sealed = None if password is None else box.seal(json.dumps({EXTERNAL_PASSWORD: password}))
    return Instance(
        id=1, cluster_id=7, account_id=1, state=ClusterState.PENDING, provider="external", folder=settings.data_dir,
        configuration=configuration_of(**external, **({} if password is None else {"password": HIDDEN})),
        details={SEALED_SECRETS: sealed, OWNER_EMAIL: "ann@example.com"}, start_at=0.0, up_at=None, last_used_at=0.0,
        terminate_reason=None, nodes=(),
    )  # fmt: skip


def test_addresses():
    addresses = {
        "hive.example.com:10001": Address("hive.example.com", 10001),
        "hive.example.com": Address("hive.example.com", 10000),
        "[::1]:10000": Address("::1", 10000),
        "jdbc:hive2://h:10000/sales;ssl=true": Address("h", 10000, "sales", is_encrypted=True),
        "hive2://h:10000/;auth=noSasl;transportMode=binary;": Address("h", 10000, is_sasl=False),
    }
    assert {text: parsed(text) for text in addresses} == addresses


LIKE = "must be like hive.example.com:10000 or hive2://hive.example.com:10000/;auth=noSasl;ssl=true"
REFUSED = {
    "http://h:10000": LIKE,
    "h:port": LIKE,
    "h:10000/sales": LIKE,
    "hive2://": LIKE,
    "hive2://ann:pw@h:10000/": LIKE,
    "hive2://a:2181,b:2181/": "give the address of a server, not of ZooKeeper",
    "hive2://h/;principal=hive/_HOST@EXAMPLE.COM": (
        "the parameter 'principal' cannot be used: Kerberos is not supported"
    ),
    "hive2://h/;auth=kerberos": "the parameter 'auth' cannot be used: Kerberos is not supported",
    "hive2://h/;transportMode=http;httpPath=cliservice": (
        "the parameter 'transportMode' cannot be used: only the binary transport is supported, not HTTP"
    ),
    "hive2://h/;password=secret": (
        "the parameter 'password' cannot be used: give the login as external.user and external.password"
    ),
    "hive2://h/;sslTrustStore=/a": (
        "the parameter 'sslTrustStore' cannot be used: give the certificate of the authority as external.tls_ca"
    ),
    "hive2://h/;ssl=maybe": "the parameter 'ssl' cannot be used: it is not supported",
}


def test_an_address_that_cannot_be_used_is_refused():
    def refusal(text: str) -> str:
        with pytest.raises(Invalid) as refused:
            parsed(text)
        return str(refused.value).removeprefix("external.hiveserver2: ")

    assert {text: refusal(text) for text in REFUSED} == REFUSED


def test_an_invalid_configuration_is_refused_with_the_reason(servers: ExternalHiveServers):
    def refusal(external: dict[str, Any]) -> str:
        with pytest.raises(Invalid) as refused:
            servers.check(configuration_of(**external))
        return refused.value.message

    refused = [
        (
            {"hiveserver2": "h", "user": "svc"},
            "external.user: a user and a password go together; without both, the server gets only the e-mail of each "
            "command's user",
        ),
        (
            {"hiveserver2": "h", "user": "svc", "password": "x"},
            "external.hiveserver2: must be an URL with ssl=true where there is a password or tls_ca",
        ),
        (
            {"hiveserver2": "hive2://h/;auth=noSasl;ssl=true", "user": "svc", "password": "x"},
            "external.hiveserver2: auth=noSasl takes no login; remove external.user and external.password",
        ),
        (
            {"hiveserver2": "hive2://h/;ssl=true", "tls_ca": "nonsense"},
            "external.tls_ca: must be one or more certificates in PEM",
        ),
        ({"hiveserver2": "h", "source": "etl"}, "external.source: is for Presto and Trino"),
        (
            {"hiveserver2": "h", "session_properties": {"hive.server2.proxy.user": "hive"}},
            "external.session_properties: hive.server2.proxy.user is the server's own",
        ),
        (
            {"hiveserver2": "h", "session_properties": {"a b": "1"}},
            "external.session_properties: 'a b' is not the name of a property",
        ),
    ]
    assert [(external, refusal(external)) for external, _ in refused] == refused


def test_a_login_acts_for_the_user_and_no_login_is_the_user_itself(settings: Settings, servers: ExternalHiveServers):
    secure = {"hiveserver2": "hive2://h/sales;ssl=true", "tls_ca": pem_of(trustme.CA())}
    own = {"session_properties": {"a": "1", "b": ""}}
    instance = instance_of(settings, "s3cret", **secure, **own, user="svc")
    servers.check(instance.configuration)
    endpoint = servers.endpoint(instance, "ann@example.com")
    assert endpoint.session_user == "svc"
    assert endpoint.session_settings == {
        "set:hiveconf:a": "1",
        "use:database": "sales",
        "hive.server2.proxy.user": "ann@example.com",
    }
    assert "s3cret" not in repr(endpoint)
    alone = servers.endpoint(instance_of(settings, hiveserver2="h"), "ann@example.com")
    assert (alone.session_user, alone.session_settings) == ("ann@example.com", {})


async def test_a_refused_login_is_reported(settings: Settings, servers: ExternalHiveServers, server: StandIn):
    server.refusal = "Error validating the login"
    instance = instance_of(settings, hiveserver2=f"127.0.0.1:{server.server_address[1]}")
    with pytest.raises(ClusterFailure, match=r"refuses the login: Error validating the login; give a login as"):
        await servers.start(instance, quietly)
    assert server.logins == [b"\0ann@example.com\0anonymous"]


async def test_a_user_that_the_server_does_not_let_in_is_reported(
    settings: Settings, servers: ExternalHiveServers, server: StandIn
):
    server.answers["OpenSession"] = _failed("Failed to validate proxy privilege of svc for ann@example.com\n\tat java")
    instance = instance_of(settings, hiveserver2=f"127.0.0.1:{server.server_address[1]}")
    expected = r"opens no session for ann@example.com: Failed to validate proxy privilege of svc for ann@example.com$"
    with pytest.raises(ClusterFailure, match=expected):
        await servers.start(instance, quietly)


async def test_a_server_that_is_not_hiveserver2_is_reported(settings: Settings, servers: ExternalHiveServers):
    with socket.create_server(("127.0.0.1", 0)) as other:

        def hang_up() -> None:
            connection, _ = other.accept()
            connection.recv(100)
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(ClusterFailure, match=r"closed the connection at the login|reset"):
            await servers.start(instance_of(settings, hiveserver2=f"127.0.0.1:{other.getsockname()[1]}"), quietly)
        thread.join()


def test_progress_and_log_are_those_of_the_server(server: StandIn):
    headings = struct.pack(">bhbi", 15, 1, 11, 1) + struct.pack(">i", 6) + b"VERTEX"
    told = struct.pack(">bh", 12, 10) + headings + struct.pack(">bhd", 4, 3, 0.25) + b"\0"
    server.answers["GetOperationStatus"] = _good(struct.pack(">bhi", 8, 2, 1) + told)
    lines = struct.pack(">bhbi", 15, 1, 11, 2) + b"".join(struct.pack(">i", 1) + line for line in (b"a", b"b"))
    column = struct.pack(">bh", 12, 7) + lines + struct.pack(">bhi", 11, 2, 0) + b"\0\0"
    rows = struct.pack(">bh", 12, 3) + struct.pack(">bhbi", 15, 3, 12, 1) + column + b"\0"
    server.answers["FetchResults"] = _good(rows)
    with Session(Endpoint("127.0.0.1", server.server_address[1], "ann", is_sasl=True)) as session:
        assert session.status(Operation({}), with_progress=True).share == 0.25
        assert session.log(Operation({}), 10) == ["a", "b"]
    assert struct.pack(">bhh", 6, 4, 1) in server.calls[2]  # it asks for the log, not for rows
