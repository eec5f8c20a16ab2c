"""Intervals of databases: a duration where none has months, else the text that PostgreSQL has for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from svc_jupyter.service.db_taps.arrow import Column, Kind

_INTERVAL: Final = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])
_DAY_MICROSECONDS: Final = 86_400_000_000


def is_interval(kind: Kind) -> bool:
    """Return whether values of a type are months, days and nanoseconds."""
    return bool(kind.equals(pa.month_day_nano_interval()))


def durations(column: Column) -> Column:
    """Return intervals of months, days and nanoseconds as durations in microseconds, or as texts."""
    parts: Any = np.frombuffer(column.buffers()[1], _INTERVAL, count=column.offset + len(column))[column.offset :]
    missing = np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    months = np.where(missing, 0, parts["months"])
    days = np.where(missing, 0, parts["days"]).astype("i8")
    microseconds = np.where(missing, 0, parts["nanoseconds"]) // 1000
    if not months.any():
        return pa.array(days * _DAY_MICROSECONDS + microseconds, pa.int64(), mask=missing).cast(pa.duration("us"))
    rows: Iterable[tuple[int, int, int, bool]] = zip(
        months.tolist(), days.tolist(), microseconds.tolist(), missing.tolist(), strict=True
    )
    return pa.array([None if gone else interval_text(m, d, us) for m, d, us, gone in rows], pa.string())


def interval_text(months: int, days: int, microseconds: int) -> str:
    """Return an interval as PostgreSQL writes it: `1 year 2 mons 3 days 04:05:06.5`."""
    years, months = int(months / 12), months - 12 * int(months / 12)
    parts = [
        f"{number} {unit}{'' if number == 1 else 's'}"
        for number, unit in ((years, "year"), (months, "mon"), (days, "day"))
        if number
    ]
    if microseconds or not parts:
        seconds, fraction = divmod(abs(microseconds), 1_000_000)
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        fraction_text = f".{fraction:06}".rstrip("0") if fraction else ""
        parts.append(("-" if microseconds < 0 else "") + clock + fraction_text)
    return " ".join(parts)
