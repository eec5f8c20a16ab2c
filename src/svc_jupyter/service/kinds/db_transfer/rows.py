"""Rows in transit between Hive and a tap: spooled to disk, so that each side runs at its own speed in flat memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from svc_jupyter.service.db_taps.engines.engine import Sink
from svc_jupyter.service.db_taps.result_file import ResultFile
from svc_jupyter.service.db_taps.statements import Statement


class Rows(Sink):
    """Takes the last table that a script returns."""

    def __init__(self, path: Path, *, min_free_bytes: int, tell: Callable[[float, int], None]) -> None:
        """`tell` is called with the share of the statement that is done, 0 to 1, and the rows so far."""
        self.path = path
        self._share = 0.0
        self._tell = tell
        self._file = ResultFile(path, min_free_bytes=min_free_bytes, on_rows=lambda rows: tell(self._share, rows))

    def start(self, statement: Statement) -> None:
        """See `Sink.start`."""

    def table(self) -> None:
        """See `Sink.table`."""
        self._file.discard()

    def write(self, batch: pa.RecordBatch) -> None:
        """See `Sink.write`."""
        self._file.write(batch)

    def done(self, changed: int | None) -> None:
        """See `Sink.done`."""

    def working(self, share: float) -> None:
        """See `Sink.working`."""
        self._share = share
        self._tell(share, 0)

    def restart(self) -> None:
        """See `Sink.restart`."""
        self._file.discard()

    def finish(self) -> tuple[pa.Schema, int] | None:
        """Close the file; return its columns and the number of rows, None if no statement returned a table."""
        schema, rows = self._file.schema, self._file.rows
        self._file.finish()
        return None if schema is None else (schema, rows)


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a finished file."""
    with pa.OSFile(str(path), "rb") as source, pa.ipc.open_stream(source) as stream:
        yield from stream
