"""Reads typed rows in pieces of a bounded size.

The file is memory-mapped, so a batch takes memory only where it is read, and each piece releases the memory of the
previous one. A row is the smallest piece.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    _Positions = NDArray[np.int64]

_WINDOW_ROWS = 65_536
"""Rows that are weighed together."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The weight of a row's values besides their bytes; values inside lists and structures weigh `item`."""

    cell: int
    item: int
    binary: int
    """The factor for bytes in a binary column."""


AS_TEXT = Scale(cell=16, item=96, binary=2)
"""For rows as Python objects and texts, and binary values as hexadecimal digits."""
AS_PARQUET = Scale(cell=4, item=4, binary=1)


@dataclass(frozen=True, slots=True)
class Extent:
    """The weight of all rows, the weight of the heaviest, and its number, from 1."""

    weight: int
    heaviest: int
    heaviest_row: int


class MappedRows:
    """The rows of an Arrow stream in a file.

    A weight is in bytes: about what a row takes in the form that the scale describes.
    """

    def __init__(self, file: Path, scale: Scale) -> None:
        import pyarrow as pa

        self._pa = pa
        self._scale = scale
        with file.open("rb") as source:
            self._mapped = mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
        self.schema: pa.Schema = self._reader().schema

    def pieces(self, most: int) -> Iterator[pa.RecordBatch]:
        """Yield batches that weigh at most `most` or have one row; hold none of them."""
        import numpy as np

        for window, weights in self._windows():
            start = 0
            while start < window.num_rows:
                end = int(np.searchsorted(weights, weights[start] + most, side="right")) - 1
                end = max(start + 1, end)
                yield window.slice(start, end - start)
                self._let_go()
                start = end

    def extent(self) -> Extent:
        """Measure all rows without reading their contents."""
        import numpy as np

        total = heaviest = heaviest_row = rows = 0
        for window, weights in self._windows():
            each = np.diff(weights)
            at = int(each.argmax())
            if each[at] > heaviest:
                heaviest, heaviest_row = int(each[at]), rows + at + 1
            total += int(weights[-1])
            rows += window.num_rows
            self._let_go()
        return Extent(total, heaviest, heaviest_row)

    def _windows(self) -> Iterator[tuple[pa.RecordBatch, _Positions]]:
        """Yield batches of rows with cumulative weights: 0, the first row, the first two rows …"""
        import numpy as np

        for batch in self._reader():
            for start in range(0, batch.num_rows, _WINDOW_ROWS):
                window = batch.slice(start, _WINDOW_ROWS)
                weights = np.arange(window.num_rows + 1, dtype=np.int64)
                positions = weights.copy()
                for column in window.columns:
                    weights += _weights(column, positions, self._scale.cell, self._scale)
                yield window, weights

    def _reader(self) -> pa.RecordBatchReader:
        return self._pa.ipc.open_stream(self._pa.py_buffer(self._mapped))

    def _let_go(self) -> None:
        self._mapped.madvise(mmap.MADV_DONTNEED)


def _weights(column: Any, at: _Positions, each: int, scale: Scale) -> _Positions:
    """Return the cumulative weight of a column's values before each position."""
    return at * each + _contents(column, at, scale)


def _contents(column: Any, at: _Positions, scale: Scale) -> _Positions:
    import pyarrow.types as kinds

    kind = column.type
    if hasattr(column, "storage"):  # an extension type
        return _contents(column.storage, at, scale)
    if kinds.is_null(kind):
        return at * 0
    if kinds.is_string(kind) or kinds.is_large_string(kind):
        return _ends(column, at)
    if kinds.is_binary(kind) or kinds.is_large_binary(kind):
        return _ends(column, at) * scale.binary
    if kinds.is_nested(kind):
        return _nested(column, at, scale)
    if kinds.is_dictionary(kind):
        return at * _longest(column.dictionary, scale)
    size: int = max(1, kind.bit_width // 8)
    return at * size


def _ends(column: Any, at: _Positions) -> _Positions:
    """Return the offsets in the buffer at which the texts before each position end."""
    import numpy as np
    import pyarrow.types as kinds

    offsets = column.buffers()[1]
    if not offsets:
        return at * 0
    is_large = kinds.is_large_string(column.type) or kinds.is_large_binary(column.type)
    ends: _Positions = np.frombuffer(offsets, np.int64 if is_large else np.int32)[column.offset + at].astype(np.int64)
    return _from_0(ends)


def _nested(column: Any, at: _Positions, scale: Scale) -> _Positions:
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_struct(kind):
        fields = [_weights(column.field(number), at, scale.item, scale) for number in range(kind.num_fields)]
        return _from_0(sum(fields, at * 0))
    if kinds.is_fixed_size_list(kind):
        inside = (column.offset + at) * kind.list_size
    else:
        inside = column.offsets.to_numpy().astype(at.dtype)[at]
    parts = (column.keys, column.items) if kinds.is_map(kind) else (column.values,)
    weights = sum((_weights(part, inside, scale.item, scale) for part in parts), at * 0)
    return _from_0(weights)


def _from_0(sums: _Positions) -> _Positions:
    shifted: _Positions = sums - sums[0]
    return shifted


def _longest(values: Any, scale: Scale) -> int:
    """Return the weight of the heaviest value of a dictionary."""
    import numpy as np

    each = np.diff(_contents(values, np.arange(len(values) + 1, dtype=np.int64), scale))
    return int(each.max(initial=1))
