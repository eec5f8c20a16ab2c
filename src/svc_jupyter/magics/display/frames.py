"""Records as DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def frame_of(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, times: Sequence[str] = (), integers: Sequence[str] = ()
) -> pd.DataFrame:
    """Return a DataFrame of rows: the columns `times` as times in UTC, `integers` as integers that may be missing."""
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(columns)).astype(dict.fromkeys(integers, "Int64"))
    for name in times:
        frame[name] = pd.to_datetime(frame[name], utc=True)
    return frame
