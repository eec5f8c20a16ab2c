"""The process that shows the rows of one result: answers questions on a socket until the service closes it.

It maps the file, so that rows take memory only where they are read, and keeps the last orders, so that the next page
of the same order needs no sorting. The limit of its memory is its own: the service has none of it.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import resource
import socket
import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svc_jupyter.service.commands.row_views.columns import LONGEST_TEXT, Column, columns_of, joined, json_values, plain
from svc_jupyter.service.commands.row_views.job import SOCKET, Ask, Chart, Question, Refused, RowsJob
from svc_jupyter.service.commands.row_views.points import is_measure, points
from svc_jupyter.service.commands.row_views.selection import Selection, by_batch
from svc_jupyter.service.commands.row_views.summary import summary
from svc_jupyter.service.commands.text_lines import arrow_of_lines

if TYPE_CHECKING:
    import pyarrow as pa

    from svc_jupyter.service.commands.row_views.selection import Positions

MEMORY_BYTES = 512 << 20
"""What a process may allocate; the mapped file does not count."""
_MOST_TEXT = 1 << 30
"""Bytes of a text result, which is copied as Arrow before it can be sorted."""
_KEPT_ORDERS = 4
_FIRST_ROWS = 1000
"""Rows that are found without ordering all; most readers look no further."""
LONGEST_VALUE = 10_000_000
"""Characters of a value that is asked for by itself; a longer one is for the whole result in a file."""
_PART_ROWS = 1 << 16
"""Rows of a chart that are read at once."""
_MOST_VALUES = 500_000
"""Values of a page: more of them would take seconds, and memory in the browser."""


class RowsView:
    """The rows of one result, and the orders in which they were read last."""

    def __init__(self, file: Path, *, is_text: bool) -> None:
        import pyarrow as pa

        self._file = _mapped_lines(file) if is_text else _mapped(file)
        reader = pa.ipc.open_stream(pa.py_buffer(self._file))
        self._columns = columns_of(reader.schema)
        self._batches: list[pa.RecordBatch] = [batch for batch in reader if batch.num_rows]
        self._selection = Selection(self._batches, self._columns)
        self._of = sum(batch.num_rows for batch in self._batches)
        self._orders: OrderedDict[str, tuple[Positions | None, int]] = OrderedDict()

    def rest(self) -> None:
        """Take the file out of this process's memory until it is read again; the system still has it."""
        self._file.madvise(mmap.MADV_DONTNEED)

    def answer(self, question: Question) -> bytes:
        """Return the answer as JSON. Raises `Refused`."""
        answers = {
            Ask.PAGE: self._page,
            Ask.VALUE: self._value,
            Ask.SUMMARY: self._summary,
            Ask.POINTS: self._points,
        }
        found = answers[question.ask](question)
        return json.dumps(found, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")

    def _page(self, question: Question) -> dict[str, Any]:
        import numpy as np

        columns = self._columns
        if question.columns is not None:
            columns = [self._selection.column(name, "columns") for name in question.columns]
        limit = min(question.limit, max(1, _MOST_VALUES // max(1, len(columns))))
        positions, total = self._positions(question, question.offset + limit)
        first, last = min(question.offset, total), min(question.offset + limit, total)
        chosen = np.arange(first, last) if positions is None else positions[first:last]
        return {
            "columns": [column.as_json() for column in columns],
            "rows": self._rows(chosen, columns),
            "offset": question.offset,
            "total": total,
            "of": self._of,
        }

    def _value(self, question: Question) -> dict[str, Any]:
        import numpy as np

        column = self._selection.column(question.column, "column")
        row = question.offset
        positions, total = self._positions(question, row + 1)
        if row >= total:
            raise Refused(f"row: there is no row {row:,}; there are {total:,} rows")
        chosen = np.array([row]) if positions is None else positions[row : row + 1]
        ((value,),) = self._rows(chosen, [column], longest=LONGEST_VALUE)
        is_cut = isinstance(value, str) and len(value) > LONGEST_VALUE
        return {"column": column.as_json(), "value": value, "is_cut": is_cut}

    def _rows(self, chosen: Positions, columns: list[Column], *, longest: int = LONGEST_TEXT) -> list[list[Any]]:
        rows: list[list[Any]] = [[None] * len(columns) for _ in chosen]
        for batch, inside, places in by_batch(self._batches, chosen):
            at, to = inside.tolist(), places.tolist()
            for number, column in enumerate(columns):
                values = json_values(batch.column(column.position), at, column, longest=longest)
                for place, value in zip(to, values, strict=True):
                    rows[place][number] = value
        return rows

    def _summary(self, question: Question) -> dict[str, Any]:
        import pyarrow as pa

        column = self._selection.column(question.column, "name")
        found, _ = self._positions(question, self._of)
        chunks = [plain(batch.column(column.position)) for batch in self._batches]
        if found is not None:
            parts = by_batch(self._batches, found)
            chunks = [plain(batch.column(column.position)).take(pa.array(inside)) for batch, inside, _ in parts]
        return summary(joined(chunks, column.arrow_type), column)

    def _points(self, question: Question) -> dict[str, Any]:
        x, y = self._selection.column(question.column, "x"), self._selection.column(question.y, "y")
        chart = question.chart or (Chart.LINE if is_measure(x) else Chart.BAR)
        is_ordered = chart is Chart.BAR and not is_measure(x)
        found, total = self._positions(question if is_ordered else replace(question, sort=()), self._of)
        drawn, is_cut = points(lambda: self._parts(found, x, y), x, y, chart)
        columns = {"x": x.as_json(), "y": y.as_json()}
        return {"chart": chart.value, **columns, "points": drawn, "is_cut": is_cut, "total": total}

    def _parts(self, found: Positions | None, *columns: Column) -> Iterator[list[pa.Array[Any]]]:
        """Yield the plain values of some columns in the order of the positions, some rows at a time."""
        import numpy as np
        import pyarrow as pa

        if found is None:
            for batch in self._batches:
                for first in range(0, batch.num_rows, _PART_ROWS):
                    part = batch.slice(first, _PART_ROWS)
                    yield [plain(part.column(column.position)) for column in columns]
            return
        for first in range(0, len(found), _PART_ROWS):
            pieces = list(by_batch(self._batches, found[first : first + _PART_ROWS]))
            order: Any = pa.array(np.argsort(np.concatenate([places for *_, places in pieces])))
            for_column = [
                [plain(batch.column(column.position)).take(pa.array(inside)) for batch, inside, _ in pieces]
                for column in columns
            ]
            yield [pa.concat_arrays(taken).take(order) for taken in for_column]

    def _positions(self, question: Question, count: int) -> tuple[Positions | None, int]:
        """Return the positions of the wanted rows in their order, which is kept for the next pages, and their number.

        Only the first rows are put in order while no question goes beyond `_FIRST_ROWS`; `count` says how far this one
        goes.
        """
        wanted, sort = question.wanted.key, question.sort
        key = json.dumps([wanted, list(sort)])
        kept = self._orders.get(key)
        if kept is None or (kept[0] is not None and len(kept[0]) < min(count, kept[1])):
            unsorted = json.dumps([wanted, []])
            if unsorted not in self._orders:
                found = self._selection.found(question.wanted)
                self._keep(unsorted, found, self._of if found is None else len(found))
            found, total = self._orders[unsorted]
            if sort:
                first = self._selection.first(found, sort, _FIRST_ROWS) if count <= _FIRST_ROWS else None
                self._keep(key, self._selection.ordered(found, sort) if first is None else first, total)
        self._orders.move_to_end(key)
        return self._orders[key]

    def _keep(self, key: str, positions: Positions | None, total: int) -> None:
        self._orders[key] = (None if positions is None else positions.astype("uint32", copy=False), total)
        while len(self._orders) > _KEPT_ORDERS:
            self._orders.popitem(last=False)


def show(job: RowsJob) -> int:
    """Answer questions until the service closes the socket, or is gone; return the exit code."""
    import pyarrow as pa

    with contextlib.ExitStack() as stack:
        link = stack.enter_context(socket.socket(socket.AF_UNIX))
        try:
            link.connect(str(job.folder / SOCKET))
        except OSError:
            return 1  # the service is gone
        pa.set_memory_pool(pa.system_memory_pool())  # returns what is freed, and knows the limit
        resource.setrlimit(resource.RLIMIT_DATA, (_data_bytes() + MEMORY_BYTES,) * 2)
        questions = stack.enter_context(link.makefile("rb"))
        view: RowsView | None = None
        for line in questions:
            try:
                if view is None:
                    view = RowsView(Path(job.rows_file), is_text=job.is_text)
                body, fault = view.answer(Question.of_line(line)), None
            except Refused as refusal:
                body, fault = str(refusal).encode(), "refused"
            except (MemoryError, pa.ArrowMemoryError):
                body, fault = b"", "memory"
            except FileNotFoundError:
                body, fault = b"", "gone"
            except (OSError, pa.ArrowException) as error:
                body, fault = str(error).encode("utf-8", "replace"), "failed"
            head = json.dumps({"size": len(body), "fault": fault}).encode() + b"\n"
            link.sendall(head)
            link.sendall(body)
            if view is not None:
                view.rest()
    return 0


def _mapped(file: Path) -> mmap.mmap:
    with file.open("rb") as opened:
        return _mapped_from(opened.fileno())


def _mapped_from(file: int) -> mmap.mmap:
    """Return a file as memory. Raises `OSError`."""
    try:
        return mmap.mmap(file, 0, access=mmap.ACCESS_READ)
    except ValueError as error:
        raise OSError(str(error)) from None  # it is empty


def _mapped_lines(file: Path) -> mmap.mmap:
    """Return the lines of a text as an Arrow stream, from a file without a name beside it."""
    if file.stat().st_size > _MOST_TEXT:
        raise Refused(f"the result is a text of more than {_MOST_TEXT >> 20:,} MiB; read it by its lines or as CSV")
    with tempfile.TemporaryFile(dir=file.parent) as copy:
        for part in arrow_of_lines(file):
            copy.write(part)
        copy.flush()
        return _mapped_from(copy.fileno())


def _data_bytes() -> int:
    """Return what the limit of the data counts now."""
    for line in _status():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0


def _status() -> Iterator[str]:
    with open(f"/proc/{os.getpid()}/status", encoding="ascii") as status:
        yield from status
