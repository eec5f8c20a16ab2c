"""The plan of a query, which each database gives in rows of its own, as lines of text."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

_TREE: Final = ["id", "parent", "notused", "detail"]
"""The columns of SQLite's plan."""


class PlanLines:
    """Makes lines of text of the rows in which a database gives its plan."""

    def __init__(self) -> None:
        self._depths: dict[Any, int] = {}

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the column `line`; a table with a row for each step, as MySQL's, stays one."""
        names = batch.schema.names
        if len(names) > 2 and names != _TREE:  # DuckDB has a name and a text
            return batch
        texts = batch.column(batch.num_columns - 1).to_pylist()
        if names == _TREE:
            steps = zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), texts, strict=True)
            texts = [f"{'  ' * self._depth(step, parent)}{text}" for step, parent, text in steps]
        lines = [line for text in texts for line in str(text).rstrip().split("\n")]
        return pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], names=["line"])

    def _depth(self, step: Any, parent: Any) -> int:
        self._depths[step] = self._depths.get(parent, -1) + 1
        return self._depths[step]
