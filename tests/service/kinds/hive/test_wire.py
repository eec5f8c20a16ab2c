"""Thrift's binary protocol: what is written can be read by anybody, and what others write is read."""

from __future__ import annotations

import io
import struct
from array import array

import pytest
from pymetastore.hive_metastore.ttypes import Database
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TTransport import TMemoryBuffer

from svc_jupyter.service.runtimes.hive_server.wire import I16, I64, WireError, encoded_call, read_reply


def reply(content: bytes, kind: int = 2) -> io.BytesIO:
    """A reply whose result is the struct `content` in field 0."""
    head = struct.pack(">II", 0x80010000 | kind, 1) + b"f" + struct.pack(">i", 0)
    return io.BytesIO(head + struct.pack(">bh", 12, 0) + content + b"\0")


def test_thrifts_own_reader_understands_a_call() -> None:
    call = encoded_call("Get", {1: "sales", 2: "ü", 4: {"owner": "ann"}})
    protocol = TBinaryProtocol(TMemoryBuffer(call))
    assert protocol.readMessageBegin() == ("Get", 1, 0)
    protocol.readStructBegin()
    assert protocol.readFieldBegin()[1:] == (12, 1)
    database = Database()
    database.read(protocol)
    assert (database.name, database.description, database.parameters) == ("sales", "ü", {"owner": "ann"})


def test_a_struct_of_thrifts_own_writer_is_read() -> None:
    buffer = TMemoryBuffer()
    Database(name="sales", parameters={"a": "b"}).write(TBinaryProtocol(buffer))
    assert read_reply(reply(buffer.getvalue())) == {1: b"sales", 4: {b"a": b"b"}}


def test_numbers_come_as_one_array() -> None:
    values = struct.pack(">bi3q", 10, 3, 1, -2, 2**62)
    answer = read_reply(reply(struct.pack(">bh", 15, 1) + values + b"\0"))
    assert answer[1] == array("q", [1, -2, 2**62])


def test_an_i64_and_an_i16_are_written_as_such() -> None:
    assert struct.pack(">bhq", 10, 3, 7) in encoded_call("Fetch", {3: I64(7)})
    assert struct.pack(">bhh", 6, 4, 1) in encoded_call("Fetch", {4: I16(1)})


def test_a_connection_that_ends_in_an_answer_is_reported() -> None:
    whole = reply(struct.pack(">bhi", 11, 1, 5) + b"sales\0").getvalue()

    def is_reported(cut: int) -> bool:
        try:
            read_reply(io.BytesIO(whole[:cut]))
        except EOFError:
            return True
        return False

    assert [cut for cut in range(len(whole)) if not is_reported(cut)] == []


def test_a_reply_that_is_not_thrift_is_refused() -> None:
    with pytest.raises(WireError, match="not Thrift"):
        read_reply(io.BytesIO(b"HTTP/1.1 400 Bad Request\r\n\r\n"))


def test_an_exception_of_the_server_is_reported() -> None:
    head = struct.pack(">II", 0x80010003, 1) + b"f" + struct.pack(">i", 0)
    told = struct.pack(">bhi", 11, 1, 15) + b"Invalid method!"
    with pytest.raises(WireError, match="Invalid method!"):
        read_reply(io.BytesIO(head + told + b"\0"))
