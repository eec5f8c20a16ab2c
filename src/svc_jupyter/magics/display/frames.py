"""Records as DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from svc_jupyter.clock import own_zone

if TYPE_CHECKING:
    import pandas as pd


def frame_of(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    times: Sequence[str] = (),
    durations: Sequence[str] = (),
    integers: Sequence[str] = (),
) -> pd.DataFrame:
    """Return a DataFrame of rows, of which `times` are in this machine's zone.

    `durations` become pandas' `Timedelta` from seconds, `integers` may be missing.
    """
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(columns)).astype(dict.fromkeys(integers, "Int64"))
    for name in times:
        frame[name] = times_column(frame[name])
    for name in durations:
        frame[name] = pd.to_timedelta(frame[name], unit="s")
    return frame


def times_column(times: Iterable[datetime | str | None] | pd.Series[Any]) -> pd.Series[Any]:
    """Return times, aware or as ISO 8601 texts, as a column on this machine's clock."""
    import pandas as pd

    column = pd.Series(pd.to_datetime(pd.Series(times, dtype="object"), utc=True))
    return column.dt.tz_convert(own_zone())
