"""Why a running command is to be ended, and how that is told to the replica that runs it."""

from __future__ import annotations

from enum import StrEnum


class StopReason(StrEnum):
    """Why a running command is to be ended."""

    CANCEL = "cancel"
    TIMEOUT = "timeout"
    COMPOSITE = "composite"
    """The composite command that it belongs to is ended."""
    CLUSTER = "cluster"
    """The cluster that it runs on is terminated."""


def stop_request(reason: StopReason, detail: str = "") -> str:
    """Return a reason as the commands table and the bus carry it; `detail` is for the user."""
    return f"{reason.value} {detail}" if detail else reason.value


def parse_stop_request(text: str) -> tuple[StopReason, str]:
    """Return what `stop_request` was given."""
    reason, _, detail = text.partition(" ")
    return StopReason(reason), detail
