"""Which texts the interface carries: valid Unicode, in names nothing that hides or turns what is read, no secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

HIDDEN = "<hidden>"
"""What answers hold in place of a secret. In a request it keeps the secret, or is refused."""
NOT_UNICODE = "holds half of a surrogate pair, which is not a character; send text that is valid Unicode"
UNREADABLE = r"\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
"""For a character class: control characters (C0, delete, C1), and what overrides the direction of writing."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_unicode(text: str) -> bool:
    """Return whether a text is valid Unicode: none of its characters is half of a surrogate pair."""
    return text.isascii() or _SURROGATE.search(text) is None


def broken_place(value: Any) -> str | None:
    """Return where a JSON value holds a text that is not valid Unicode, as `command.inline`; None when nowhere."""
    for place, text in _texts(value):
        if not is_unicode(text):
            return mended(place)
    return None


def mended(text: str) -> str:
    """Return a text with U+FFFD in the place of each half of a surrogate pair."""
    return text if is_unicode(text) else _SURROGATE.sub("\ufffd", text)


def mended_value(value: Any) -> Any:
    """Return a JSON value with all its texts `mended`."""
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, dict):
        return {mended_value(key): mended_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mended_value(item) for item in value]
    return value


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Yield each text of a JSON value, the names of its members included, with its place."""
    left: list[tuple[str, Any]] = [("", value)]
    while left:
        place, item = left.pop()
        if isinstance(item, str):
            yield place, item
        elif isinstance(item, dict):
            prefix = f"{place}." if place else ""
            for key, child in item.items():
                yield prefix + key, key
                left.append((prefix + key, child))
        elif isinstance(item, list):
            left.extend((f"{place}.{number}" if place else str(number), child) for number, child in enumerate(item))
