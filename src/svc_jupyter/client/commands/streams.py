"""A response body as a file that pyarrow reads while it arrives."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from svc_jupyter.client.errors import UnexpectedAnswer

if TYPE_CHECKING:
    import pyarrow as pa


PLAIN_BYTES = (("Accept-Encoding", "identity"),)
"""The header of calls for rows: compression would take longer than transfer."""
_LARGEST_BUFFER = 64 << 20
"""A larger read is filled piece by piece: its size may come from a corrupt stream."""


class Body(io.RawIOBase):
    """A readable file over chunks of bytes; each byte is copied once, into the buffer that pyarrow keeps."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._piece = memoryview(b"")
        self.ran_out = False
        """Whether a read asked for more bytes than there were."""

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1, /) -> bytes | bytearray:
        """Return the next `size` bytes, fewer only at the end; -1 for all."""
        if size < 0 or size > _LARGEST_BUFFER:
            return b"".join(self._parts(size))
        buffer = bytearray(size)
        filled = 0
        for part in self._parts(size):
            buffer[filled : filled + len(part)] = part
            filled += len(part)
        self.ran_out = self.ran_out or filled < size
        return buffer if filled == size else buffer[:filled]

    def _parts(self, size: int) -> Iterator[memoryview]:
        """Yield the next `size` bytes chunk by chunk; all remaining bytes if negative."""
        left = size
        while left:
            if not self._piece:
                self._piece = memoryview(next(self._pieces, b""))
                if not self._piece:
                    return
            part = self._piece if left < 0 else self._piece[:left]
            self._piece = self._piece[len(part) :]
            left -= len(part) if left > 0 else 0
            yield part


def emptied(pieces: deque[bytes]) -> Iterator[bytes]:
    """Yield pieces and release each one, so that memory is not held twice."""
    while pieces:
        yield pieces.popleft()


def arrow_batches(pieces: Iterator[bytes]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return schema and batches of an Arrow IPC stream; raises UnexpectedAnswer when it is not one.

    It also raises when the end marker is missing, which pyarrow would read as a shorter table. Connection errors of
    httpx pass through.
    """
    import pyarrow as pa

    body = Body(pieces)
    try:
        reader = pa.ipc.open_stream(body)
    except pa.ArrowInvalid as error:
        raise UnexpectedAnswer(f"the result is not an Arrow stream: {error}") from None
    return reader.schema, _batches(reader, body)


def table_of(pieces: Iterator[bytes]) -> pa.Table:
    """Return all rows of such a stream as a table; raises what `arrow_batches` raises."""
    import pyarrow as pa

    schema, batches = arrow_batches(pieces)
    return pa.Table.from_batches(batches, schema)


def _batches(reader: pa.RecordBatchStreamReader, body: Body) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    while True:
        try:
            yield reader.read_next_batch()
        except StopIteration:
            if body.ran_out or body.read(1):
                raise UnexpectedAnswer("the result's Arrow stream is broken: it has no end") from None
            return
        except (pa.ArrowInvalid, OSError) as error:
            raise UnexpectedAnswer(f"the result's Arrow stream is broken: {error}") from None
