"""A text result in its forms, in constant memory even for long lines."""

from __future__ import annotations

import codecs
import io
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK = 1 << 20
LONG_LINE = 4 << 20
"""A line of this many bytes or more is never held as a whole."""
LINE_COLUMN = "line"
"""The one column of a text result in typed forms."""


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line that is too long to hold: its byte range in the file, without its end."""

    file: Path
    start: int
    end: int

    def parts(self) -> Iterator[bytes]:
        """Yield the line as UTF-8."""
        for text in _decoded(self.file, self.start, self.end):
            yield text.encode()


def crlf_lines(file: Path) -> Iterator[str]:
    """Yield the file with every line end as CRLF; the last line gets one if it has none."""
    last = "\n"
    for text in _decoded(file):
        yield text.replace("\n", "\r\n")
        last = text[-1]
    if last != "\n":
        yield "\r\n"


def csv_lines(file: Path) -> Iterator[bytes]:
    """Yield the lines as a CSV file with one column and a header (RFC 4180)."""
    yield f'"{LINE_COLUMN}"\n'.encode()
    is_open = False
    for text in _decoded(file):
        quoted = text.replace('"', '""').replace("\n", '"\n"')
        # A line's opening quote is only written once its first part is read.
        begins = "" if is_open else '"'
        is_open = not text.endswith("\n")
        yield f"{begins}{quoted if is_open else quoted[:-1]}".encode()
    if is_open:
        yield b'"\n'


def line_schema() -> pa.Schema:
    """Return the schema of a text result."""
    import pyarrow as pa

    return pa.schema([pa.field(LINE_COLUMN, pa.large_string(), nullable=False)])


def no_lines() -> pa.RecordBatch:
    """Return an empty batch, which starts an Arrow stream."""
    import pyarrow as pa

    return pa.RecordBatch.from_pylist([], schema=line_schema())


def line_batches(file: Path) -> Iterator[pa.RecordBatch | LongLine]:
    """Yield the lines in batches, a long one by itself.

    Arrow splits them itself: `pa.array` of Python strings would import pandas.
    """
    import pyarrow as pa

    schema = line_schema()
    with file.open("rb") as source:
        start, begun = 0, bytearray()  # of a line whose end is not read yet
        while data := source.read(CHUNK):
            whole, end, rest = data.rpartition(b"\n")
            if end:
                begun += whole
                yield pa.record_batch([_split_lines(begun)], schema=schema)
                start, begun = source.tell() - len(rest), bytearray()
            begun += rest
            if len(begun) > LONG_LINE:
                line = LongLine(file, start, _end_of_line(source))
                yield line
                source.seek(line.end + 1)
                start, begun = line.end + 1, bytearray()
        if begun:
            yield pa.record_batch([_split_lines(begun)], schema=schema)


def arrow_of_lines(file: Path) -> Iterator[bytes]:
    """Yield the bytes of an Arrow IPC stream with the lines as its one column."""
    import pyarrow as pa

    sink = Sink()
    with pa.ipc.new_stream(sink, line_schema()) as writer:
        for lines in line_batches(file):
            if isinstance(lines, LongLine):
                if not writer.stats.num_messages:
                    writer.write_batch(no_lines())
                yield sink.take()
                yield from arrow_of_long_line(lines)
                continue
            writer.write_batch(lines)
            yield sink.take()
    yield sink.take()


def arrow_of_long_line(line: LongLine) -> Iterator[bytes]:
    """Yield the bytes of a record batch of an Arrow stream whose only row is the line.

    Arrow writes the batch around a placeholder of the same size, which is never read and takes no memory; the line
    replaces it.
    """
    import pyarrow as pa

    size = sum(len(part) for part in line.parts())
    schema = line_schema()
    nothing = pa.py_buffer(mmap.mmap(-1, size, prot=mmap.PROT_READ))
    offsets = pa.py_buffer(struct.pack("=qq", 0, size))
    around = _Around(size)
    with pa.ipc.new_stream(around, schema) as writer:
        writer.write_batch(no_lines())
        around.before.clear()  # the start of the stream
        column = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, nothing])
        writer.write_batch(pa.record_batch([column], schema=schema))
        before, after = b"".join(around.before), b"".join(around.after)
    yield before
    yield from line.parts()
    yield after


class Sink(io.RawIOBase):
    """A writable file whose bytes are taken out as they come."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def write(self, data: Any) -> int:
        """Keep the bytes; return their number."""
        part = bytes(data)
        self._parts.append(part)
        return len(part)

    def take(self) -> bytes:
        """Return what was written since the last call."""
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken

    def writable(self) -> bool:
        """Return True."""
        return True


class _Around(io.RawIOBase):
    """A writable file that keeps what is written before and after one large buffer."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self._met = False
        self.before: list[bytes] = []
        self.after: list[bytes] = []

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if size == self._size:
            self._met = True
        else:
            (self.after if self._met else self.before).append(bytes(data))
        return size

    def writable(self) -> bool:
        return True


def first_long_line(file: Path) -> int | None:
    """Return the number, from 1, of the first line that is too long to hold, or None."""
    number = 1
    begun = 0
    with file.open("rb") as source:
        while data := source.read(CHUNK):
            ended = data.count(b"\n")
            begun = len(data) - data.rfind(b"\n") - 1 if ended else begun + len(data)
            number += ended
            if begun > LONG_LINE:
                return number
    return None


def _end_of_line(source: BinaryIO) -> int:
    """Return the end of the line at the file's current position."""
    while data := source.read(CHUNK):
        found = data.find(b"\n")
        if found >= 0:
            return source.tell() - len(data) + found
    return source.tell()


def _decoded(file: Path, start: int = 0, end: int | None = None) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with file.open("rb") as source:
        source.seek(start)
        left = end - start if end is not None else -1
        while data := source.read(CHUNK if left < 0 else min(CHUNK, left)):
            left -= len(data) if left >= 0 else 0
            if text := decoder.decode(data):
                yield text
    if text := decoder.decode(b"", final=True):
        yield text


def _split_lines(lines: bytearray) -> pa.Array[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    data = lines if lines.isascii() else lines.decode("utf-8", "replace").encode()
    offsets = struct.pack("=qq", 0, len(data))
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    return pc.list_flatten(pc.split_pattern(whole, "\n"))
