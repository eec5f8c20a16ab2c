"""Thrift's binary protocol, as far as HiveServer2 needs it; columns of numbers are read whole, not value by value.

A struct is a mapping of field numbers to values. When written, a value's Python type determines its Thrift type: `int`
is an i32, `I16` an i16, `I64` an i64, `bool`, `str`, `bytes`, a mapping of `str` a map, any other mapping a struct.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, Final

_STOP, _BOOL, _BYTE, _DOUBLE, _I16, _I32, _I64, _STRING = 0, 2, 3, 4, 6, 8, 10, 11
_STRUCT, _MAP, _SET, _LIST = 12, 13, 14, 15
_VERSION: Final = 0x80010000
_CALL, _REPLY = 1, 2
_MAX_BYTES: Final = 2**31 - 1
_NUMBERS: Final = {
    _BOOL: struct.Struct(">?"),
    _BYTE: struct.Struct(">b"),
    _DOUBLE: struct.Struct(">d"),
    _I16: struct.Struct(">h"),
    _I32: struct.Struct(">i"),
    _I64: struct.Struct(">q"),
}
_ARRAYS: Final = {_BOOL: "b", _BYTE: "b", _I16: "h", _I32: "i", _I64: "q", _DOUBLE: "d"}
"""Type codes of Python's arrays, by Thrift's types."""
_LENGTH: Final = struct.Struct(">i")

Struct = dict[int, Any]


class I16(int):
    """A number that is written as an i16."""


class I64(int):
    """A number that is written as an i64."""


class WireError(Exception):
    """The bytes violate the protocol: another program listens there."""


def encoded_call(name: str, request: Mapping[int, Any], sequence: int = 0) -> bytes:
    """Return the bytes of a call with one argument, a struct."""
    called = name.encode("ascii")
    head = struct.pack(">II", _VERSION | _CALL, len(called)) + called + _LENGTH.pack(sequence)
    return head + _encoded_struct({1: request})


def read_reply(stream: BinaryIO) -> Struct:
    """Return the answer to a call. Raises `WireError`, and `EOFError` when the connection ends before it does."""
    reader = _Reader(stream)
    kind = reader.number(_I32) & 0xFFFFFFFF
    if kind & 0xFFFF0000 != _VERSION:
        raise WireError("the answer is not Thrift's")
    reader.string()
    reader.number(_I32)
    result = reader.struct()
    if kind & 0xFF != _REPLY:
        text = result.get(1, b"no reason given")
        raise WireError(text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text))
    answer = result.get(0)
    if not isinstance(answer, dict):
        raise WireError("the answer holds no result")
    return answer


def _encoded_struct(fields: Mapping[int, Any]) -> bytes:
    parts = []
    for number, value in fields.items():
        if value is not None:
            kind, content = _encoded(value)
            parts.append(struct.pack(">bh", kind, number) + content)
    return b"".join(parts) + b"\0"


def _encoded(value: Any) -> tuple[int, bytes]:
    if isinstance(value, bool):
        return _BOOL, b"\1" if value else b"\0"
    if isinstance(value, I64):
        return _I64, _NUMBERS[_I64].pack(value)
    if isinstance(value, I16):
        return _I16, _NUMBERS[_I16].pack(value)
    if isinstance(value, int):
        return _I32, _LENGTH.pack(value)
    if isinstance(value, (str, bytes)):
        content = value.encode() if isinstance(value, str) else value
        return _STRING, _LENGTH.pack(len(content)) + content
    if all(isinstance(key, str) for key in value) and value:
        pairs = b"".join(_encoded(text)[1] for pair in value.items() for text in pair)
        return _MAP, struct.pack(">bbi", _STRING, _STRING, len(value)) + pairs
    return _STRUCT, _encoded_struct(value)


class _Reader:
    """Reads values off a stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._readers: dict[int, Callable[[], Any]] = {
            _STRING: self.string,
            _STRUCT: self.struct,
            _LIST: self.sequence,
            _SET: self.sequence,
            _MAP: self.map,
        }

    def number(self, kind: int) -> Any:
        packed = _NUMBERS[kind]
        return packed.unpack(self._take(packed.size))[0]

    def string(self) -> bytes:
        return self._take(self._length())

    def struct(self) -> Struct:
        fields: Struct = {}
        while (kind := self._take(1)[0]) != _STOP:
            number = self.number(_I16)
            fields[number] = self._value(kind)
        return fields

    def sequence(self) -> Any:
        """Return numbers as an `array`, texts as a list of bytes, anything else as a list of values."""
        kind = self._take(1)[0]
        count = self._length()
        code = _ARRAYS.get(kind)
        if code is not None:
            numbers = array(code, self._take(count * _NUMBERS[kind].size))
            numbers.byteswap()
            return numbers
        if kind == _STRING:
            return self._strings(count)
        return [self._value(kind) for _ in range(count)]

    def map(self) -> dict[Any, Any]:
        key, value = self._take(2)
        return {self._value(key): self._value(value) for _ in range(self._length())}

    def _strings(self, count: int) -> list[bytes]:
        read, unpack = self._stream.read, _LENGTH.unpack
        found = []
        for _ in range(count):
            head = read(4)
            if len(head) < 4:
                raise EOFError
            (length,) = unpack(head)
            text = read(length) if length > 0 else b""
            if len(text) < length:
                raise EOFError
            found.append(text)
        return found

    def _value(self, kind: int) -> Any:
        if kind in _NUMBERS:
            return self.number(kind)
        try:
            return self._readers[kind]()
        except KeyError:
            raise WireError(f"the answer holds a value of the unknown type {kind}") from None

    def _length(self) -> int:
        length = int(self.number(_I32))
        if not 0 <= length <= _MAX_BYTES:
            raise WireError(f"the answer holds a length of {length}")
        return length

    def _take(self, count: int) -> bytes:
        content = self._stream.read(count)
        if len(content) < count:
            raise EOFError
        return content
