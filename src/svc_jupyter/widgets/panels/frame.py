"""The base of all panels: drawing a model, a text beside the widgets, and closing."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from svc_jupyter.widgets.panels.worker import PanelWorker

if TYPE_CHECKING:
    from ipywidgets import Box, Button, Widget

ROW: Final = {"flex_flow": "row wrap", "align_items": "center"}
"""A row that wraps in a narrow panel."""


class PanelModel(Protocol):
    """The model of a panel: it announces its changes and runs long work in its worker."""

    on_change: Callable[[], None]

    @property
    def worker(self) -> PanelWorker:
        """The panel's thread."""
        ...


class PartOfPanel(Protocol):
    """A part that manages and closes its own widgets."""

    box: Box

    def close(self) -> None:
        """Remove it."""
        ...


class PanelText:
    """A panel as text; `text` returns its current state."""

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text()


class PanelValue(PanelText):
    """A panel as a cell's value: widgets, and the same as text for front ends without widgets."""

    box: Box

    def _repr_mimebundle_(self, **chosen: Any) -> dict[str, Any]:
        """Return the widgets and the text; a front end shows one of them."""
        view: dict[str, Any] = self.box._repr_mimebundle_(**chosen) or {}
        return {**view, "text/plain": repr(self)}


class PanelFrame(PanelValue, ABC):
    """A panel that draws a model. `close` removes it and ends its thread."""

    def __init__(self, model: PanelModel, text: Callable[[], str]) -> None:
        """Build and draw it; `text` returns the panel as text."""
        super().__init__(text)
        self._shown = model
        self._drawing = threading.RLock()
        self._is_unheard = False
        self._own = self._build()
        self._parts: list[Widget] = [*_below(self.box, [part.box for part in self._own]), self.box]
        self._connect()
        model.on_change = self.draw
        self.draw()

    def close(self) -> None:
        """Remove the panel."""
        self._shown.worker.close()
        self._shown.on_change = lambda: None
        for part in self._own:
            part.close()
        close_widgets(self._parts)

    def draw(self) -> None:
        """Show the current state of the model; thread-safe."""
        with self._drawing:
            self._draw()

    @abstractmethod
    def _build(self) -> Sequence[PartOfPanel]:
        """Create `box` and its contents; return the parts that close themselves."""

    @abstractmethod
    def _connect(self) -> None:
        """Connect the widgets to the model."""

    @abstractmethod
    def _draw(self) -> None:
        """Show the model; one thread at a time."""

    def _look_while_seen(self) -> None:
        """Let the worker refresh while a front end shows the panel; front ends report how many views a widget has."""
        self.box.observe(lambda change: self._shown.worker.show(visible=bool(change["new"])), "_view_count")
        self.box._view_count = 0

    @contextmanager
    def _unheard(self) -> Iterator[None]:
        """Change a field without notifying the model (`_is_unheard`)."""
        before, self._is_unheard = self._is_unheard, True
        try:
            yield
        finally:
            self._is_unheard = before


def make_button(description: str, icon: str, tooltip: str | None = None) -> Button:
    """Return a button as wide as its text."""
    import ipywidgets as widgets

    return widgets.Button(description=description, icon=icon, tooltip=tooltip, layout={"width": "auto"})


def show(part: Box | Button, *, visible: bool) -> None:
    """Show a part, or hide it without leaving space."""
    part.layout.display = None if visible else "none"


def close_widgets(widgets: Iterable[Widget]) -> None:
    """Close widgets with their layout and style."""
    for widget in widgets:
        for belonging in (getattr(widget, "layout", None), getattr(widget, "style", None), widget):
            if belonging is not None:
                belonging.close()


def _below(box: Box, apart: Sequence[Box]) -> list[Widget]:
    """Return all widgets in a box, the innermost first; parts in `apart` close themselves."""
    found: list[Widget] = []
    for child in box.children:
        if not any(child is one for one in apart):
            found += [*_below(child, apart), child] if hasattr(child, "children") else [child]
    return found
