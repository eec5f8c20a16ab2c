"""Calls of YARN's administration protocol that REST lacks: making the ResourceManager read its exclude file again.

Hadoop RPC, version 9, with SIMPLE authentication: a connection header, a context that names the user and the protocol,
then one call. Every part is a length-prefixed protobuf message. `yarn rmadmin`, a new JVM, takes 0.9 s, and the whole
removal of an idle node 0.4 s (`python -m benchmarks node_scaling`).
"""

from __future__ import annotations

import asyncio
import getpass
import uuid
from collections.abc import Iterator

from svc_jupyter.service.ground.errors import Failure

CALL_SECONDS = 5.0
_PROTOCOL = "org.apache.hadoop.yarn.server.api.ResourceManagerAdministrationProtocolPB"
_MAX_ANSWER = 1 << 20
_PROTOCOL_BUFFER, _FINAL_PACKET = 2, 0
_CONTEXT_CALL, _CALL = -3, 0
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SUCCESS = 0
_GRACEFUL = 2


class AdminCallFailed(Failure):
    """The ResourceManager refused a call, or did not answer; the text holds its own words."""


async def refresh_nodes(address: tuple[str, int], timeout_seconds: int) -> None:
    """Make the ResourceManager at `address` read its exclude file. Raises `AdminCallFailed`.

    Excluded nodes take no new work, and leave when their work has ended or a timeout has passed: the file's, or else
    this one. Others work again.
    """
    await call(address, "refreshNodes", _number(1, _GRACEFUL) + _number(2, timeout_seconds))


async def call(address: tuple[str, int], method: str, request: bytes) -> None:
    """Call a method with a protobuf message. Raises `AdminCallFailed`."""
    place = f"the ResourceManager at {address[0]}:{address[1]}"
    try:
        async with asyncio.timeout(CALL_SECONDS):
            reader, writer = await asyncio.open_connection(*address)
            try:
                writer.write(connection_bytes(getpass.getuser()) + call_bytes(method, request))
                length = int.from_bytes(await reader.readexactly(4), "big")
                if length > _MAX_ANSWER:
                    raise AdminCallFailed(f"{place} does not speak Hadoop RPC")
                answer = await reader.readexactly(length)
            finally:
                writer.close()
    except TimeoutError:
        raise AdminCallFailed(f"{place} did not answer {method} within {CALL_SECONDS:g} s") from None
    except asyncio.IncompleteReadError:
        raise AdminCallFailed(f"{place} closed the connection during {method}") from None
    except OSError as error:
        raise AdminCallFailed(f"{place} cannot be reached: {error.strerror or error}") from None
    try:
        refusal = refusal_in(answer)
    except (IndexError, KeyError):
        raise AdminCallFailed(f"{place} does not speak Hadoop RPC") from None
    if refusal is not None:
        raise AdminCallFailed(f"{place} refused {method}: {refusal}")


def connection_bytes(user: str) -> bytes:
    """Return the start of a connection: magic, version 9, service class 0, no SASL; then the connection's context."""
    context = _bytes(2, _bytes(1, user.encode())) + _bytes(3, _PROTOCOL.encode())
    return b"hrpc\x09\x00\x00" + _frame(_request_header(_CONTEXT_CALL), context)


def call_bytes(method: str, request: bytes) -> bytes:
    """Return a call: the RPC header, the method's header, the request."""
    header = _bytes(1, method.encode()) + _bytes(2, _PROTOCOL.encode()) + _number(3, 1)
    return _frame(_request_header(_CALL), header, request)


def refusal_in(answer: bytes) -> str | None:
    """Return the first line of the server's error, or None without one; `IndexError`, `KeyError` if it is no answer."""
    length, start = _read_varint(answer, 0)
    status, text = _SUCCESS, ""
    for field, value in _fields(answer[start : start + length]):
        if field == 2 and isinstance(value, int):
            status = value
        elif field == 5 and isinstance(value, bytes):
            text = value.decode("utf-8", "replace")
    return None if status == _SUCCESS else text.partition("\n")[0] or "it gave no reason"


def _request_header(call_id: int) -> bytes:
    zigzag = (call_id << 1) ^ (call_id >> 31)
    return _number(1, _PROTOCOL_BUFFER) + _number(2, _FINAL_PACKET) + _number(3, zigzag) + _bytes(4, uuid.uuid4().bytes)


def _frame(*messages: bytes) -> bytes:
    body = b"".join(_varint(len(message)) + message for message in messages)
    return len(body).to_bytes(4, "big") + body


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        if not data[at] & 0x80:
            return value, at + 1
        at, shift = at + 1, shift + 7


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a message: numbers of varint fields, bytes of all others."""
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        if tag & 7 == _VARINT:
            value, at = _read_varint(message, at)
            yield tag >> 3, value
            continue
        if tag & 7 == _BYTES:
            length, at = _read_varint(message, at)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}[tag & 7]
        yield tag >> 3, message[at : at + length]
        at += length
