"""The schedule panel: displays a model with ipywidgets, or as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from svc_jupyter.api.status_words import schedule_words
from svc_jupyter.clock import as_of_text, short_time
from svc_jupyter.widgets.panels.confirming import ChoosingPanel
from svc_jupyter.widgets.panels.frame import ROW, PartOfPanel, make_button, show
from svc_jupyter.widgets.panels.watched_model import PAUSED
from svc_jupyter.widgets.schedules.model import ScheduleModel, ScheduleState
from svc_jupyter.widgets.schedules.rendering import (
    NOTHING_YET,
    actions_html,
    coming_html,
    panel_text,
    title_html,
)
from svc_jupyter.widgets.schedules.steps import Step
from svc_jupyter.widgets.schedules.words import name_of, nominal_time

if TYPE_CHECKING:
    from ipywidgets import Button

_ICONS = {Step.SUSPEND: "pause", Step.RESUME: "play", Step.RERUN: "repeat", Step.KILL: "stop"}


def schedule_text(model: ScheduleModel) -> str:
    """Return the panel as text."""
    return NOTHING_YET if model.state is None else panel_text(model.state, model.clock())


class SchedulePanel(ChoosingPanel):
    """The panel of a schedule and its actions; see `PanelFrame`."""

    def __init__(self, model: ScheduleModel) -> None:
        self.model = model
        super().__init__(model, lambda: schedule_text(model))

    def _draw(self) -> None:
        state = self.model.state
        question = self.model.question
        self._draw_asking(question.text(self.model.clock()) if question else None, question.yes if question else "")
        self._draw_problem(self.model.problem)
        for part in (self._choosing, self._body):
            show(part, visible=state is not None)
        show(self._choosing, visible=bool(self.model.schedules))
        if state is None:
            self._draw_foot(NOTHING_YET)
        else:
            self._draw_choices(_choices(self.model), state.record.id)
            self._draw_state(state)

    def _draw_state(self, state: ScheduleState) -> None:
        now = self.model.clock()
        self._title.value = title_html(state)
        self._coming.value = coming_html(state, now)
        self._actions.value = actions_html(state, now)
        self._draw_reruns(state)
        steps = self.model.steps
        for step, button in self._buttons.items():
            button.disabled = step not in steps
        looks = PAUSED if self.model.worker.is_paused else ""
        self._draw_foot(self.model.note, "working …" if self.model.working else "", as_of_text(state.as_of), looks)

    def _draw_reruns(self, state: ScheduleState) -> None:
        """Offer the actions to rerun; the choice is kept while the list changes."""
        now = self.model.clock()
        numbers = {action.sequence_id: short_time(nominal_time(action), now) for action in state.actions}
        options = [(f"{number} of {when}", number) for number, when in numbers.items()]
        if list(self._which.options) != options:
            chosen = self._which.value
            self._which.options = options
            self._which.value = chosen if chosen in numbers else next(iter(numbers), None)

    def _build(self) -> Sequence[PartOfPanel]:
        import ipywidgets as widgets

        self._title, self._coming, self._actions = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self._make_answers()
        self._make_chooser(widgets.Dropdown(description="Schedule", options=[]))
        self._which = widgets.Dropdown(description="Run", options=[])
        self._buttons: dict[Step, Button] = {step: make_button(step.value, icon) for step, icon in _ICONS.items()}
        lasting = [self._buttons[step] for step in (Step.SUSPEND, Step.RESUME, Step.KILL)]
        rows = [widgets.HBox([*lasting, self._refresh], layout=ROW)]
        rows += [widgets.HBox([self._which, self._buttons[Step.RERUN]], layout=ROW)]
        self._body = widgets.VBox([self._title, rows[0], self._coming, self._actions, rows[1]])
        self.box = widgets.VBox([self._choosing, self._body, self._asking, self._failing, self._foot])
        return ()

    def _connect(self) -> None:
        model = self.model
        for step, button in self._buttons.items():
            button.on_click(lambda _, step=step: self._ask(step))
        self._connect_answers(confirm=model.confirm, dismiss=model.dismiss, refresh=model.refresh, retry=model.refresh)
        self._connect_chooser()

    def _ask(self, step: Step) -> None:
        self.model.ask(step, self._which.value if step is Step.RERUN else None)
        self._focus_no()


def _choices(model: ScheduleModel) -> list[tuple[str, int]]:
    return [(f"{name_of(schedule)} · {schedule_words(schedule.status)}", schedule.id) for schedule in model.schedules]
