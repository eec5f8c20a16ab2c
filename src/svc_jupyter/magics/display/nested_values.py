"""Nested values of a result (bags, arrays, maps, structs) as people read them; the DataFrame keeps them as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def with_readable_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with its nested cells as texts; the same one where there are none."""
    nested = [place for place in range(frame.shape[1]) if _is_nested(frame.iloc[:, place])]
    if not nested:
        return frame
    import pandas as pd

    shown = frame.copy(deep=False)
    for place in nested:
        column = frame.iloc[:, place]
        texts = [readable(value) if _is_composed(value) else value for value in column]
        # As a list or an array its nulls would become NaN; pandas takes a Series, its stubs do not know.
        kept = pd.Series(texts, index=column.index, dtype="object")
        shown.isetitem(place, kept)  # type: ignore[arg-type]
    return shown


def readable(value: Any) -> str:
    """Return `[1, 2]`, `{name: x, n: 1}`; of a map, which comes as pairs, `{k: v}`."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {readable(item)}' for key, item in value.items())}}}"
    if not _is_composed(value):
        return "null" if value is None else str(value)
    items = list(value)
    if items and all(isinstance(item, tuple) and len(item) == 2 for item in items):
        return f"{{{', '.join(f'{key}: {readable(item)}' for key, item in items)}}}"
    return f"[{', '.join(map(readable, items))}]"


def _is_nested(column: pd.Series[Any]) -> bool:
    return column.dtype == object and any(map(_is_composed, column))


def _is_composed(value: Any) -> bool:
    """Return whether a cell holds several values; pyarrow gives a list as an array of NumPy."""
    return isinstance(value, list | tuple | Mapping) or getattr(value, "ndim", 0) > 0
