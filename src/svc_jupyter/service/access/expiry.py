"""When tokens expire."""

from __future__ import annotations

from datetime import UTC, datetime

from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Forbidden, Invalid


def expiry(text: str | None, now: float) -> int | None:
    """Return `expires_at` of a request in Unix seconds, None for a token that never expires.

    `text` is ISO 8601; without an offset it is UTC. Raises `Invalid` when it is malformed or not after `now`.
    """
    if text is None:
        return None
    utc = _utc(text)
    if utc is None:
        raise Invalid("expires_at: must be an ISO 8601 time such as 2031-05-31T18:00:00Z")
    seconds = int(utc.timestamp())
    if seconds <= now:
        raise Invalid("expires_at: must be in the future")
    return seconds


def within(limit: float | None, expires_at: int | None) -> int | None:
    """Return when a new token expires that is made with a token expiring at `limit`; None for never.

    Raises `Forbidden` when it would outlive that token, which would make the limit ineffective.
    """
    if limit is None:
        return expires_at
    if expires_at is not None and expires_at > limit:
        raise Forbidden(
            f"expires_at: a token cannot outlive the one it is made with, which expires at {iso_time(limit)}; "
            "ask for no more, or make it with a token that lives longer"
        )
    return int(limit) if expires_at is None else expires_at


def _utc(text: str) -> datetime | None:
    if not text.isprintable():  # the parser would ignore a NUL at the end
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
