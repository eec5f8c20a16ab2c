"""Durations as text, in one form for the cells, the panels and the e-mails.

JupyterLab's views have the same functions in `labextension/src/words.ts`, checked against the same examples.
"""

from __future__ import annotations

_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def span(seconds: float) -> str:
    """Return the time that something has taken so far, in seconds: `4 s`, `2 min 5 s`, `2 h 14 min`, `3 d 4 h`."""
    left = max(int(seconds), 0)
    parts: list[tuple[int, str]] = []
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count or parts:
            parts.append((count, unit))
    return " ".join(f"{count} {unit}" for count, unit in parts[:2] if count) or "0 s"


def duration(seconds: float) -> str:
    """Return the time that something took, exact where it was short: `47 ms`, `4.2 s`, `2 min 5 s`."""
    if seconds < 0.1:
        return f"{max(round(seconds * 1000), 1)} ms"
    return f"{seconds:.1f} s" if seconds < 9.95 else span(round(seconds))


def elapsed(seconds: float) -> str:
    """Return the time between two moments; a whole number of seconds is taken as known to the second alone.

    `< 1 s`, `4 s`, `2 min 5 s`; exact ones as in `duration`: `47 ms`, `4.2 s`.
    """
    if seconds <= 0:
        return "< 1 s"
    return span(seconds) if seconds == int(seconds) else duration(seconds)
