"""Read the rows of a query in a task while the query still writes them."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

import httpx

from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.commands.reading_ahead import EXPECTED, STALL_SECONDS, Asking, confirmed
from svc_jupyter.client.commands.streams import emptied, table_of
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.errors import Invalid
from svc_jupyter.client.transport.calls import exchange
from svc_jupyter.client.transport.retries import NO_RETRIES

if TYPE_CHECKING:
    import pyarrow as pa


class AsyncReadAhead:
    """Reads a command's rows in a task that starts with this object."""

    def __init__(self, performer: AsyncPerformer, command: Tracked) -> None:
        self._performer = performer
        self._command = command
        self._pieces: deque[bytes] = deque()
        self._task = asyncio.create_task(self._read())

    def stop(self) -> None:
        """Stop reading."""
        self._task.cancel()

    async def rows(self) -> pa.Table | None:
        """Wait for the last rows of a command that is done and return all rows, once; None when they are not valid."""
        seen = -1
        while not self._task.done() and seen != len(self._pieces):
            seen = len(self._pieces)
            await asyncio.wait({self._task}, timeout=STALL_SECONDS)
        if not self._task.done():
            self.stop()
            return None
        if not self._task.result():
            return None
        size = sum(map(len, self._pieces))
        with suppress(*EXPECTED):
            return confirmed(self._command, await asyncio.to_thread(table_of, emptied(self._pieces)), size)
        return None

    async def _read(self) -> bool:
        """Collect the bytes; return whether the stream was complete."""
        with suppress(*EXPECTED):
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
        asking = Asking(self._command)
        while True:
            try:
                return await self._performer.run(exchange(self._command._link, asking.call(), NO_RETRIES))
            except Invalid as refusal:
                asking.check(refusal)
