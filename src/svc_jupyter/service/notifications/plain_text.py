"""Makes text of users and engines safe for a message: no control characters, no reversed reading order."""

from __future__ import annotations

import unicodedata

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
