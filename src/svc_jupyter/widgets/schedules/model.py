"""The logic of the schedule panel, without widgets: its state, its questions and its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from svc_jupyter.widgets.panels.watched_model import Clock, WatchedModel
from svc_jupyter.widgets.schedules.steps import Question, Step, perform, possible_steps
from svc_jupyter.widgets.schedules.words import moment

if TYPE_CHECKING:
    from svc_jupyter.api.schedules import ActionRecord, ScheduleRecord
    from svc_jupyter.client import Client

LAST_ACTIONS = 8
TIMETABLE = ("frequency", "time_unit", "cron_expression", "start_time", "end_time", "time_zone")
"""The fields of a schedule's timetable."""


@dataclass(frozen=True)
class ScheduleState:
    """One schedule as of `as_of`: its record, its next nominal times, its last actions."""

    record: ScheduleRecord
    coming: tuple[datetime, ...]
    actions: tuple[ActionRecord, ...]
    as_of: datetime

    @property
    def is_busy(self) -> bool:
        """Whether an action has not ended, so that updates are due soon."""
        return any(not action.done for action in self.actions)


def fetch_state(client: Client, record: ScheduleRecord, now: datetime, actions: int = LAST_ACTIONS) -> ScheduleState:
    """Fetch the times and actions of a schedule's record. Raises the client's errors."""
    last = client.schedules.actions(record.id, per_page=actions).actions
    return ScheduleState(record, tuple(coming_times(client, record, now)), tuple(last), now)


def ordered(schedules: Sequence[ScheduleRecord]) -> list[ScheduleRecord]:
    """Return active schedules first, and within each group the newest first."""
    order = {"RUNNING": 0, "SUSPENDED": 1}
    return sorted(schedules, key=lambda schedule: (order.get(str(schedule.status), 2), -schedule.id))


def timetable_of(record: ScheduleRecord) -> dict[str, Any]:
    """Return the timetable fields of a schedule."""
    return {name: value for name in TIMETABLE if (value := getattr(record, name)) is not None}


def coming_times(client: Client, record: ScheduleRecord, now: datetime) -> list[datetime]:
    """Return the next nominal times of an active schedule, aware, if the service reports them.

    A service without the extension reports only the next one.
    """
    from svc_jupyter.client.errors import StatusError

    if str(record.status) != "RUNNING":
        return []
    try:
        texts = client.schedules.preview(**timetable_of(record)).next_times
    except StatusError:
        texts = None  # it may not accept a preview without a command
    if texts is None:
        following = moment(record.next_materialized_time, record.time_zone)
        return [] if following is None or following < now else [following]  # a past time is being caught up with
    return [time for text in texts if (time := moment(text, "UTC")) is not None]


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
