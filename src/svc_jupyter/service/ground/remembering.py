"""Bounded maps, which do not grow with the service's uptime."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def remember(
    known: dict[Key, Value], key: Key, value: Value, *, most: int, on_forgotten: Callable[[Value], None] | None = None
) -> None:
    """Store a value as the newest of a map; beyond `most`, the oldest is dropped and passed to `on_forgotten`."""
    known.pop(key, None)
    known[key] = value
    if len(known) <= most:
        return
    for oldest in list(known)[:-most]:  # a copy: other threads may store values as well
        forgotten = known.pop(oldest, None)
        if forgotten is not None and on_forgotten is not None:
            on_forgotten(forgotten)
