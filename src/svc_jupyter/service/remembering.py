"""Maps of what was found out, which must not grow for as long as the service runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def remember(
    known: dict[Key, Value], key: Key, value: Value, *, most: int, on_forgotten: Callable[[Value], None] | None = None
) -> None:
    """Keep a value as the newest of a map; beyond `most` the oldest is forgotten, which `on_forgotten` is given."""
    known.pop(key, None)
    known[key] = value
    if len(known) <= most:
        return
    for oldest in list(known)[:-most]:  # a copy: other threads may remember as well
        forgotten = known.pop(oldest, None)
        if forgotten is not None and on_forgotten is not None:
            on_forgotten(forgotten)
