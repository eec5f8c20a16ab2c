"""The steps that a user can take in a schedule's panel, and their confirmation: once, by name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from svc_jupyter.clock import short_time
from svc_jupyter.widgets.schedules.words import name_of, nominal_time

if TYPE_CHECKING:
    from svc_jupyter.api.schedules import ActionRecord, ScheduleRecord
    from svc_jupyter.client import Client


class Step(StrEnum):
    """A button of the panel that changes something."""

    SUSPEND = "Suspend"
    RESUME = "Resume"
    RERUN = "Run again"
    KILL = "End"


_OF_STATUS = {
    "RUNNING": {Step.SUSPEND, Step.RERUN, Step.KILL},
    "SUSPENDED": {Step.RESUME, Step.RERUN, Step.KILL},
    "DONE": {Step.RERUN},
}


@dataclass(frozen=True)
class Question:
    """A step that waits for its confirmation; `action` is the one to rerun."""

    step: Step
    record: ScheduleRecord
    action: ActionRecord | None = None

    def text(self, now: datetime) -> str:
        """Return the question: the step, the schedule and the consequences."""
        name = name_of(self.record)
        match self.step:
            case Step.SUSPEND:
                return f"Suspend {name}? No further run begins until it is resumed; what runs goes on."
            case Step.RESUME:
                missed = "are dropped" if self.record.no_catch_up else "come first, oldest first"
                return f"Resume {name}? The runs that were missed meanwhile {missed}."
            case Step.KILL:
                return f"End {name}? It never runs again, and what it runs just now is cancelled."
            case Step.RERUN:
                assert self.action is not None
                when = short_time(nominal_time(self.action), now)
                return f"Run {self.action.sequence_id} of {name} again, for {when}?"

    @property
    def yes(self) -> str:
        """The label of the confirming button; it names the object."""
        if self.action:
            return f"Run {self.action.sequence_id} of {self.record.name} again"
        return f"{self.step} {self.record.name}"


def possible_steps(record: ScheduleRecord, actions: int) -> set[Step]:
    """Return the steps possible in the schedule's status; only finished actions can be rerun."""
    steps = _OF_STATUS.get(str(record.status), set())
    return {step for step in steps if step is not Step.RERUN or actions}


def perform(client: Client, question: Question) -> str:
    """Perform the confirmed step and return its message. Raises the client's errors."""
    record = question.record
    match question.step:
        case Step.SUSPEND:
            client.schedules.suspend(record.id)
            return f"{name_of(record)} is suspended"
        case Step.RESUME:
            client.schedules.resume(record.id)
            return f"{name_of(record)} is active"
        case Step.KILL:
            client.schedules.kill(record.id)
            return f"{name_of(record)} has ended"
        case Step.RERUN:
            assert question.action is not None
            client.schedules.rerun(question.action.id)
            return f"run {question.action.sequence_id} of {name_of(record)} starts again"
