"""Makes values and texts of users and engines fit for a message: counts, times, no control characters."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

_DIRECTION_MARKS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that can change the visible order of a text."""
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_KEPT = frozenset("\n\t")


def one_line(text: str, limit: int) -> str:
    """Return the text on one line, with single spaces, cut to `limit` characters."""
    line = " ".join("".join(" " if _is_hidden(character) else character for character in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def paragraph(text: str, limit: int) -> str:
    """Return the text with its lines and tabs; what exceeds `limit` characters is cut and counted."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    shown = "".join(character for character in unified if character in _KEPT or not _is_hidden(character)).strip("\n")
    if len(shown) <= limit:
        return shown
    return f"{shown[:limit]}… ({len(shown) - limit} more characters)"


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN_CATEGORIES or character in _DIRECTION_MARKS


def count_text(count: int, noun: str) -> str:
    """Return a number of things, as in `1 run` and `3 runs`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def moment_utc(seconds: float) -> str:
    """Return Unix seconds, as in `2030-03-17 17:46:40 UTC`."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def moment_in(seconds: float, time_zone: str) -> str:
    """Return Unix seconds on a zone's clock, as in `2026-11-21 09:00 CET`; with seconds where they are not 0."""
    moment = datetime.fromtimestamp(int(seconds), ZoneInfo(time_zone))
    return moment.strftime("%Y-%m-%d %H:%M %Z" if moment.second == 0 else "%Y-%m-%d %H:%M:%S %Z")


def zone_text(moment: str, time_zone: str) -> str:
    """Return a time from `moment_in` with its zone's name, unless its abbreviation is that name."""
    return moment if moment.endswith(f" {time_zone}") else f"{moment} ({time_zone})"
