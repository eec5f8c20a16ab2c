"""The cluster panel: displays a model with ipywidgets, or as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from svc_jupyter.widgets.clusters.model import ClusterModel
from svc_jupyter.widgets.clusters.rendering import (
    NO_CLUSTERS,
    commands_html,
    foot_text,
    health_html,
    plots_html,
    situation_html,
    title_html,
    warning_html,
    workers_html,
)
from svc_jupyter.widgets.clusters.steps import SPARK_REFUSAL, Step, removal_obstacle
from svc_jupyter.widgets.clusters.view import ClusterView
from svc_jupyter.widgets.clusters.words import choice, panel_text
from svc_jupyter.widgets.clusters.workers import ClusterWorkers
from svc_jupyter.widgets.panels.confirming import ChoosingPanel
from svc_jupyter.widgets.panels.frame import ROW, PartOfPanel, make_button, show

if TYPE_CHECKING:
    from ipywidgets import Button

_CARD = {"border": "1px solid var(--jp-border-color2)", "padding": "4px 12px", "max_width": "60em"}


def cluster_text(model: ClusterModel) -> str:
    """Return the panel as text."""
    return NO_CLUSTERS if model.view is None else panel_text(model.view, model.clock())


class ClusterPanel(ChoosingPanel):
    """The panel of a cluster and its nodes; see `PanelFrame`."""

    def __init__(self, model: ClusterModel) -> None:
        self.model = model
        super().__init__(model, lambda: cluster_text(model))

    def _draw(self) -> None:
        view = self.model.view
        question = self.model.question
        self._draw_asking(question.text if question else None, question.yes if question else "")
        self._draw_problem(self.model.problem)
        show(self._choosing, visible=bool(self.model.clusters))
        show(self._body, visible=view is not None)
        if view is None:
            self._draw_foot(NO_CLUSTERS)
            return
        self._draw_choices([(choice(record), record.id) for record in self.model.clusters], view.record.id)
        self._draw_view(view)
        self._draw_size(view)

    def _draw_view(self, view: ClusterView) -> None:
        model = self.model
        now, doubt = model.clock(), model.doubt
        self._title.value = title_html(view, now, doubt)
        self._situation.value = situation_html(view)
        self._health.value = health_html(view, doubt)
        self._plots.value = plots_html(view, now, doubt)
        for part in (self._situation, self._health, self._plots):
            part.layout.display = None if part.value else "none"
        why_not = None if Step.REMOVE in model.steps else removal_obstacle(view) or "not now"
        self._workers.draw(view, now, why_not=why_not, is_known=doubt is None)
        self._commands.value = commands_html(model.commands.lines())
        show(self._following, visible=bool(self._commands.value))
        show(self._cancel, visible=model.commands.are_running)
        for step in (Step.START, Step.TERMINATE):
            button = self._buttons[step]
            button.disabled = step not in model.steps
            show(button, visible=(step is Step.START) == (view.phase == "DOWN"))
        self._draw_foot(model.note, "working …" if model.working else "", foot_text(view, model.period(), doubt))

    def _draw_size(self, view: ClusterView) -> None:
        """Show the requested number of workers; for a Spark cluster, that it cannot be changed."""
        model = self.model
        show(self._sizing, visible=view.phase == "UP")
        self._count.value = workers_html(view)
        fixed = view.type == "Spark" or model.doubt is not None or model.question is not None or model.working
        for part in (self._fewer, self._more, self._target):
            part.disabled = fixed
        with self._unheard():
            self._target.value = model.target
        self._buttons[Step.RESIZE].disabled = Step.RESIZE not in model.steps
        why = SPARK_REFUSAL if view.type == "Spark" else model.obstacle
        self._why_not.value = warning_html(why) if why else ""

    def _build(self) -> Sequence[PartOfPanel]:
        import ipywidgets as widgets

        self._title, self._situation, self._health = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self._plots, self._count, self._why_not = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self._commands = widgets.HTML()
        self._make_answers()
        self._make_chooser(widgets.Dropdown(description="Cluster", options=[], layout={"width": "auto"}))
        self._buttons: dict[Step, Button] = {
            Step.START: make_button("Start", "play"),
            Step.TERMINATE: make_button("Terminate…", "stop"),
            Step.RESIZE: make_button("Apply…", "check"),
        }
        self._cancel = make_button("Cancel", "times")
        self._fewer, self._more = make_button("-", "", "one worker fewer"), make_button("+", "", "one worker more")
        self._target = widgets.IntText(
            description="wanted", style={"description_width": "initial"}, layout={"width": "9em"}
        )
        self._workers = ClusterWorkers(lambda node: self._ask(Step.REMOVE, node))
        head = [self._title, self._buttons[Step.START], self._buttons[Step.TERMINATE], self._refresh]
        row = widgets.HBox(head, layout=ROW)
        sizing = [self._count, self._fewer, self._target, self._more, self._buttons[Step.RESIZE], self._why_not]
        self._sizing = widgets.HBox(sizing, layout=ROW)
        self._following = widgets.HBox([self._commands, self._cancel], layout=ROW)
        parts = [row, self._situation, self._health, self._plots, self._sizing, self._workers.box, self._following]
        self._body = widgets.VBox(parts)
        self.box = widgets.VBox([self._choosing, self._body, self._asking, self._failing, self._foot], layout=_CARD)
        return (self._workers,)

    def _connect(self) -> None:
        model = self.model
        for step, button in self._buttons.items():
            button.on_click(lambda _, step=step: self._ask(step))
        self._connect_answers(confirm=model.confirm, dismiss=model.dismiss, refresh=model.refresh, retry=model.refresh)
        self._cancel.on_click(lambda _: model.cancel())
        self._fewer.on_click(lambda _: model.aim(model.target - 1))
        self._more.on_click(lambda _: model.aim(model.target + 1))
        self._target.observe(self._aim, "value")
        self._connect_chooser()

    def _aim(self, change: Any) -> None:
        if not self._is_unheard:
            self.model.aim(change["new"])

    def _ask(self, step: Step, node: str | None = None) -> None:
        self.model.ask(step, node)
        self._focus_no()
