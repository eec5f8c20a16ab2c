"""The folder browser: displays a model with ipywidgets, or as text."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from svc_jupyter.widgets.folders.model import FolderModel
from svc_jupyter.widgets.folders.rendering import panel_text, selected_html
from svc_jupyter.widgets.folders.rows import FolderRows
from svc_jupyter.widgets.folders.steps import Question, Step
from svc_jupyter.widgets.panels.confirming import ConfirmingPanel
from svc_jupyter.widgets.panels.frame import ROW, PartOfPanel, make_button

if TYPE_CHECKING:
    from ipywidgets import Button

_ICONS = {Step.NEW: "plus", Step.RENAME: "pencil", Step.MOVE: "arrow-right", Step.DELETE: "trash"}
NAME_SECONDS = 0.3
"""How long after Enter a new name may arrive; a front end sends it in the next message."""


def folder_text(model: FolderModel) -> str:
    """Return the browser as text."""
    return panel_text(model.branches.rows())


class FolderPanel(ConfirmingPanel):
    """The browser of folders; see `PanelFrame`."""

    def __init__(self, model: FolderModel) -> None:
        self.model = model
        self._asked: Question | None = None
        self._arrived = threading.Event()
        self._revealed = model.revealed
        super().__init__(model, lambda: folder_text(model))

    def _draw(self) -> None:
        model = self.model
        question = model.question
        destination = question.destination if question is not None and question.step is Step.MOVE else None
        self._rows.draw(model.branches.rows(), destination or model.selected)
        if model.revealed != self._revealed:
            self._revealed = model.revealed
            self._rows.focus(model.selected)
        self._selected.value = selected_html(model.selected)
        for step, button in self._buttons.items():
            button.disabled = step not in model.steps
        self._draw_question(question)
        self._draw_problem(model.problem)
        self._draw_foot(model.note, "working …" if model.working else "")

    def _draw_question(self, question: Question | None) -> None:
        is_new = question is not None and (
            self._asked is None or (question.step, question.item) != (self._asked.step, self._asked.item)
        )
        self._asked = question
        if question is None:
            self._draw_asking(None)
            return
        self._draw_asking(question.text, question.yes)
        self._yes.disabled = question.step is Step.MOVE and question.obstacle is not None
        self._name.layout.display = None if question.needs_name else "none"
        if is_new:
            self._name.value = question.item.name if question.step is Step.RENAME else ""
            (self._name if question.needs_name else self._no).focus()  # else focus the answer that changes nothing

    def _build(self) -> Sequence[PartOfPanel]:
        import ipywidgets as widgets

        self._selected = widgets.HTML()
        self._rows = FolderRows(self.model.press, self.model.more)
        self._buttons: dict[Step, Button] = {step: make_button(f"{step}…", icon) for step, icon in _ICONS.items()}
        # Not on each letter: a button press could overtake the last letters.
        self._name = widgets.Text(placeholder="name", layout={"width": "16em"}, continuous_update=False)
        self._make_answers(self._name)
        steps = widgets.HBox([*self._buttons.values(), self._refresh], layout=ROW)
        self.box = widgets.VBox([self._rows.box, self._selected, steps, self._asking, self._failing, self._foot])
        return (self._rows,)

    def _connect(self) -> None:
        model = self.model
        for step, button in self._buttons.items():
            button.on_click(lambda _, step=step: model.ask(step))
        self._connect_answers(
            confirm=lambda: model.confirm(self._name.value),
            dismiss=model.dismiss,
            refresh=model.refresh,
            retry=model.retry,
        )
        self._name.observe(lambda _: self._arrived.set(), "value")
        self._name.on_msg(self._entered)

    def _entered(self, _widget: Any, content: dict[str, Any], _buffers: Any) -> None:
        """Treat Enter in the name field as the confirmation. A new name arrives just after it."""
        if content.get("event") == "submit":
            self._arrived.clear()
            self.model.worker.submit(self._take_name)

    def _take_name(self) -> None:
        self._arrived.wait(NAME_SECONDS)
        self.model.confirm(self._name.value)
