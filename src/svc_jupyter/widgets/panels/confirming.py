"""The base of panels that ask for confirmation: the question, the error and the footer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from svc_jupyter.widgets.panels.frame import ROW, PanelFrame, PanelModel, make_button, show
from svc_jupyter.widgets.panels.rendering import muted_html, problem_html, question_html

if TYPE_CHECKING:
    from ipywidgets import Button, DOMWidget, Dropdown


class ChoosingModel(PanelModel, Protocol):
    """The interface of a choosing panel's model."""

    question: Any

    def choose(self, number: int) -> None:
        """Show another object of the list, by its id."""
        ...


class ConfirmingPanel(PanelFrame):
    """A panel that asks for confirmation. Its parts are created in `_build` and connected in `_connect`."""

    _yes: Button
    _no: Button
    _retry: Button
    _refresh: Button

    def _make_answers(self, *fields: DOMWidget) -> None:
        """Create the rows; `fields` stand between the question and its answers."""
        import ipywidgets as widgets

        self._question, self._problem, self._foot = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self._refresh, self._retry = make_button("Refresh", "refresh"), make_button("Try again", "refresh")
        self._yes, self._no = make_button("", "check"), make_button("No, leave it", "times")
        self._asking = widgets.HBox([self._question, *fields, self._no, self._yes], layout=ROW)
        self._failing = widgets.HBox([self._problem, self._retry], layout=ROW)

    def _connect_answers(
        self,
        *,
        confirm: Callable[[], None],
        dismiss: Callable[[], None],
        refresh: Callable[[], None],
        retry: Callable[[], None],
    ) -> None:
        """Connect the buttons of the rows to the model."""
        for button, call in (
            (self._yes, confirm),
            (self._no, dismiss),
            (self._refresh, refresh),
            (self._retry, retry),
        ):
            button.on_click(lambda _, call=call: call())

    def _draw_asking(self, question: str | None, yes: str = "") -> None:
        """Show a question and the label of its confirmation; or hide them."""
        if question is not None:
            self._question.value = question_html(question)
            self._yes.description = yes
        show(self._asking, visible=question is not None)

    def _draw_problem(self, problem: str | None) -> None:
        show(self._failing, visible=problem is not None)
        self._problem.value = problem_html(problem) if problem else ""

    def _draw_foot(self, *texts: str) -> None:
        self._foot.value = muted_html(" · ".join(text for text in texts if text))


class ChoosingPanel(ConfirmingPanel):
    """A confirming panel of one object of a list, which is refreshed while a front end shows it."""

    def __init__(self, model: ChoosingModel, text: Callable[[], str]) -> None:
        self._choice = model
        super().__init__(model, text)
        self._look_while_seen()

    def _make_chooser(self, chooser: Dropdown) -> None:
        import ipywidgets as widgets

        self._chooser = chooser
        self._choosing = widgets.HBox([chooser], layout=ROW)

    def _connect_chooser(self) -> None:
        self._chooser.observe(self._choose, "value")

    def _draw_choices(self, options: list[tuple[str, int]], shown: int) -> None:
        """Show the list; the choice is kept, initially `shown`."""
        if list(self._chooser.options) != options:
            chosen = self._chooser.value or shown
            with self._unheard():
                self._chooser.options = options
                if chosen in dict(options).values():
                    self._chooser.value = chosen

    def _choose(self, change: Any) -> None:
        if not self._is_unheard and change["new"] is not None:
            self._choice.choose(change["new"])

    def _focus_no(self) -> None:
        """Focus the answer that changes nothing when a question appears."""
        if self._choice.question is not None:
            self._no.focus()
