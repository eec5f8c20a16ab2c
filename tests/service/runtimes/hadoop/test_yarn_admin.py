"""Hadoop RPC as bytes, against a listener that answers as it is told to; the real daemon's part is in test_scaling."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from tests.support.ports import refusing_port

from svc_jupyter.service.runtimes.hadoop.yarn_admin import (
    AdminCallFailed,
    call_bytes,
    connection_bytes,
    refresh_nodes,
    refusal_in,
)


def _message(*parts: bytes) -> bytes:
    return b"".join(bytes([len(part)]) + part for part in parts)


def _header(status: int, text: bytes = b"") -> bytes:
    """A response header: call id 0 (field 1), the status (2), and the words of a refusal (5)."""
    return b"\x08\x00" + bytes([0x10, status]) + (bytes([0x2A, len(text)]) + text if text else b"")


@asynccontextmanager
async def _listener(answer: bytes | None):
    """A server on a free port that reads a bit, sends `answer` and closes; None never answers."""

    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.current_task())
        await reader.read(65_536)
        if answer is None:
            await reader.read()  # until the other side gives up
        else:
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()
        await asyncio.gather(*serving)


def test_a_connection_opens_with_version_9_and_no_authentication():
    opened = connection_bytes("ann")
    assert opened[:7] == b"hrpc\x09\x00\x00"
    assert int.from_bytes(opened[7:11], "big") == len(opened) - 11
    assert b"ann" in opened
    assert b"org.apache.hadoop.yarn.server.api.ResourceManagerAdministrationProtocolPB" in opened


def test_a_call_is_framed_by_its_length():
    call = call_bytes("refreshNodes", b"\x08\x02")
    assert int.from_bytes(call[:4], "big") == len(call) - 4
    assert call.endswith(b"\x02\x08\x02")


def test_fields_that_are_not_known_are_passed_over():
    unknown = b"\x39" + bytes(8) + b"\x45" + bytes(4) + b"\x42\x03abc" + b"\x18\x96\x01"
    assert refusal_in(_message(_header(0) + unknown, b"\x0a\x01x")) is None
    assert refusal_in(_message(_header(1) + unknown)) == "it gave no reason"


def test_a_refusal_has_the_first_line_of_the_other_side():
    refused = _message(_header(1, b"User bob cannot refresh nodes\n\tat org.example"))
    assert refusal_in(refused) == "User bob cannot refresh nodes"


async def test_a_refused_call_is_reported_with_the_address():
    answer = _message(_header(1, b"not for you"))
    async with _listener(len(answer).to_bytes(4, "big") + answer) as address:
        with pytest.raises(AdminCallFailed, match=rf"127\.0\.0\.1:{address[1]} refused refreshNodes: not for you"):
            await refresh_nodes(address, 10)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"", "closed the connection during refreshNodes"),
        (b"HTTP/1.1 400 Bad Request", "does not speak Hadoop RPC"),
        (b"\x00\x00\x00\x02\xff\xff", "does not speak Hadoop RPC"),  # a number that has no end
        (b"\x00\x00\x00\x02\x01\x0b", "does not speak Hadoop RPC"),  # a field of no known kind
    ],
)
async def test_a_server_that_is_not_a_resource_manager_is_reported(answer, words):
    async with _listener(answer) as address:
        with pytest.raises(AdminCallFailed, match=words):
            await refresh_nodes(address, 10)


async def test_a_daemon_that_hangs_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("svc_jupyter.service.runtimes.hadoop.yarn_admin.CALL_SECONDS", 0.05)
    async with _listener(None) as address:
        with pytest.raises(AdminCallFailed, match=r"did not answer refreshNodes within 0\.05 s"):
            await refresh_nodes(address, 10)


async def test_a_silent_address_is_reported():
    with refusing_port() as port, pytest.raises(AdminCallFailed, match="cannot be reached"):
        await refresh_nodes(("127.0.0.1", port), 10)
