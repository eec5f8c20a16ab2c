"""Why something about Hive could not be done.

MetastoreFailure     the metastore cannot be had: not installed, not started
MetastoreLost        the connection broke; the same call may succeed on another one
└── MetastoreSilent  no answer came in time
"""

from __future__ import annotations


class MetastoreFailure(Exception):
    """The metastore cannot be had; the text is for the user: what, why, what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class MetastoreLost(Exception):
    """The connection broke, or none could be made."""


class MetastoreSilent(MetastoreLost):
    """No answer came in time; what was asked for may have been done."""
