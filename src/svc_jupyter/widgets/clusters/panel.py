"""The cluster panel: displays a model with ipywidgets, or as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
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
    worker_html,
    worker_rows,
    workers_html,
)
from svc_jupyter.widgets.clusters.steps import SPARK_REFUSAL, Step, removal_obstacle
from svc_jupyter.widgets.clusters.view import ClusterView
from svc_jupyter.widgets.clusters.words import choice, panel_text
from svc_jupyter.widgets.panels.confirming import ChoosingPanel
from svc_jupyter.widgets.panels.frame import ROW, PartOfPanel, close_widgets, make_button, show
from svc_jupyter.widgets.panels.rendering import muted_html

if TYPE_CHECKING:
    from ipywidgets import HTML, Button, HBox

LISTED = 50
"""Maximum number of workers shown; a table has all of them."""


class ClusterWorkers:
    """The rows of the workers; `remove` is called with the name of the worker whose button is pressed."""

    def __init__(self, remove: Callable[[str], None]) -> None:
        import ipywidgets as widgets

        self._remove = remove
        self._rows: dict[str, tuple[HBox, HTML, Button]] = {}
        self._more = widgets.HTML()
        self.box = widgets.VBox([])

    def draw(self, view: ClusterView, now: datetime, *, why_not: str | None, is_known: bool) -> None:
        """Show the current workers; `why_not` says why none can be removed. Only rows of new workers are created."""
        words = dict(list(worker_rows(view, now).items())[:LISTED])
        for name in [name for name in self._rows if name not in words]:
            close_widgets(self._rows.pop(name))
        for name, row in words.items():
            if name not in self._rows:
                self._rows[name] = self._row(name)
            _, line, button = self._rows[name]
            line.value = worker_html(row, is_known=is_known)
            button.disabled = why_not is not None or "running" not in row[1]
            button.tooltip = f"Remove {name}" + (f": {why_not}" if why_not else "")
        hidden = len(view.workers) - len(words)
        self._more.value = muted_html(f"and {hidden} more: %svc_cluster {view.name} nodes") if hidden > 0 else ""
        children = tuple(self._rows[name][0] for name in words) + ((self._more,) if hidden > 0 else ())
        if self.box.children != children:
            self.box.children = children

    def close(self) -> None:
        """Remove the list."""
        for parts in self._rows.values():
            close_widgets(parts)
        close_widgets((self._more, self.box))

    def _row(self, name: str) -> tuple[HBox, HTML, Button]:
        import ipywidgets as widgets

        line = widgets.HTML()
        button = widgets.Button(description="Remove…", layout={"width": "auto"})
        button.on_click(lambda _: self._remove(name))
        row = widgets.HBox([line, button], layout={"flex_flow": "row wrap", "align_items": "center"})
        return row, line, button


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
        show(self._sizing, visible=view.phase == "UP" and not view.is_external)
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
        row = widgets.HBox([self._title, self._buttons[Step.TERMINATE], self._refresh], layout=ROW)
        # A start stands apart, so that no second press of it meets the step that comes then.
        start = widgets.HBox([self._buttons[Step.START], self._situation], layout=ROW)
        sizing = [self._count, self._fewer, self._target, self._more, self._buttons[Step.RESIZE], self._why_not]
        self._sizing = widgets.HBox(sizing, layout=ROW)
        self._following = widgets.HBox([self._commands, self._cancel], layout=ROW)
        parts = [row, start, self._health, self._plots, self._sizing, self._workers.box, self._following]
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
