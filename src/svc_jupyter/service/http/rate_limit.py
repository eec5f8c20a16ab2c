"""The operator's optional rate limit: a token bucket for each user."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from svc_jupyter.service.ground.errors import TooManyRequests
from svc_jupyter.service.ground.remembering import remember

_BURST_SECONDS = 1.0
"""A user without recent requests may send this much of the limit at once."""
_MOST_USERS = 10_000
"""Most users whose requests are counted; those with the latest requests are kept."""


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float


class RateLimit:
    """Counts the requests of each user in this process; `clock` returns seconds."""

    def __init__(self, requests_per_second: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = requests_per_second
        self._clock = clock
        self._buckets: dict[int, _Bucket] = {}

    def count(self, user_id: int) -> None:
        """Count a request; raises `TooManyRequests` when the user is over the limit."""
        if self._rate is None:
            return
        size = max(1.0, self._rate * _BURST_SECONDS)
        now = self._clock()
        bucket = self._buckets.get(user_id) or _Bucket(size, now)
        remember(self._buckets, user_id, bucket, most=_MOST_USERS)
        bucket.tokens = min(size, bucket.tokens + (now - bucket.filled_at) * self._rate)
        bucket.filled_at = now
        if bucket.tokens < 1:
            seconds = math.ceil((1 - bucket.tokens) / self._rate)
            raise TooManyRequests(f"more than {self._rate:g} requests a second; try again in {seconds} s", seconds)
        bucket.tokens -= 1
