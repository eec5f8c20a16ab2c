"""Why a running command is to be ended, and the text form of such a request between replicas."""

from __future__ import annotations

from enum import StrEnum

STOP = "stop"
"""The bus topic for requests to end a running command: `<id> <stop request>`."""


class StopReason(StrEnum):
    """Why a running command is to be ended."""

    CANCEL = "cancel"
    TIMEOUT = "timeout"
    COMPOSITE = "composite"
    """Its composite command is ended."""
    CLUSTER = "cluster"
    """Its cluster is terminated."""


def stop_request(reason: StopReason, detail: str = "") -> str:
    """Return a reason as the commands table and the bus carry it; `detail` is for the user."""
    return f"{reason.value} {detail}" if detail else reason.value


def parse_stop_request(text: str) -> tuple[StopReason, str]:
    """Return the arguments of `stop_request` from its text."""
    reason, _, detail = text.partition(" ")
    return StopReason(reason), detail
