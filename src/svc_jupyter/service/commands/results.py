"""Results on disk, and the forms in which they are sent. Nothing here holds a whole result in memory.

Text results are the program's stdout, one row per line; typed results are an Arrow IPC stream, sent unchanged.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from svc_jupyter.api.paths import CSV, PARQUET
from svc_jupyter.api.result_forms import csv_batch, csv_schema, field_text, parquet_batch, parquet_schema, shortest
from svc_jupyter.service.commands.kind import ResultForm, StoredResult
from svc_jupyter.service.commands.row_pieces import AS_PARQUET, AS_TEXT, MappedRows
from svc_jupyter.service.commands.rows import parse_root_name
from svc_jupyter.service.commands.text_lines import (
    LONG_LINE,
    Sink,
    arrow_of_lines,
    crlf_lines,
    csv_lines,
    first_long_line,
    line_batches,
    line_schema,
)
from svc_jupyter.service.ground.errors import Invalid, NotFound

if TYPE_CHECKING:
    import pyarrow as pa

_CHUNK = 1 << 20
_PIECE = 4 << 20
_ROW_GROUP = 32 << 20
_HEAVIEST_ROW = 8 << 20
"""Most bytes of a row, as `MappedRows` weighs them: conversion takes several times as much memory."""
_MOST_COLUMN_CHUNKS = 50_000
"""Of a Parquet file: its footer lists each chunk, and the chunks' entries, 1.7 kB each, are kept in memory."""
_SHORT_BYTES = 1 << 16
"""Up to this many bytes are read at once: streaming takes 1 ms, in other threads."""


class TooLarge(Exception):
    """A row needs too much memory as text."""


def check_there(root: Path, result: StoredResult) -> None:
    """Raise `NotFound` when the result was removed from the disk."""
    if not (root / result.file).exists():
        raise NotFound(f"the result of command {_command(root)} is no longer on the service's disk")


def check_form(root: Path, result: StoredResult, media_type: str) -> None:
    """Raise `Invalid` for rows that cannot be sent in a form because the service would have to hold them in memory."""
    if result.form is ResultForm.LINES:
        if media_type == PARQUET and (number := first_long_line(root / result.file)) is not None:
            raise Invalid(
                f"line {number:,} of the result of command {_command(root)} is longer than {_readable(LONG_LINE)}, "
                "which is too much for a value in Parquet; read the result as text, CSV or an Arrow stream"
            )
        return
    if media_type not in (CSV, PARQUET):
        return
    rows = MappedRows(root / result.file, AS_TEXT if media_type == CSV else AS_PARQUET)
    extent = rows.extent()
    if extent.heaviest > _HEAVIEST_ROW:
        raise Invalid(
            f"row {extent.heaviest_row:,} of the result of command {_command(root)} takes about "
            f"{_readable(extent.heaviest)}, and in CSV and Parquet a row may take {_readable(_HEAVIEST_ROW)}; "
            "read the result as an Arrow stream, or select less of this row"
        )
    if media_type == PARQUET and extent.weight // _ROW_GROUP * len(rows.schema) > _MOST_COLUMN_CHUNKS:
        raise Invalid(
            f"the result of command {_command(root)} has too many columns and rows for one Parquet file; read it as an "
            "Arrow stream or CSV, or select less"
        )


def as_tsv(root: Path, result: StoredResult, *, headers: bool) -> Iterator[str]:
    """Yield the rows as text: tab between fields, CRLF after each row.

    Raises `TooLarge` at a row that needs too much memory as text.
    """
    if result.text_file is not None:
        yield from crlf_lines(root / result.text_file)
        return
    if result.form is ResultForm.LINES:
        yield from crlf_lines(root / result.file)
        return
    yield from _tsv_rows(root / result.file, headers=headers)


def as_arrow(root: Path, result: StoredResult) -> Iterator[bytes]:
    """Yield the bytes of an Arrow IPC stream: a typed result unchanged, text as one column `line`."""
    if result.form is ResultForm.ARROW:
        with (root / result.file).open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
        return
    yield from arrow_of_lines(root / result.file)


def short_arrow(root: Path, result: StoredResult) -> bytes | None:
    """Return what `as_arrow` yields where it is short and unchanged from disk; else None."""
    if result.form is not ResultForm.ARROW or result.size > _SHORT_BYTES:
        return None
    return (root / result.file).read_bytes()


def short_text(root: Path, result: StoredResult) -> str | None:
    """Return the same in base64; also None where the rows no longer exist."""
    with suppress(OSError):
        short = short_arrow(root, result)
        return None if short is None else b64encode(short).decode("ascii")
    return None


def as_csv(root: Path, result: StoredResult) -> Iterator[bytes]:
    """Yield the rows as CSV with a header (RFC 4180), for results that `check_form` accepts."""
    if result.form is ResultForm.LINES:
        yield from csv_lines(root / result.file)
        return
    import pyarrow.csv as pa_csv

    sink = Sink()
    rows = MappedRows(root / result.file, AS_TEXT)
    schema = csv_schema(rows.schema)
    writer = pa_csv.CSVWriter(cast("BinaryIO", sink), schema)
    for batch in rows.pieces(_PIECE):
        writer.write_batch(csv_batch(batch, schema))
        yield sink.take()
    writer.close()
    yield sink.take()


def as_parquet(root: Path, result: StoredResult) -> Iterator[bytes]:
    """Yield the bytes of a Parquet file, for results that `check_form` accepts."""
    import pyarrow.parquet as pq

    sink = Sink()
    schema, batches = line_schema(), cast("Iterator[Any]", line_batches(root / result.file))
    if result.form is not ResultForm.LINES:
        rows = MappedRows(root / result.file, AS_PARQUET)
        schema = parquet_schema(rows.schema)
        batches = (parquet_batch(batch, schema) for batch in rows.pieces(_ROW_GROUP))
    # Without statistics: the writer keeps metadata of each row group in memory until the end.
    with pq.ParquetWriter(cast("BinaryIO", sink), schema, write_statistics=False) as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield sink.take()
    yield sink.take()


def _command(root: Path) -> str:
    """Return the id of the command of this folder."""
    name = parse_root_name(root.name)
    return root.name if name is None else str(name.command_id)


def _readable(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"


def _tsv_rows(file: Path, *, headers: bool) -> Iterator[str]:
    rows = MappedRows(file, AS_TEXT)
    if headers:
        yield "\t".join(field_text(name) for name in rows.schema.names) + "\r\n"
    if rows.extent().heaviest > _HEAVIEST_ROW:
        raise TooLarge
    for batch in rows.pieces(_PIECE):
        columns = [_texts(column) for column in batch.columns]
        yield "".join("\t".join(row) + "\r\n" for row in zip(*columns, strict=True))


def _texts(column: pa.Array[Any]) -> list[str]:
    return [field_text(value) for value in shortest(column).to_pylist()]
