"""When a call is retried, and after how long: pure functions.

- Refused before it was sent: always, for any method.
- Broken after it may have been sent: GET and PUT, which are idempotent; and a POST only to a service that
  is known to answer a repeated Idempotency-Key with its first answer.
- 429 and 503: GET and PUT always; any call with a Retry-After, since the service then did nothing.
- 502 and 504, where a gateway lost the answer: as broken after it was sent.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum

import httpx

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_MAYBE_SENT = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.ReadTimeout, httpx.WriteTimeout)
_BUSY = frozenset({429, 503})
_LOST = frozenset({502, 504})


class Reach(Enum):
    """How far a failed call may have come."""

    NOT_SENT = "not sent"
    REFUSED = "refused by a busy service"
    MAYBE_DONE = "maybe done"
    ANSWERED = "answered for good"


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how long a call is retried; all times in seconds.

    `attempts` includes the first one; a Retry-After that exceeds `total` ends the retries at once. `outage` is how long
    the wait for a command continues without any answer from the service.
    """

    attempts: int = 6
    first: float = 0.2
    longest: float = 10.0
    total: float = 60.0
    outage: float = 900.0
    jitter: Callable[[], float] = random.random

    def backoff(self, attempt: int) -> float:
        """Return the pause after the given attempt (from 1): doubling, drawn from its upper half."""
        return min(self.longest, self.first * 2.0 ** min(attempt - 1, 30)) * (0.5 + self.jitter() / 2)

    def pause(self, attempt: int, elapsed: float, retry_after: float | None) -> float | None:
        """Return the seconds to wait before the next attempt, or None to give up."""
        if attempt >= self.attempts:
            return None
        pause = self.backoff(attempt) if retry_after is None else retry_after
        return None if elapsed + pause > self.total else pause


NO_RETRIES = Retries(attempts=1)


def reach_of_failure(error: httpx.RequestError) -> Reach:
    """Return how far a call without an answer came."""
    if isinstance(error, _NOT_SENT):
        return Reach.NOT_SENT
    if isinstance(error, (*_MAYBE_SENT, httpx.RemoteProtocolError)):
        return Reach.MAYBE_DONE
    return Reach.ANSWERED  # a request that cannot be sent at all, such as an unsupported scheme: do not retry


def reach_of_status(status: int) -> Reach:
    """Return how far a call with this status came."""
    if status in _BUSY:
        return Reach.REFUSED
    return Reach.MAYBE_DONE if status in _LOST else Reach.ANSWERED


def may_repeat(method: str, reach: Reach, *, idempotent_post: bool, has_retry_after: bool) -> bool:
    """Return whether sending the call again is safe; `has_retry_after` is whether there was a Retry-After."""
    if reach is Reach.ANSWERED:
        return False
    if reach is Reach.NOT_SENT:
        return True
    if method in ("GET", "PUT") or (method == "POST" and idempotent_post):
        return True
    return reach is Reach.REFUSED and has_retry_after


def retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds of a Retry-After header (a number of seconds or an HTTP date), or None without one."""
    if not value:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text) if len(text) < 10 else None
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
