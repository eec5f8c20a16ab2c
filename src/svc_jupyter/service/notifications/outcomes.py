"""What the end of an action is to who asked to be told of it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from svc_jupyter.api.states import ActionStatus, CommandStatus


class Outcome(StrEnum):
    """What may be asked for: `notify_failure` and `notify_success`."""

    FAILURE = "failure"
    SUCCESS = "success"


_OUTCOMES: Mapping[str, Outcome] = {
    CommandStatus.DONE.value: Outcome.SUCCESS,
    CommandStatus.ERROR.value: Outcome.FAILURE,
    ActionStatus.NOT_FOUND.value: Outcome.FAILURE,
}


def outcome_of(status: str) -> Outcome | None:
    """Return what an action's final status is; None for `cancelled`: who cancelled it knows."""
    return _OUTCOMES.get(status)
