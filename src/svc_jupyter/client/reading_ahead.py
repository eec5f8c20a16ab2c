"""Reading the rows of a query while it still writes them, beside the wait for its end.

It only saves time. The rows count when their stream came to its end marker, and the record of the finished command
tells as many rows and bytes; whatever else happens (the query fails, its rows are written anew, the service restarts
or is too old for this), they are read after the end as ever.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import httpx

from svc_jupyter.api import paths
from svc_jupyter.client.calls import Call, exchange
from svc_jupyter.client.errors import Invalid, SvcError
from svc_jupyter.client.retries import NO_RETRIES
from svc_jupyter.client.streams import PLAIN_BYTES, emptied, table_of
from svc_jupyter.client.tracking import Tracked

if TYPE_CHECKING:
    import pyarrow as pa

    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

_HOLD = 30
"""Seconds that a service is asked to wait for the first rows."""
_STALL_SECONDS = 5.0
"""The last rows of a command that is done lie ready: when nothing comes for so long, they are better asked for anew."""
_EXPECTED = (SvcError, httpx.RequestError, MemoryError)
"""What may end the reading: the rows are then read after the end, and a problem that lasts is told there."""


def can_read_ahead(command: Tracked) -> bool:
    """Return whether a command may have rows that can be read before its end."""
    return command.has_typed_results and command._link.extended and not command.ended


class _Asking:
    """The calls that wait for the first rows."""

    def __init__(self, command: Tracked) -> None:
        self._path = paths.command(command.id, "results")
        self._asked = 0.0

    def call(self) -> Call:
        """Return the next call."""
        self._asked = time.monotonic()
        params = {"follow": True, "wait": _HOLD}
        return Call("GET", self._path, params, accept=paths.ARROW_STREAM, headers=PLAIN_BYTES, hold=_HOLD, stream=True)

    def check(self, refusal: Invalid) -> None:
        """Raise the refusal unless it means: no rows yet. A service without this extension refuses at once."""
        if time.monotonic() - self._asked < _HOLD / 2:
            raise refusal


def _confirmed(command: Tracked, table: pa.Table | None, size: int) -> pa.Table | None:
    """Return the rows if they are what the finished command says its result is."""
    record = command.record
    if table is None or (record.result_rows, record.result_bytes) != (table.num_rows, size):
        return None
    return table


class ReadAhead:
    """Reads a command's rows in a thread of its own, from `start` on."""

    def __init__(self, client: Client, command: Tracked) -> None:
        self._client = client
        self._command = command
        self._size = 0
        self._table: pa.Table | None = None
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="svc-read-ahead", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Let the reading end with the next bytes; nothing is kept."""
        self._stopped = True

    def rows(self) -> pa.Table | None:
        """Wait for the last rows of a command that is done; return them all, once, or None when they do not count."""
        seen = -1
        while self._thread.is_alive() and seen != self._size:
            seen = self._size
            self._thread.join(_STALL_SECONDS)
        if self._thread.is_alive():
            self.stop()
            return None
        table, self._table = self._table, None
        return _confirmed(self._command, table, self._size)

    def _run(self) -> None:
        with suppress(*_EXPECTED), closing(self._opened()) as response:
            self._table = table_of(self._pieces(response))
        if self._stopped:
            self._table = None

    def _opened(self) -> httpx.Response:
        asking = _Asking(self._command)
        while True:
            try:
                return self._client._run(exchange(self._command._link, asking.call(), NO_RETRIES))
            except Invalid as refusal:
                if self._stopped:
                    raise
                asking.check(refusal)

    def _pieces(self, response: httpx.Response) -> Iterator[bytes]:
        for piece in response.iter_bytes():
            if self._stopped:
                return
            self._size += len(piece)
            yield piece


class AsyncReadAhead:
    """Reads a command's rows in a task of its own, from its making on."""

    def __init__(self, client: AsyncClient, command: Tracked) -> None:
        self._client = client
        self._command = command
        self._pieces: deque[bytes] = deque()
        self._task = asyncio.create_task(self._read())

    def stop(self) -> None:
        """Read no more."""
        self._task.cancel()

    async def rows(self) -> pa.Table | None:
        """Wait for the last rows of a command that is done; return them all, once, or None when they do not count."""
        seen = -1
        while not self._task.done() and seen != len(self._pieces):
            seen = len(self._pieces)
            await asyncio.wait({self._task}, timeout=_STALL_SECONDS)
        if not self._task.done():
            self.stop()
            return None
        if not self._task.result():
            return None
        size = sum(map(len, self._pieces))
        with suppress(*_EXPECTED):
            return _confirmed(self._command, await asyncio.to_thread(table_of, emptied(self._pieces)), size)
        return None

    async def _read(self) -> bool:
        """Collect the bytes; return whether they came to their end."""
        with suppress(*_EXPECTED):
            response = await self._opened()
            try:
                async for piece in response.aiter_bytes():
                    self._pieces.append(piece)
            finally:
                await response.aclose()
            return True
        self._pieces.clear()
        return False

    async def _opened(self) -> httpx.Response:
        asking = _Asking(self._command)
        while True:
            try:
                return await self._client._run(exchange(self._command._link, asking.call(), NO_RETRIES))
            except Invalid as refusal:
                asking.check(refusal)
