"""The outcome of an action, as users subscribe to it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from svc_jupyter.api.states import ActionStatus, CommandStatus


class Outcome(StrEnum):
    """The outcomes that a schedule can report: `notify_failure` and `notify_success`."""

    FAILURE = "failure"
    SUCCESS = "success"


_OUTCOMES: Mapping[str, Outcome] = {
    CommandStatus.DONE.value: Outcome.SUCCESS,
    CommandStatus.ERROR.value: Outcome.FAILURE,
    ActionStatus.NOT_FOUND.value: Outcome.FAILURE,
}


def outcome_of(status: str) -> Outcome | None:
    """Return the outcome of an action's final status; None for `cancelled`, since the user who cancelled it knows."""
    return _OUTCOMES.get(status)
