"""The rows of a query on disk: an Arrow IPC stream, written as the rows arrive, in constant memory.

A batch with other types than those before it does not fail: the file so far is rewritten once, with types that hold
both. So a column gets its type even when only later rows reveal it.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Queue
from typing import Any

import pyarrow as pa

from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.job import PART_SUFFIX
from svc_jupyter.service.db_taps.times import notes, readable
from svc_jupyter.service.db_taps.values import DIGITS, LosesDigitsError, cast, common_type


class BatchWriter:
    """An Arrow IPC stream in a file. A thread writes from the second batch on; it is at most one batch behind.

    Where file pages are expensive, writing a million rows takes half as long as fetching them.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._file = pa.OSFile(str(path), "wb")
        self._stream = pa.ipc.new_stream(self._file, schema)
        self._is_first = True
        self._thread: threading.Thread | None = None
        self._batches: Queue[pa.RecordBatch | None] = Queue(maxsize=1)
        self._error: OSError | pa.ArrowException | None = None

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch. Also raises the error of an earlier one."""
        if self._is_first:
            self._is_first = False
            self._stream.write_batch(batch)
            return
        if self._error is not None:
            raise self._error
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_rest, name="result-writer", daemon=True)
            self._thread.start()
        self._batches.put(batch)

    def close(self) -> None:
        """Write what is left and close the file, also when an error is raised."""
        try:
            if self._thread is not None:
                self._batches.put(None)
                self._thread.join()
                self._thread = None
            if self._error is not None:
                raise self._error
        finally:
            try:
                self._stream.close()
            finally:
                self._file.close()

    def _write_rest(self) -> None:
        while (batch := self._batches.get()) is not None:
            if self._error is None:
                try:
                    self._stream.write_batch(batch)
                except (OSError, pa.ArrowException) as error:
                    self._error = error


_CHECK_EVERY_BYTES = 32 * 2**20


class ResultFile:
    """Receives record batches; `finish` puts the file in its place. Without `finish` nothing is left on disk."""

    def __init__(
        self, path: Path, *, min_free_bytes: int = 0, on_rows: Callable[[int], None] = lambda _rows: None
    ) -> None:
        self.path = path
        self.rows = 0
        self.schema: pa.Schema | None = None
        self._min_free_bytes = min_free_bytes
        self._on_rows = on_rows
        self._reasons: dict[str, str] = {}
        self._part = path.with_name(f"{path.name}{PART_SUFFIX}")
        self._writer: BatchWriter | None = None
        self._checked_at = 0

    def __enter__(self) -> ResultFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch; one without rows only defines the columns. Raises `QueryFailure` when the disk is full."""
        try:
            self._write(batch)
        except OSError as error:
            raise QueryFailure(f"the result cannot be stored: {error.strerror or error}") from error
        self.rows += batch.num_rows
        self._on_rows(self.rows)

    def became_text(self, column: str, reason: str) -> None:
        """Tell the readers of the result why a column is text; the first reason counts."""
        self._reasons.setdefault(column, reason)

    def finish(self) -> dict[str, Any] | None:
        """Close the file and put it in its place; return its description, None without any batch."""
        if self.schema is None:
            return None
        try:
            self._opened(self.schema)
            self._close()
            size = self._part.stat().st_size
            self._part.rename(self.path)
        except OSError as error:
            raise QueryFailure(f"the result cannot be stored: {error.strerror or error}") from error
        columns = [[field.name, str(field.type)] for field in self.schema]
        reasons = {name: self._reasons[name] for name in self.schema.names if name in self._reasons}
        return {"rows": self.rows, "size": size, "columns": columns, "notes": notes(reasons)}

    def discard(self) -> None:
        """Discard everything that was written and not finished."""
        with contextlib.suppress(OSError):
            self._close()
        self._part.unlink(missing_ok=True)
        self.rows, self.schema, self._checked_at = 0, None, 0
        self._reasons.clear()

    def _write(self, batch: pa.RecordBatch) -> None:
        columns = []
        for field, column in zip(batch.schema, batch.columns, strict=True):
            made, reason = readable(column)
            columns.append(made)
            if reason is not None:
                self.became_text(field.name, reason)
        batch = pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
        if self.schema is None:
            self.schema = batch.schema
        elif not _same_types(batch.schema, self.schema):
            wider = _common_schema(self.schema, batch.schema)
            if not _same_types(wider, self.schema):
                self._widened(wider)
        if batch.num_rows:
            self._append(batch, self.schema)
        self._check_space(batch.nbytes)

    def _append(self, batch: pa.RecordBatch, schema: pa.Schema) -> None:
        try:
            fitting = _in_schema(batch, schema)
        except LosesDigitsError as error:
            self._append(batch, self._widened(self._with_text(schema, error.place)))
        else:
            self._opened(schema).write(fitting)

    def _widened(self, schema: pa.Schema) -> pa.Schema:
        """Write the file again in other types, with text where digits would be lost, and return what these are."""
        self.schema = schema
        if self._writer is None:
            return schema
        self._close()
        narrow = self._part.with_name(f"{self._part.name}.narrow")
        self._part.rename(narrow)
        try:
            while (place := self._written_again(narrow, schema)) is not None:
                self._close()
                self.schema = schema = self._with_text(schema, place)
        finally:
            narrow.unlink()
        return schema

    def _written_again(self, narrow: Path, schema: pa.Schema) -> int | None:
        """Write the batches of a file in a schema; return the place of a column that would lose digits, if any."""
        with pa.OSFile(str(narrow), "rb") as source, pa.ipc.open_stream(source) as batches:
            for batch in batches:
                try:
                    fitting = _in_schema(batch, schema)
                except LosesDigitsError as error:
                    return error.place
                self._opened(schema).write(fitting)
        return None

    def _with_text(self, schema: pa.Schema, place: int) -> pa.Schema:
        field = schema.field(place)
        self.became_text(field.name, DIGITS)
        return schema.set(place, field.with_type(pa.string()))

    def _opened(self, schema: pa.Schema) -> BatchWriter:
        """Return the writer. The file begins with the first rows: until then widening the types costs nothing."""
        if self._writer is None:
            self._writer = BatchWriter(self._part, schema)
        return self._writer

    def _close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _check_space(self, written: int) -> None:
        self._checked_at += written
        if self._checked_at < _CHECK_EVERY_BYTES or not self._min_free_bytes:
            return
        self._checked_at = 0
        disk = os.statvfs(self.path.parent)
        if disk.f_bavail * disk.f_frsize < self._min_free_bytes:
            raise QueryFailure(
                f"the result cannot be stored: less than {self._min_free_bytes // 2**20} MiB are left on the "
                f"service's disk after {self.rows:,} rows; fetch fewer rows or columns"
            )


def _same_types(first: pa.Schema, second: pa.Schema) -> bool:
    return first.types == second.types


def _common_schema(first: pa.Schema, second: pa.Schema) -> pa.Schema:
    return pa.schema(
        [pa.field(one.name, common_type(one.type, other.type)) for one, other in zip(first, second, strict=True)]
    )


def _in_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the batch in other types; raises `LosesDigitsError` with the place of a column for which that is so."""
    columns: list[Any] = []
    for column, field in zip(batch.columns, schema, strict=True):
        try:
            columns.append(cast(column, field.type))
        except LosesDigitsError as error:
            error.place = len(columns)
            raise
    return pa.RecordBatch.from_arrays(columns, schema=schema)
