"""The result of a command that is done, as text, Arrow table, DataFrame or file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import httpx

from svc_jupyter.api.commands import Results
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.commands import tables
from svc_jupyter.client.commands.result_reading import Reading, form_of
from svc_jupyter.client.commands.streams import arrow_batches
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.errors import ConnectionFailed
from svc_jupyter.client.transport.calls import connection_failed
from svc_jupyter.files import replacing

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from svc_jupyter.api.commands import CommandRecord

T = TypeVar("T")
_FIRST_ROWS = 1000
"""From so many rows the size of all is estimated; they are kept for `head`."""


class Result:
    """The result of a command that is done. It is fetched when it is read."""

    def __init__(
        self,
        sender: Sender,
        command: Tracked,
        *,
        sequence_number: int | None = None,
        dump: int | None = None,
        table: int | None = None,
    ) -> None:
        self._sender = sender
        self._reading = Reading(command, sequence_number, dump, table)
        self._first: pa.Table | None = None

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

    def text(self) -> str:
        """Return the lines of a text result, each ended by a line feed, or the inline form of a typed result.

        The inline form has tabs between fields and a line feed after each row, headers first.
        """
        text = self._inline()
        if text is None:
            table = self.to_arrow()
            text = tables.as_text(table, typed=self._reading.typed)
        return text.replace(tables.ROW_END, "\n")

    def to_arrow(self) -> pa.Table:
        """Return all rows as an Arrow table; restarts a broken download."""
        return self._table(None)

    def to_pandas(self, limit: int | None = None) -> pd.DataFrame:
        """Return the rows, or the first `limit` of them, as a DataFrame; fetches no more than needed."""
        if limit is not None and self._first is not None and limit <= len(self._first):
            return tables.frame(self._first.slice(0, limit), self.dtypes)
        text = self._inline()
        if text is not None and not self._reading.typed:
            lines = tables.lines_of(text)
            self._reading.rows = len(lines)
            return tables.lines_frame(lines[:limit])
        return tables.frame(self._table(limit), self.dtypes)

    def head(self, n: int = 5) -> pd.DataFrame:
        """Return the first rows as a DataFrame; fetches no more than needed."""
        return self.to_pandas(n)

    def to_polars(self) -> Any:
        """Return the rows as a polars DataFrame, which needs the package polars."""
        return tables.polars_frame(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows in Arrow's PyCapsule interface, which lets other libraries take the result itself.

        So `polars.DataFrame(result)`, `pyarrow.table(result)` and DuckDB's `FROM result` work.
        """
        return self.to_arrow().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]

    def pandas_nbytes(self) -> int | None:
        """Return the bytes that `to_pandas` would take in memory; None where the service does not report `nbytes`.

        It is `nbytes` times what the first rows grow by on their way from Arrow to pandas.
        """
        if self.nbytes is None:
            return None
        if self._first is None:
            self._first = self._table(_FIRST_ROWS)
        return round(self.nbytes * tables.growth(self._first, self.dtypes))

    if not TYPE_CHECKING:  # a type checker knows the attributes by itself

        def __getattr__(self, name: str) -> NoReturn:
            hint = "" if name.startswith("_") else f": {self._unloaded()}"
            raise AttributeError(f"a Result has no {name!r}{hint}", name=name, obj=self)

        def __getitem__(self, _key: object) -> NoReturn:
            raise TypeError(f"a Result has no rows or columns to select: {self._unloaded()}")

    def _unloaded(self) -> str:
        """Return what to do for who took a result for a DataFrame: a cell gives one where its rows are many."""
        return f"command {self._reading.command.id} has its rows in the service; .to_pandas() loads them as a DataFrame"

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches as they arrive, in constant memory.

        Raises ConnectionFailed when the download breaks: batches that were yielded cannot be taken back.
        """
        text = self._inline()
        if text is not None:
            yield from self._reading.table_of(text).to_batches()
            return
        if (table := self._reading.rows_at_hand()) is not None:
            yield from table.to_batches()
            return
        with self._stream() as (_, batches):
            yield from batches

    def save(self, path: str | os.PathLike[str], form: str | None = None) -> Path:
        """Write the result to a file and return its path; `form` is arrow, parquet, csv or text, else the suffix.

        The file is complete or absent; memory is constant when the service has the extensions.
        """
        target = Path(path)
        form = form_of(target, form)
        with replacing(target) as part:
            if form == "text":
                part.write_text(self.text(), encoding="utf-8", newline="")
            elif self._inline() is None:
                self._again(lambda: self._download(tables.FORMATS[form], part))
            else:
                table = self.to_arrow()
                tables.write(table.to_batches(), table.schema, part, form)
        return target

    def _table(self, limit: int | None) -> pa.Table:
        text = self._inline()
        if text is not None:
            return self._reading.table_of(text).slice(0, limit)
        return self._again(lambda: self._read_table(limit))

    def _read_table(self, limit: int | None) -> pa.Table:
        import pyarrow as pa

        if (whole := self._reading.rows_at_hand()) is not None:
            self._reading.rows = whole.num_rows
            return whole.slice(0, limit)
        with self._stream() as (schema, batches):
            table = pa.Table.from_batches(tables.limited(batches, limit), schema)
        if limit is None:
            self._reading.rows = table.num_rows
        return table

    @contextmanager
    def _stream(self) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
        with closing(self._sender.send(self._reading.stream_call())) as response:
            try:
                yield arrow_batches(response.iter_bytes())
            except httpx.RequestError as error:
                raise connection_failed(self._reading.link, error) from error

    def _download(self, media_type: str, part: Path) -> None:
        with closing(self._sender.send(self._reading.stream_call(media_type))) as response, part.open("wb") as file:
            try:
                for piece in response.iter_bytes():
                    file.write(piece)
            except httpx.RequestError as error:
                raise connection_failed(self._reading.link, error) from error

    def _inline(self) -> str | None:
        """Return the text, fetched once; None when it must be read as a stream."""
        if (call := self._reading.inline_call()) is not None:
            self._reading.take_inline(self._sender.fetch(call, Results))
        return self._reading.inline()

    def _again(self, attempt: Callable[[], T]) -> T:
        started = time.monotonic()
        number = 0
        while True:
            number += 1
            try:
                return attempt()
            except ConnectionFailed:
                pause = self._reading.link.retries.pause(number, time.monotonic() - started, None)
                if pause is None:
                    raise
            time.sleep(pause)

    def __repr__(self) -> str:
        return f"<Result of command {self._reading.command.id}{'' if self.rows is None else f': {self.rows:,} rows'}>"
