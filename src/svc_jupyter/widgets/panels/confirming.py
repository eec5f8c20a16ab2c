"""What the panels have in common whose steps are confirmed: the question, what went wrong, and the line at the foot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from svc_jupyter.widgets.panels.frame import ROW, PanelFrame, make_button, show
from svc_jupyter.widgets.panels.rendering import muted_html, problem_html

if TYPE_CHECKING:
    from ipywidgets import Button, DOMWidget


class ConfirmingPanel(PanelFrame):
    """A panel that asks before it does something. Its parts are made in `_build`, connected in `_connect`."""

    _yes: Button
    _no: Button
    _retry: Button
    _refresh: Button

    def _make_answers(self, *fields: DOMWidget) -> None:
        """Make the rows; `fields` stand between the question and its answers."""
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
        """Let the buttons of the rows call the model."""
        for button, call in (
            (self._yes, confirm),
            (self._no, dismiss),
            (self._refresh, refresh),
            (self._retry, retry),
        ):
            button.on_click(lambda _, call=call: call())

    def _draw_asking(self, question: str | None, yes: str = "") -> None:
        """Show a question, as HTML, with the words of its yes; or none."""
        if question is not None:
            self._question.value = question
            self._yes.description = yes
        show(self._asking, visible=question is not None)

    def _draw_problem(self, problem: str | None) -> None:
        show(self._failing, visible=problem is not None)
        self._problem.value = problem_html(problem) if problem else ""

    def _draw_foot(self, *told: str) -> None:
        self._foot.value = muted_html(" · ".join(text for text in told if text))
