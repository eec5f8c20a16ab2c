"""Why a message was not delivered."""

from __future__ import annotations


class NotDelivered(Exception):
    """The receiving server did not accept a message; the text is the reason, without any secret."""

    def __init__(self, reason: str, *, may_retry: bool = True, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.may_retry = may_retry
        """False when another attempt must fail as well."""
        self.retry_after = retry_after
        """Seconds until the next attempt that the server requested."""
