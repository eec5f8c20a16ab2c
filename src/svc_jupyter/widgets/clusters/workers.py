"""The list of a cluster's workers in its panel: a line and a button for each, kept while the worker exists."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from svc_jupyter.widgets.clusters.rendering import worker_html, worker_rows
from svc_jupyter.widgets.clusters.view import ClusterView
from svc_jupyter.widgets.panels.frame import close_widgets
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
            button.disabled = why_not is not None or "RUNNING" not in row[1]
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
