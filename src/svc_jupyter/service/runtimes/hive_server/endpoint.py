"""How a HiveServer2 is reached: the address, the user, the login, and the channel for its calls.

The workers import it, too, so it needs little but the standard library.
"""

from __future__ import annotations

import io
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Final, cast

from svc_jupyter.service.ground.tls import reason_of, tls_context

CONNECT_SECONDS: Final = 10.0
_PROXY_USER: Final = "hive.server2.proxy.user"
"""The setting of a session that names the user in whose name a login acts."""
_NOBODYS: Final = "anonymous"
"""The password where none is wanted: SASL's PLAIN allows no empty one."""
_START, _OK, _COMPLETE = 1, 2, 5
_HEAD: Final = struct.Struct(">BI")
_LENGTH: Final = struct.Struct(">I")
_LONGEST_REFUSAL: Final = 10_000
_BUFFER: Final = 1 << 18


class ServerLost(Exception):
    """The connection could not be made, or broke; the text is the reason."""


class LoginRefused(ServerLost):
    """The server refused the login; the text is its own."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A HiveServer2 as one user sees it."""

    host: str
    port: int
    user: str
    """The user in whose name the session's statements run."""
    is_sasl: bool = False
    """Whether each connection begins with a login by SASL's PLAIN, as Hive wants it unless it is told `NOSASL`."""
    is_encrypted: bool = False
    login: str = ""
    """The name that goes with the password and acts for `user`; empty where the server authenticates nobody."""
    password: str = field(default="", repr=False)
    tls_ca: str = field(default="", repr=False)
    """Certificates of the only authorities to trust; empty for those of the machine."""
    database: str = ""
    """The session's first schema; empty for `default`."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of every session."""

    @property
    def session_user(self) -> str:
        """The name that opens the session."""
        return self.login or self.user

    @property
    def session_settings(self) -> Mapping[str, str]:
        """The configuration with which the session is opened."""
        chosen = {f"set:hiveconf:{name}": value for name, value in self.settings.items()}
        if self.database:
            chosen["use:database"] = self.database
        return {**chosen, _PROXY_USER: self.user} if self.login else chosen

    def connect(self, seconds: float | None = None) -> Channel:
        """Return a channel whose calls take at most `seconds`. Raises `ServerLost`."""
        limit = seconds or CONNECT_SECONDS
        try:
            connected = socket.create_connection((self.host, self.port), limit)
        except (OSError, UnicodeError) as error:
            raise ServerLost(reason_of(error)) from error
        try:
            if self.is_encrypted:
                connected = tls_context(self.tls_ca).wrap_socket(connected, server_hostname=self.host)
            if self.is_sasl:
                _log_in(connected, self.session_user, self.password or _NOBODYS)
            connected.settimeout(seconds)
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        except OSError as error:
            connected.close()
            raise ServerLost(reason_of(error)) from error
        except BaseException:
            connected.close()
            raise
        return Channel(connected, is_framed=self.is_sasl)


class Channel:
    """A connection that carries calls and their answers; after a login by SASL, each in a frame."""

    def __init__(self, connected: socket.socket, *, is_framed: bool) -> None:
        self._socket = connected
        self._is_framed = is_framed
        stream = cast("BinaryIO", connected.makefile("rb", _BUFFER))
        self.answers = cast("BinaryIO", io.BufferedReader(_Frames(stream), _BUFFER)) if is_framed else stream
        """The bytes of the answers."""

    def send(self, call: bytes) -> None:
        """Send a call. Raises `OSError`."""
        self._socket.sendall(_LENGTH.pack(len(call)) + call if self._is_framed else call)

    def close(self) -> None:
        """Close the connection."""
        self.answers.close()
        self._socket.close()


class _Frames(io.RawIOBase):
    """The contents of frames, each of which begins with its length."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what a BufferedReader passes
        while not self._left:
            head = self._stream.read(_LENGTH.size)
            if len(head) < _LENGTH.size:
                return 0
            (self._left,) = _LENGTH.unpack(head)
        content = self._stream.read(min(self._left, len(buffer)))
        buffer[: len(content)] = content
        self._left -= len(content)
        return len(content)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _log_in(connected: socket.socket, name: str, password: str) -> None:
    """Log in by SASL's PLAIN (Thrift's framing of SASL). Raises `LoginRefused`, `OSError`."""
    _send(connected, _START, b"PLAIN")
    _send(connected, _OK, b"\0".join((b"", name.encode(), password.encode())))
    status, length = _HEAD.unpack(_received(connected, _HEAD.size))
    text = _received(connected, min(length, _LONGEST_REFUSAL)).decode("utf-8", "replace")
    if status != _COMPLETE:
        raise LoginRefused(text or "it refuses the login")


def _send(connected: socket.socket, status: int, content: bytes) -> None:
    connected.sendall(_HEAD.pack(status, len(content)) + content)


def _received(connected: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count:
        part = connected.recv(count - len(content))
        if not part:
            raise ServerLost(
                "it closed the connection at the login: it may want no SASL (auth=noSasl), or TLS (ssl=true)"
            )
        content += part
    return content
