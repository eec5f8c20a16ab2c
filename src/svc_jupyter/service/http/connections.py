"""The connections of the server: limits on their number and waiting times, and errors in the envelope.

uvicorn waits forever for the rest of a request, accepts headers of any length, and accepts connections until the
system has no file descriptor left; callers are then disconnected without an answer.
"""

from __future__ import annotations

import asyncio
import resource
import uuid
from collections import Counter
from enum import Enum
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from svc_jupyter.api.paths import TRACE_HEADER
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.responses import error_response

HEADER_BYTES: Final = 65_536
"""Most bytes of an incomplete request head."""
HEADER_SECONDS: Final = 20.0
KEEP_ALIVE_SECONDS: Final = 75
_BODY_SECONDS = 20.0
_BODY_BYTES_PER_SECOND = 4096
"""After the first seconds, a body must come at least this fast."""
_DRAINED_BYTES = 64 * 2**20
"""Most bytes of a refused body that are read, so that its sender can read the answer."""
_FAREWELL_SECONDS = 2.0
"""How long a refused caller has to read the reason."""
_FAREWELLS = 100
_RETRY_SECONDS = 2


class Connections:
    """Counts the connections by address, and closes those that keep the service waiting."""

    def __init__(self, settings: Settings) -> None:
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.most = max(1, descriptors // 2)
        """The other half is for files, databases and programs."""
        self.most_per_address = settings.connections_per_address or max(1, self.most // 2)
        self._trusted = settings.trusted_proxies
        self._by_address: Counter[str] = Counter()
        self._open: set[GuardedConnection] = set()
        self.farewells = 0

    def enter(self, connection: GuardedConnection, address: str) -> str | None:
        """Count a connection; return the reason for a refusal, or None."""
        self._open.add(connection)
        self._by_address[address] += 1
        if len(self._open) > self.most:
            return f"the service has {self.most} connections open, as many as it may; try again in a moment"
        if self._by_address[address] > self.most_per_address and not self._is_trusted(address):
            return (
                f"{address} has {self.most_per_address} connections open, as many as one address may; "
                "close some, or try again in a moment"
            )
        return None

    def leave(self, connection: GuardedConnection, address: str) -> None:
        """Forget a closed connection."""
        self._open.discard(connection)
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def look(self, now: float) -> None:
        """Close the connections that have timed out; `now` is the event loop's time."""
        for connection in list(self._open):
            connection.look(now)

    def _is_trusted(self, address: str) -> bool:
        """Return whether a connection comes from a trusted proxy, which has many callers."""
        if "*" in self._trusted or address in self._trusted:
            return True
        networks = [ip_network(one, strict=False) for one in self._trusted if "/" in one]
        return any(ip_address(address.partition("/")[0]) in network for network in networks)


class _Part(Enum):
    """The next expected part of a request."""

    START = 1
    HEAD = 2
    BODY = 3


class GuardedConnection(HttpToolsProtocol):
    """A connection that is counted and limited in time and size; its class has the counter."""

    guard: Connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Accept the connection, or refuse it with the reason."""
        super().connection_made(transport)
        self._part = _Part.START
        self._since = self.loop.time()
        self._bytes = 0
        self._turned_away = False
        self._address = _address(self.client)
        reason = self.guard.enter(self, self._address)
        if reason is not None:
            self._turn_away(503, reason)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self.guard.leave(self, self._address)
        if self._turned_away:
            self.guard.farewells -= 1
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read more data, within the limits of size."""
        if self._turned_away:
            return
        request = self.scope
        super().data_received(data)
        if self.scope is request:
            self._bytes += len(data)
        if self._part is _Part.HEAD and self._bytes > HEADER_BYTES:
            self._turn_away(431, f"the request's head is larger than {HEADER_BYTES} bytes")
        elif self._part is _Part.BODY and self.cycle.response_complete and self._bytes > _DRAINED_BYTES:
            self.transport.close()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._part = _Part.HEAD
        self._since = self.loop.time()
        self._bytes = 0

    def on_headers_complete(self) -> None:
        """The body is next."""
        super().on_headers_complete()
        self._part = _Part.BODY

    def on_message_complete(self) -> None:
        """The request is complete."""
        super().on_message_complete()
        self._part = _Part.START
        self._since = self.loop.time()

    def on_response_complete(self) -> None:
        """The next request may come, or the rest of this request's body."""
        super().on_response_complete()
        if self._part is _Part.START:
            self._since = self.loop.time()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is not HTTP in the envelope. `msg` is uvicorn's message."""
        self._turn_away(400, f"this is not a request in HTTP/1.1: {msg}")

    def look(self, now: float) -> None:
        """Close the connection when the expected data do not come in time."""
        waited = now - self._since
        if self._turned_away:
            if waited > _FAREWELL_SECONDS:
                self.transport.abort()
        elif self._is_our_turn():
            self._since = now
        elif self._part is _Part.START:
            # Any byte stops uvicorn's own timer of idle connections, even if it begins no request.
            if waited > (HEADER_SECONDS if self.cycle is None else KEEP_ALIVE_SECONDS):
                self.transport.close()
        elif waited > (HEADER_SECONDS if self._part is _Part.HEAD else self._body_seconds):
            self._turn_away(408, f"the rest of the request did not come within {waited:.0f} seconds")

    @property
    def _body_seconds(self) -> float:
        return _BODY_SECONDS + self._bytes / _BODY_BYTES_PER_SECOND

    def _is_our_turn(self) -> bool:
        """Return whether the caller waits for an answer, or its data wait to be read."""
        is_answered = self.cycle is None or self.cycle.response_complete
        return self.flow.read_paused or (not is_answered and self._part is not _Part.BODY)

    def _turn_away(self, status: int, message: str) -> None:
        """Answer with an error unless an answer has begun, and close once the caller can have read it.

        An immediate close would reset the connection while the caller's bytes are unread, and the answer would be lost.
        """
        self._unset_keepalive_if_required()
        if self._turned_away or self.transport.is_closing():
            return
        self._turned_away = True
        self._since = self.loop.time()
        self.guard.farewells += 1
        has_begun = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if self.guard.farewells > _FAREWELLS or has_begun:
            self.transport.close()
            return
        self.flow.resume_reading()
        self.transport.write(_whole_answer(status, message))
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write_eof()


def connection_class(counted_by: Connections) -> type[GuardedConnection]:
    """Return the class of a server's connections, which uvicorn instantiates with its own arguments."""

    class Connection(GuardedConnection):
        guard = counted_by

    return Connection


def _address(client: Any) -> str:
    """Return the key under which a connection is counted: its address, for IPv6 the network of one subscriber."""
    if client is None:
        return ""
    host = str(client[0])
    if ":" not in host:
        return host
    address = IPv6Address(host.partition("%")[0])
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address) if address.is_loopback else str(ip_network((address, 64), strict=False))


def _whole_answer(status: int, message: str) -> bytes:
    trace_id = uuid.uuid4().hex
    answer = error_response(status, message, trace_id, _RETRY_SECONDS if status == 503 else None)
    headers = [*answer.raw_headers, (TRACE_HEADER.lower().encode(), trace_id.encode()), (b"connection", b"close")]
    head = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return STATUS_LINE[status] + head + b"\r\n" + bytes(answer.body)
