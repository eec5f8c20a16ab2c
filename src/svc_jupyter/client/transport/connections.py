"""The connections to a service on this machine, kept between calls.

httpx's pool checks each of its connections, down to the socket, whenever a call begins or ends: with 32 concurrent
calls that takes longer than the rest of a call. So each connection has its own pool here, a *lane*, and a call takes
the lane that was returned last. Unused lanes age and are closed.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Generic, TypeVar

import httpx

LIMIT = 100
"""Maximum number of connections; further calls wait for one, up to the timeout `pool`."""
KEEP_SECONDS = 30.0
"""How long an idle connection stays open."""
_ONE = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=KEEP_SECONDS)
_ALL_IN_USE = f"all {LIMIT} connections are in use"
Lane = TypeVar("Lane", httpx.HTTPTransport, httpx.AsyncHTTPTransport)


class _Lanes(Generic[Lane]):
    """All lanes of a client and the free ones among them. Thread-safe."""

    def __init__(self, make: Callable[[], Lane]) -> None:
        self._make: Callable[[], Lane] = make
        self._all: set[Lane] = set()
        self._idle: deque[tuple[float, Lane]] = deque()
        self._lock = threading.Lock()

    def lend(self) -> tuple[Lane, list[Lane]]:
        """Return a lane for a call, and the lanes to close because they were idle for too long."""
        old: list[Lane] = []
        limit = time.monotonic() - KEEP_SECONDS
        with self._lock:
            if self._idle:
                lane = self._idle.pop()[1]
            else:
                lane = self._make()
                self._all.add(lane)
            while self._idle and self._idle[0][0] < limit:
                old.append(self._idle.popleft()[1])
            self._all.difference_update(old)
        return lane, old

    def take_back(self, lane: Lane) -> None:
        """Keep a lane for the next call."""
        self._idle.append((time.monotonic(), lane))

    def drop(self, lane: Lane) -> None:
        """Forget a lane whose connection is broken."""
        with self._lock:
            self._all.discard(lane)

    def all(self) -> list[Lane]:
        """Return all lanes, including those in use."""
        with self._lock:
            return list(self._all)


class KeptConnections(httpx.BaseTransport):
    """For `httpx.Client`. `verify` is the context by which certificates are checked."""

    def __init__(self, verify: ssl.SSLContext) -> None:
        self._lanes = _Lanes(partial(httpx.HTTPTransport, verify=verify, trust_env=False, limits=_ONE))
        self._free = threading.BoundedSemaphore(LIMIT)
        self._is_closed = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request over a free connection. Raises `httpx.PoolTimeout` when none becomes free in time."""
        if not self._free.acquire(timeout=request.extensions["timeout"]["pool"]):
            raise httpx.PoolTimeout(_ALL_IN_USE)
        lane, old = self._lanes.lend()
        try:
            for unused in old:
                unused.close()
            response = lane.handle_request(request)
        except BaseException:
            self._take_back(lane)
            raise
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Body(response.stream, partial(self._take_back, lane))
        return response

    def close(self) -> None:
        """Close all connections, including those in use; one that is being opened closes at the end of its call."""
        self._is_closed = True
        for lane in self._lanes.all():
            for connection in lane._pool.connections:  # the lane itself would forget one that is being opened
                connection.close()

    def _take_back(self, lane: httpx.HTTPTransport) -> None:
        self._lanes.take_back(lane)
        self._free.release()
        if self._is_closed:
            lane.close()


class AsyncKeptConnections(httpx.AsyncBaseTransport):
    """For `httpx.AsyncClient`. `verify` is the context by which certificates are checked."""

    def __init__(self, verify: ssl.SSLContext) -> None:
        self._lanes = _Lanes(partial(httpx.AsyncHTTPTransport, verify=verify, trust_env=False, limits=_ONE))
        self._free = asyncio.BoundedSemaphore(LIMIT)
        self._closing: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request over a free connection. Raises `httpx.PoolTimeout` when none becomes free in time."""
        try:
            async with asyncio.timeout(request.extensions["timeout"]["pool"]):
                await self._free.acquire()
        except TimeoutError:
            raise httpx.PoolTimeout(_ALL_IN_USE) from None
        lane, old = self._lanes.lend()
        try:
            for unused in old:
                await unused.aclose()
            response = await lane.handle_async_request(request)
        except BaseException:
            self._take_back(lane)
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _AsyncBody(response.stream, partial(self._take_back, lane), partial(self._drop, lane))
        return response

    async def aclose(self) -> None:
        """Close all connections, including those in use; one that is being opened closes at the end of its call."""
        self._is_closed = True
        for lane in self._lanes.all():
            for connection in lane._pool.connections:  # the lane itself would forget one that is being opened
                await connection.aclose()

    def _take_back(self, lane: httpx.AsyncHTTPTransport) -> None:
        if self._is_closed:
            self._drop(lane)
            return
        self._lanes.take_back(lane)
        self._free.release()

    def _drop(self, lane: httpx.AsyncHTTPTransport) -> None:
        """Close a lane that is neither in use nor free: its next call would wait forever."""
        self._lanes.drop(lane)
        self._free.release()
        closing = asyncio.ensure_future(lane.aclose())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)


class _Body(httpx.SyncByteStream):
    """A response body; closing it returns its lane."""

    def __init__(self, body: httpx.SyncByteStream, take_back: Callable[[], None]) -> None:
        self._body = body
        self._take_back = take_back

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)

    def close(self) -> None:
        try:
            self._body.close()
        finally:
            self._take_back()


class _AsyncBody(httpx.AsyncByteStream):
    """The same for asyncio; if the closing is cancelled, the lane is dropped."""

    def __init__(self, body: httpx.AsyncByteStream, take_back: Callable[[], None], drop: Callable[[], None]) -> None:
        self._body = body
        self._take_back = take_back
        self._drop = drop

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._body.__aiter__()

    async def aclose(self) -> None:
        try:
            await self._body.aclose()
        except BaseException:
            self._drop()
            raise
        self._take_back()
