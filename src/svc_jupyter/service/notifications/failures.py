"""Why a message did not arrive."""

from __future__ import annotations


class NotDelivered(Exception):
    """The other side did not take a message; the text says why, without any secret."""

    def __init__(self, reason: str, *, may_retry: bool = True, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.may_retry = may_retry
        """False where another attempt cannot end differently."""
        self.retry_after = retry_after
        """Seconds for which the other side asked to be left alone."""
