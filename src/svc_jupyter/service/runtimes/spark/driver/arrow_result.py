"""The rows of a DataFrame on disk: an Arrow IPC stream, written as Spark's tasks end, in constant memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.serializers import UTF8Deserializer, read_int
from pyspark.sql import DataFrame
from pyspark.util import local_connect_and_auth

from . import tables
from .arrow_types import in_arrow_types
from .failure import CodeFailure, spark_text
from .statement import PART_SUFFIX, RESULT_FILE
from .times import NOT_UTF_8, OUTSIDE, as_text, in_unicode, notes, readable_kind

_CHECK_EVERY_BYTES = 32 * 2**20
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


def write_rows(
    frame: DataFrame, folder: Path, *, min_free_bytes: int, on_rows: Callable[[int], None]
) -> dict[str, Any]:
    """Write a table's rows into a folder; return `rows`, `size` (bytes) and `columns` (name and Arrow type).

    Raises Spark's own exceptions, and `CodeFailure` when there is no room.
    """
    table = _Rows(folder, min_free_bytes, on_rows)
    try:
        return table.written(in_arrow_types(frame))
    except OSError as error:
        raise CodeFailure(f"the result cannot be stored: {error.strerror or error}") from error
    finally:
        table.discard()


def write_table(table: pa.Table, folder: Path) -> dict[str, Any]:
    """Write a table of the program's own; return what `write_rows` returns."""
    path = folder / RESULT_FILE
    try:
        written, told = tables.write_table(table, path)
        return _summary(written.schema, table.num_rows, path.stat().st_size, told)
    except OSError as error:
        raise CodeFailure(f"the result cannot be stored: {error.strerror or error}") from error


def _summary(schema: pa.Schema, rows: int, size: int, told: list[str]) -> dict[str, Any]:
    columns = [[field.name, str(field.type)] for field in schema]
    return {"rows": rows, "size": size, "columns": columns, "notes": told}


class _Rows:
    def __init__(self, folder: Path, min_free_bytes: int, on_rows: Callable[[int], None]) -> None:
        self._path = folder / RESULT_FILE
        self._part = folder / f"{RESULT_FILE}{PART_SUFFIX}"
        self._min_free_bytes = min_free_bytes
        self._on_rows = on_rows
        self._since_check = 0
        self._told: dict[str, str] = {}

    def written(self, frame: DataFrame) -> dict[str, Any]:
        port, secret, server = frame._jdf.collectAsArrowToPython()
        with suppress(OSError):
            self._path.unlink()  # of an earlier statement
        source, connection = local_connect_and_auth(port, secret)
        try:
            connection.settimeout(None)
            schema, kinds, offsets, order, rows = self._copied(source)
        finally:
            source.close()
            connection.close()
            server.getResult()  # raises the error in Spark
        if order != sorted(order):
            self._put_in_order(offsets, order)
        texts = [field.name for field, kind in zip(schema, kinds, strict=True) if field.type != kind]
        if texts:
            schema = self._with_text(schema, kinds)
        size = self._part.stat().st_size
        self._part.replace(self._path)
        return _summary(schema, rows, size, notes(self._told | dict.fromkeys(texts, OUTSIDE)))

    def _copied(self, source: Any) -> tuple[pa.Schema, list[pa.DataType], list[int], list[int], int]:
        """Copy the batches in the order in which tasks end.

        Return the types that Python can read, each batch's offset, their order in the table, and the number of rows.
        """
        rows, offsets = 0, []
        with pa.ipc.open_stream(source) as batches, self._part.open("wb", buffering=0) as target:
            schema = batches.schema.remove_metadata()
            kinds = schema.types
            target.write(schema.serialize())
            for batch in batches:
                offsets.append(target.tell())
                target.write(self._in_unicode(batch).serialize())
                rows += batch.num_rows
                kinds = [readable_kind(column, kind) for column, kind in zip(batch.columns, kinds, strict=True)]
                self._on_rows(rows)
                self._check_room(batch.nbytes)
            offsets.append(target.tell())
            target.write(_END_OF_STREAM)
        return schema, kinds, offsets, _order(source), rows

    def _put_in_order(self, offsets: list[int], order: list[int]) -> None:
        """Rewrite the batches, as bytes, in the order of the table."""
        arrived = self._part.with_name(f"{self._part.name}.arrived")
        self._part.replace(arrived)
        try:
            with arrived.open("rb") as source, self._part.open("wb") as target:
                target.write(source.read(offsets[0]))
                for number in order:
                    source.seek(offsets[number])
                    target.write(source.read(offsets[number + 1] - offsets[number]))
                source.seek(offsets[-1])
                target.write(source.read())
        finally:
            arrived.unlink()

    def _with_text(self, schema: pa.Schema, kinds: list[pa.DataType]) -> pa.Schema:
        """Rewrite the batches with some times as text; return their schema."""
        written = pa.schema([field.with_type(kind) for field, kind in zip(schema, kinds, strict=True)])
        typed = self._part.with_name(f"{self._part.name}.typed")
        self._part.replace(typed)
        try:
            with (
                typed.open("rb") as source,
                pa.ipc.open_stream(source) as batches,
                pa.OSFile(str(self._part), "wb") as target,
                pa.ipc.new_stream(target, written) as writer,
            ):
                for batch in batches:
                    columns = [as_text(column, kind) for column, kind in zip(batch.columns, kinds, strict=True)]
                    writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=written))
        finally:
            typed.unlink()
        return written

    def discard(self) -> None:
        self._part.unlink(missing_ok=True)

    def _in_unicode(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = batch.columns
        made = [in_unicode(column) for column in columns]
        odd = [name for name, one, other in zip(batch.schema.names, made, columns, strict=True) if one is not other]
        self._told |= dict.fromkeys(odd, NOT_UTF_8)
        return pa.RecordBatch.from_arrays(made, schema=batch.schema) if odd else batch

    def _check_room(self, written: int) -> None:
        self._since_check += written
        if self._since_check < _CHECK_EVERY_BYTES or not self._min_free_bytes:
            return
        self._since_check = 0
        disk = os.statvfs(self._path.parent)
        if disk.f_bavail * disk.f_frsize < self._min_free_bytes:
            raise CodeFailure(
                f"the result cannot be stored: less than {self._min_free_bytes // 2**20} MiB are left on the "
                "service's disk; fetch fewer rows or columns"
            )


def _order(source: Any) -> list[int]:
    """Return the numbers of the batches in the order of the table, which Spark sends at the end."""
    count = read_int(source)
    if count < 0:
        raise CodeFailure(spark_text(RuntimeError(UTF8Deserializer().loads(source))))
    return [read_int(source) for _ in range(count)]
