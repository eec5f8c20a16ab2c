"""Results on disk, and the forms in which they are given out. Nothing here holds a whole result in memory.

Text results are the program's stdout, a row a line; typed results are an Arrow IPC stream, sent as it lies there.
"""

from __future__ import annotations

import codecs
import io
import json
import struct
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from svc_jupyter.service.commands.kind import ResultForm, StoredResult
from svc_jupyter.service.errors import NotFound

if TYPE_CHECKING:
    import pyarrow as pa

_CHUNK = 1 << 20
_LINES_AT_ONCE = 65_536
_SHORT_BYTES = 1 << 16
"""Up to so many bytes are read at once: to stream them takes 1 ms, in other threads."""
LINE_COLUMN = "line"
"""The one column of a text result in typed forms."""


def to_json(result: StoredResult) -> dict[str, Any]:
    """Return what the commands table keeps of a result."""
    return asdict(result)


def from_json(value: dict[str, Any]) -> StoredResult:
    """Return the result that `to_json` took."""
    columns = value.get("columns")
    return StoredResult(
        form=ResultForm(value["form"]),
        file=value["file"],
        size=value["size"],
        rows=value.get("rows"),
        columns=None if columns is None else tuple((name, kind) for name, kind in columns),
        text_file=value.get("text_file"),
    )


def check_there(root: Path, result: StoredResult) -> None:
    """Raise `NotFound` when somebody removed the result from the disk."""
    if not (root / result.file).exists():
        raise NotFound(f"the result of command {root.name} is no longer on the service's disk")


def as_tsv(root: Path, result: StoredResult, *, headers: bool) -> Iterator[str]:
    """Yield the rows as text: tab between fields, CRLF after each row."""
    if result.text_file is not None:
        yield from _crlf_lines(root / result.text_file)
        return
    if result.form is ResultForm.LINES:
        if headers:
            yield f"{LINE_COLUMN}\r\n"
        yield from _crlf_lines(root / result.file)
        return
    yield from _tsv_rows(root / result.file, headers=headers)


def as_arrow(root: Path, result: StoredResult) -> Iterator[bytes]:
    """Yield the bytes of an Arrow IPC stream: a typed result as it lies on disk, text as one column `line`."""
    if result.form is ResultForm.ARROW:
        with (root / result.file).open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
        return
    import pyarrow as pa

    sink = _Sink()
    with pa.ipc.new_stream(sink, _line_schema()) as writer:
        for batch in _line_batches(root / result.file):
            writer.write_batch(batch)
            yield sink.take()
    yield sink.take()


def short_arrow(root: Path, result: StoredResult) -> bytes | None:
    """Return what `as_arrow` yields, where that is little and lies on disk as it is; else None."""
    if result.form is not ResultForm.ARROW or result.size > _SHORT_BYTES:
        return None
    return (root / result.file).read_bytes()


def short_text(root: Path, result: StoredResult) -> str | None:
    """Return the same in base64, None as well where the rows are no longer there."""
    with suppress(OSError):
        short = short_arrow(root, result)
        return None if short is None else b64encode(short).decode("ascii")
    return None


def as_csv(root: Path, result: StoredResult) -> Iterator[bytes]:
    """Yield the rows as CSV with a header (RFC 4180)."""
    import pyarrow.csv as pa_csv

    sink = _Sink()
    with _batches(root, result) as (schema, batches):
        writer = pa_csv.CSVWriter(cast("BinaryIO", sink), _flat_schema(schema))
        for batch in batches:
            writer.write_batch(_flattened(batch))
            yield sink.take()
        writer.close()
    yield sink.take()


