"""The result of a command that is done, for asyncio."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import httpx

from svc_jupyter.api import paths
from svc_jupyter.api.commands import Results
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.commands import tables
from svc_jupyter.client.commands.result_reading import Reading, form_of
from svc_jupyter.client.commands.streams import arrow_batches, emptied, table_of
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.errors import ConnectionFailed
from svc_jupyter.client.transport.calls import Call, connection_failed
from svc_jupyter.files import replacing

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from svc_jupyter.api.commands import CommandRecord

T = TypeVar("T")
_SPOOL_CHUNK = 1 << 20


class AsyncResult:
    """The result of a command that is done. It is fetched when it is read."""

    def __init__(
        self,
        sender: AsyncSender,
        command: Tracked,
        *,
        sequence_number: int | None = None,
        dump: int | None = None,
        table: int | None = None,
    ) -> None:
        self._sender = sender
        self._reading = Reading(command, sequence_number, dump, table)

    @property
    def record(self) -> CommandRecord:
        """The last known record of the command that has it."""
        return self._reading.command.record

    @property
    def part(self) -> dict[str, int]:
        """Which of several tables of the command it is: `{"table": 2}`, or a `dump` or `sequence_number`, from 1."""
        return self._reading.part

    @property
    def rows(self) -> int | None:
        """The number of rows; None until the service or a reading reports it."""
        return self._reading.known_rows()

    @property
    def nbytes(self) -> int | None:
        """The bytes of the rows as the service stores them; None until it reports them."""
        return self._reading.known_bytes()

    @property
    def dtypes(self) -> tables.Dtypes:
        """What `to_pandas` makes of columns of integers and booleans with a NULL: the client's `dtypes`."""
        return self._sender.dtypes

    async def text(self) -> str:
        """Return the lines of a text result, each ended by a line feed, or the inline form of a typed result."""
        text = await self._inline()
        if text is None:
            table = await self.to_arrow()
            text = await asyncio.to_thread(tables.as_text, table, typed=self._reading.typed)
        return text.replace(tables.ROW_END, "\n")

    async def to_arrow(self) -> pa.Table:
        """Return all rows as an Arrow table; restarts a broken download."""
        text = await self._inline()
        if text is not None:
            return await asyncio.to_thread(self._reading.table_of, text)
        return await self._again(self._read_table)

    async def to_pandas(self, limit: int | None = None) -> pd.DataFrame:
        """Return the rows, or the first `limit` of them, as a DataFrame."""
        text = await self._inline()
        if text is not None and not self._reading.typed:
            lines = tables.lines_of(text)
            self._reading.rows = len(lines)
            return await asyncio.to_thread(tables.lines_frame, lines[:limit])
        table = (await self.to_arrow()).slice(0, limit)
        return await asyncio.to_thread(tables.frame, table, self.dtypes)

    async def to_polars(self) -> Any:
        """Return the rows as a polars DataFrame, which needs the package polars."""
        return await asyncio.to_thread(tables.polars_frame, await self.to_arrow())

    async def batches(self) -> AsyncIterator[pa.RecordBatch]:
        """Yield the rows in batches with constant memory, from a temporary file.

        pyarrow reads streams only with blocking calls; the file keeps them out of the event loop.
        """
        text = await self._inline()
        if text is not None:
            for batch in (await asyncio.to_thread(self._reading.table_of, text)).to_batches():
                yield batch
            return
        if (table := self._reading.rows_at_hand()) is not None:
            for batch in table.to_batches():
                yield batch
            return
        with tempfile.TemporaryFile() as spool:
            await self._again(lambda: self._download(paths.ARROW_STREAM, spool))
            spool.seek(0)
            _, batches = arrow_batches(iter(lambda: spool.read(_SPOOL_CHUNK), b""))
            while following := await asyncio.to_thread(_next_of, batches):
                yield following[0]

    async def save(self, path: str | os.PathLike[str], form: str | None = None) -> Path:
        """Write the result to a file and return its path; `form` is arrow, parquet, csv or text, else the suffix.

        The file is complete or absent; memory is constant when the service has the extensions.
        """
        target = Path(path)
        form = form_of(target, form)
        with replacing(target) as part:
            if form == "text":
                await asyncio.to_thread(part.write_text, await self.text(), encoding="utf-8", newline="")
            elif await self._inline() is None:
                with part.open("wb") as file:
                    await self._again(lambda: self._download(tables.FORMATS[form], file))
            else:
                table = await self.to_arrow()
                await asyncio.to_thread(tables.write, table.to_batches(), table.schema, part, form)
        return target

    async def _read_table(self) -> pa.Table:
        table = self._reading.rows_at_hand()
        if table is None:
            pieces: deque[bytes] = deque()
            await self._read_stream(self._reading.stream_call(), pieces.append)
            table = await asyncio.to_thread(table_of, emptied(pieces))
        self._reading.rows = table.num_rows
        return table

    async def _download(self, media_type: str, file: IO[bytes]) -> None:
        file.seek(0)
        file.truncate()
        await self._read_stream(self._reading.stream_call(media_type), file.write)

    async def _read_stream(self, call: Call, take: Callable[[bytes], object]) -> None:
        response = await self._sender.send(call)
        try:
            async for piece in response.aiter_bytes():
                take(piece)
        except httpx.RequestError as error:
            raise connection_failed(self._reading.link, error) from error
        finally:
            await response.aclose()

    async def _inline(self) -> str | None:
        """Return the text, fetched once; None when it must be read as a stream."""
        if (call := self._reading.inline_call()) is not None:
            self._reading.take_inline(await self._sender.fetch(call, Results))
        return self._reading.inline()

    async def _again(self, attempt: Callable[[], Awaitable[T]]) -> T:
        started = time.monotonic()
        number = 0
        while True:
            number += 1
            try:
                return await attempt()
            except ConnectionFailed:
                pause = self._reading.link.retries.pause(number, time.monotonic() - started, None)
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    def __repr__(self) -> str:
        return (
            f"<AsyncResult of command {self._reading.command.id}{'' if self.rows is None else f': {self.rows:,} rows'}>"
        )


def _next_of(batches: Iterator[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return the next batch in a list, or an empty list at the end: StopIteration cannot leave a thread."""
    return list(islice(batches, 1))
