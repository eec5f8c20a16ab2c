"""The logic of the schedule panel, without widgets: its state, its questions and its steps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from svc_jupyter.widgets.panels.watched_model import Clock, WatchedModel
from svc_jupyter.widgets.schedules.state import ScheduleState, fetch_state, ordered
from svc_jupyter.widgets.schedules.steps import Question, Step, perform, possible_steps

if TYPE_CHECKING:
    from svc_jupyter.api.schedules import ScheduleRecord
    from svc_jupyter.client import Client

BUSY_SECONDS, CALM_SECONDS = 5.0, 15.0
"""How often a visible panel refreshes: while an action is under way, and otherwise."""
LISTED = 100
"""Maximum number of schedules to choose from, the newest ones; any other can be opened by name."""


def _now() -> datetime:
    return datetime.now(UTC)


class ScheduleModel(WatchedModel[Question]):
    """The state of one panel. `schedules` are the choices, empty in a panel of one schedule."""

    def __init__(
        self,
        client: Callable[[], Client],
        state: ScheduleState | None,
        schedules: list[ScheduleRecord] | None,
        clock: Clock,
    ) -> None:
        super().__init__(client, clock)
        self.state = state
        self.schedules = schedules or []

    @property
    def steps(self) -> set[Step]:
        """The steps possible now: none during a question or a step."""
        if self.state is None or self.question is not None or self.working:
            return set()
        return possible_steps(self.state.record, len(self.state.actions))

    def period(self) -> float:
        """Return the seconds between two refreshes."""
        return BUSY_SECONDS if self.state is not None and self.state.is_busy else CALM_SECONDS

    # Called by the buttons on the kernel's main thread: nothing here blocks.

    def ask(self, step: Step, sequence: int | None = None) -> None:
        """Ask for the confirmation of a step; `sequence` is the number of the action to rerun."""
        with self._lock:
            if self.state is None or step not in self.steps:
                return
            action = None
            if step is Step.RERUN:
                action = next((one for one in self.state.actions if one.sequence_id == sequence), None)
                if action is None:
                    return
            self.question = Question(step, self.state.record, action)
            self.note = ""
        self.on_change()

    # Below: the panel's own thread.

    def _look(self) -> None:
        if self.state is not None:
            self._fetch(self.state.record.id)

    def _fetch(self, number: int) -> None:
        from svc_jupyter.client.errors import SvcError

        try:
            client = self._client()
            state = fetch_state(client, client.schedules.get(number), self.clock())
            schedules = listed(client) if self.schedules else []
        except SvcError as error:
            self.problem = error.message
        else:
            with self._lock:
                self.state, self.schedules, self.problem = state, schedules, None
        self.on_change()

    def _take(self, question: Question) -> int:
        self.note = perform(self._client(), question)
        return question.record.id


def listed(client: Client) -> list[ScheduleRecord]:
    """Return the newest schedules, as many as the choice shows."""
    return ordered(client.schedules.list(per_page=LISTED).schedules)


def open_model(client: Callable[[], Client], wanted: str | None, clock: Clock = _now) -> ScheduleModel:
    """Return the model of one schedule's panel, or without a name of all schedules'; asks the service.

    Raises the client's errors.
    """
    if wanted is not None:
        state = fetch_state(client(), client().schedules.find(wanted), clock())
        return ScheduleModel(client, state, None, clock)
    schedules = listed(client())
    first = fetch_state(client(), schedules[0], clock()) if schedules else None
    return ScheduleModel(client, first, schedules, clock)
