"""An answer's body as a file that pyarrow reads while it arrives."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from svc_jupyter.client.errors import UnexpectedAnswer

if TYPE_CHECKING:
    import pyarrow as pa


PLAIN_BYTES = (("Accept-Encoding", "identity"),)
"""The header of calls for rows: compressing them would take longer than sending them."""
_LARGEST_BUFFER = 64 << 20
"""A larger read collects what comes: its size may be the garbage of a body that is no Arrow stream."""


class Body(io.RawIOBase):
    """A readable file over pieces of bytes; each byte is copied once, into the buffer that pyarrow then keeps."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._piece = memoryview(b"")
        self.ran_out = False
        """Whether more was asked for than there was."""

    def readable(self) -> bool:
        """Tell that it can be read."""
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
        """Yield the next `size` bytes as they lie in the pieces; all that come when negative."""
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
    """Yield pieces and let go of each, so that they and what is read from them are not held at once."""
    while pieces:
        yield pieces.popleft()


def arrow_batches(pieces: Iterator[bytes]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return schema and batches of an Arrow IPC stream that arrives in pieces; UnexpectedAnswer when it is none.

    So it is also when it ends without its end marker, which pyarrow alone takes for a shorter table. Errors of the
    connection come through as httpx raises them.
    """
    import pyarrow as pa

    body = Body(pieces)
    try:
        reader = pa.ipc.open_stream(body)
    except pa.ArrowInvalid as error:
        raise UnexpectedAnswer(f"the result is no Arrow stream: {error}") from None
    return reader.schema, _batches(reader, body)


def table_of(pieces: Iterator[bytes]) -> pa.Table:
    """Return all rows of such a stream as a table; raises as `arrow_batches` does."""
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