def as_parquet(root: Path, result: StoredResult) -> Iterator[bytes]:
    """Yield the bytes of a Parquet file."""
    import pyarrow.parquet as pq

    sink = _Sink()
    with _batches(root, result) as (schema, batches), pq.ParquetWriter(cast("BinaryIO", sink), schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield sink.take()
    yield sink.take()


class _Sink(io.RawIOBase):
    """A file to write into whose bytes are taken out as they come."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        return len(part)

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken

    def writable(self) -> bool:
        return True


class _batches:  # noqa: N801  used as a function: `with _batches(…) as (schema, batches)`
    """The schema and record batches of a result, whatever its form."""

    def __init__(self, root: Path, result: StoredResult) -> None:
        self._file = root / result.file
        self._form = result.form
        self._source: BinaryIO | None = None

    def __enter__(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        if self._form is ResultForm.LINES:
            return _line_schema(), _line_batches(self._file)
        import pyarrow as pa

        self._source = self._file.open("rb")
        reader = pa.ipc.open_stream(self._source)
        return reader.schema, iter(reader)

    def __exit__(self, *_: object) -> None:
        if self._source is not None:
            self._source.close()


def _crlf_lines(file: Path) -> Iterator[str]:
    """Yield the file with every line end as CRLF; the last line gets one even if the program wrote none."""
    last = "\n"
    for text in _decoded(file):
        yield text.replace("\n", "\r\n")
        last = text[-1]
    if last != "\n":
        yield "\r\n"


def _decoded(file: Path) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with file.open("rb") as source:
        while data := source.read(_CHUNK):
            if text := decoder.decode(data):
                yield text
    if text := decoder.decode(b"", final=True):
        yield text


def _line_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([pa.field(LINE_COLUMN, pa.large_string(), nullable=False)])


def _line_batches(file: Path) -> Iterator[pa.RecordBatch]:
    """Yield the lines in batches. Arrow splits them itself: `pa.array` of Python strings would import pandas."""
    import pyarrow as pa

    schema = _line_schema()
    begun: list[str] = []  # pieces of a line whose end has not come yet
    for text in _decoded(file):
        whole, end, rest = text.rpartition("\n")
        if end:
            yield pa.record_batch([_split_lines("".join((*begun, whole)))], schema=schema)
            begun = []
        begun.append(rest)
    if any(begun):
        yield pa.record_batch([_split_lines("".join(begun))], schema=schema)


def _split_lines(text: str) -> pa.Array[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    data = text.encode()
    offsets = struct.pack("=qq", 0, len(data))
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    return pc.list_flatten(pc.split_pattern(whole, "\n"))


def _tsv_rows(file: Path, *, headers: bool) -> Iterator[str]:
    import pyarrow as pa

    with file.open("rb") as source:
        reader = pa.ipc.open_stream(source)
        if headers:
            yield "\t".join(_cell(name) for name in reader.schema.names) + "\r\n"
        for batch in reader:
            for start in range(0, batch.num_rows, _LINES_AT_ONCE):
                columns = [_texts(column) for column in batch.slice(start, _LINES_AT_ONCE).columns]
                yield "".join("\t".join(row) + "\r\n" for row in zip(*columns, strict=True))


def _texts(column: pa.Array[Any]) -> list[str]:
    return [_cell(value) for value in column.to_pylist()]


def _cell(value: Any) -> str:
    """Return a value as classic clients read it: NULL for none, JSON for lists and structures, no tab or line end."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=_cell)
    text = value if isinstance(value, str) else str(value)
    if "\t" in text or "\n" in text or "\r" in text:
        return text.replace("\t", " ").replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
    return text


def _flat_schema(schema: pa.Schema) -> pa.Schema:
    """CSV has no lists, maps, binary or durations: such columns become text."""
    import pyarrow as pa

    return pa.schema([pa.field(item.name, pa.string() if _needs_text(item.type) else item.type) for item in schema])


def _flattened(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    columns = [
        pa.array([None if value is None else _cell(value) for value in column.to_pylist()], pa.string())
        if _needs_text(column.type)
        else column
        for column in batch.columns
    ]
    return pa.record_batch(columns, schema=_flat_schema(batch.schema))


def _needs_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_nested(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_interval(kind)
        or pa.types.is_duration(kind)
        or isinstance(kind, pa.BaseExtensionType)
    )
