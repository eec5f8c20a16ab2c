"""What the panels have in common: a model that is drawn, a text beside the widgets, and their end."""

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
"""A row whose parts go below each other where the panel is narrow."""


class PanelModel(Protocol):
    """What a panel shows: it tells of its changes, and does what takes long in its worker."""

    on_change: Callable[[], None]

    @property
    def worker(self) -> PanelWorker:
        """The panel's one thread."""
        ...


class PartOfPanel(Protocol):
    """A part that changes its widgets by itself, and closes them."""

    box: Box

    def close(self) -> None:
        """Take it away."""
        ...


class PanelFrame(ABC):
    """The panel as a cell's value: widgets, with the same as text beside them for front ends without.

    `close` takes it away and ends its thread.
    """

    box: Box

    def __init__(self, model: PanelModel, text: object) -> None:
        """Build and draw it; `text` is the panel where there are no widgets, by its repr."""
        self._shown, self._text = model, text
        self._drawing = threading.RLock()
        self._is_unheard = False
        self._own = self._build()
        self._parts: list[Widget] = [*_below(self.box, [part.box for part in self._own]), self.box]
        self._connect()
        model.on_change = self.draw
        self.draw()

    def close(self) -> None:
        """Take the panel away."""
        self._shown.worker.close()
        self._shown.on_change = lambda: None
        for part in self._own:
            part.close()
        close_widgets(self._parts)

    def draw(self) -> None:
        """Show the model as it is now; callable from any thread."""
        with self._drawing:
            self._draw()

    @abstractmethod
    def _build(self) -> Sequence[PartOfPanel]:
        """Make `box` with all that is in it; return the parts that close themselves."""

    @abstractmethod
    def _connect(self) -> None:
        """Let the widgets tell the model what a person does."""

    @abstractmethod
    def _draw(self) -> None:
        """Show the model; one thread at a time."""

    def _look_while_seen(self) -> None:
        """Let the worker look again while a front end shows the panel; it counts how often it does."""
        self.box.observe(lambda change: self._shown.worker.show(visible=bool(change["new"])), "_view_count")
        self.box._view_count = 0

    @contextmanager
    def _unheard(self) -> Iterator[None]:
        """Change a field without taking that for a person's doing (`_is_unheard`)."""
        before, self._is_unheard = self._is_unheard, True
        try:
            yield
        finally:
            self._is_unheard = before

    def __repr__(self) -> str:
        return repr(self._text)

    def _repr_mimebundle_(self, **chosen: Any) -> dict[str, Any]:
        """Return the widgets for a front end that shows them, and the text for all others."""
        view: dict[str, Any] = self.box._repr_mimebundle_(**chosen) or {}
        return {**view, "text/plain": repr(self._text)}


def make_button(description: str, icon: str, tooltip: str | None = None) -> Button:
    """Return a button as wide as its text."""
    import ipywidgets as widgets

    return widgets.Button(description=description, icon=icon, tooltip=tooltip, layout={"width": "auto"})


def show(part: Box | Button, *, visible: bool) -> None:
    """Show a part, or take no room for it."""
    part.layout.display = None if visible else "none"


def close_widgets(widgets: Iterable[Widget]) -> None:
    """Close widgets with what belongs to each."""
    for widget in widgets:
        for belonging in (getattr(widget, "layout", None), getattr(widget, "style", None), widget):
            if belonging is not None:
                belonging.close()


def _below(box: Box, apart: Sequence[Box]) -> list[Widget]:
    """Return all widgets in a box, the innermost first; what is in `apart` is closed by its part."""
    found: list[Widget] = []
    for child in box.children:
        if not any(child is one for one in apart):
            found += [*_below(child, apart), child] if hasattr(child, "children") else [child]
    return found
