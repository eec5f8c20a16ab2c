"""Records as DataFrames."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfoNotFoundError

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
        frame[name] = pd.to_datetime(frame[name], utc=True).dt.tz_convert(_own_zone())
    for name in durations:
        frame[name] = pd.to_timedelta(frame[name], unit="s")
    return frame


def _own_zone() -> tzinfo:
    """Return the zone of this machine's clock; its offset of today where the settings name none, or several.

    Some systems call UTC `Etc/UTC`.
    """
    from tzlocal import get_localzone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            zone: tzinfo | None = get_localzone()
        except (ZoneInfoNotFoundError, ValueError, OSError):
            zone = datetime.now().astimezone().tzinfo
    return UTC if zone is None or str(zone) == "Etc/UTC" else zone
