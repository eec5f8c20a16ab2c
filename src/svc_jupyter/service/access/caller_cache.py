"""The callers of recent calls, so that authentication takes no query."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from svc_jupyter.service.access.callers import Caller

CACHE_LIMIT = 10_000
"""Most tokens in the cache; the oldest one is dropped first."""


@dataclass(frozen=True, slots=True)
class KnownCaller:
    """What the database returned for a token, and when, in Unix seconds."""

    caller: Caller
    read_at: float


class CallerCache:
    """Known callers by their token's digest. `max_age` is in seconds; None keeps them until `clear`."""

    def __init__(self, max_age: float | None = None, limit: int = CACHE_LIMIT) -> None:
        self._max_age = max_age
        self._limit = limit
        self._known: dict[str, KnownCaller] = {}
        self._generation = 0
        self._lock = threading.Lock()

    @property
    def generation(self) -> int:
        """A number that changes with every `clear`; take it before reading the database and pass it to `put`."""
        return self._generation

    def get(self, digest: str, now: float) -> KnownCaller | None:
        """Return a known caller that was read within `max_age`, also when the clock was set back."""
        known = self._known.get(digest)
        if known is None or self._max_age is None or 0 <= now - known.read_at < self._max_age:
            return known
        return None

    def put(self, digest: str, known: KnownCaller, generation: int) -> None:
        """Store a caller, unless the cache was cleared since `generation`: then it may be out of date."""
        with self._lock:
            if generation != self._generation:
                return
            self._known.pop(digest, None)
            if len(self._known) >= self._limit:
                del self._known[next(iter(self._known))]
            self._known[digest] = known

    def clear(self) -> None:
        """Forget all callers; one that is being read now is not stored either."""
        with self._lock:
            self._generation += 1
            self._known.clear()
