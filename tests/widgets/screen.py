"""A panel as its user has it on the screen: what is visible, to read and to press."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import Any

from ipywidgets import Box, Button, Widget

from svc_jupyter.widgets.panels.worker import PanelWorker

SECONDS = 20


class Screen:
    """Reads and presses the visible widgets of a panel; a press waits until the panel has done what it began."""

    def __init__(self, panel: Any) -> None:
        self.panel = panel

    @property
    def parts(self) -> list[Widget]:
        """The visible widgets, in the order of the screen."""
        return list(_visible(self.panel.box))

    @property
    def text(self) -> str:
        """All visible HTML, one line for each widget."""
        shown = [part.value for part in self.parts if isinstance(getattr(part, "value", None), str)]
        return "\n".join(shown)

    def buttons(self, name: str) -> list[Button]:
        """Return the visible buttons with this label, or whose tooltip begins so."""
        found = [part for part in self.parts if isinstance(part, Button)]
        return [one for one in found if one.description == name] or [
            one for one in found if (one.tooltip or "").startswith(name)
        ]

    def button(self, name: str) -> Button:
        """Return the only visible button with this label or tooltip."""
        [button] = self.buttons(name)
        return button

    def field(self, label: str) -> Any:
        """Return the visible field with this label or placeholder."""
        fields = [part for part in self.parts if not isinstance(part, Button) and hasattr(part, "description")]
        [field] = [one for one in fields if label in (_plain(one.description), getattr(one, "placeholder", None))]
        return field

    def enabled(self, *names: str) -> set[str]:
        """Return which of these buttons can be pressed."""
        return {name for name in names for button in self.buttons(name) if not button.disabled}

    def press(self, name: str) -> None:
        """Press a button, which must be visible and enabled."""
        button = self.button(name)
        assert not button.disabled
        button.click()
        self.settle()

    def choose(self, label: str, value: Any) -> None:
        """Set the value of a field."""
        self.field(label).value = value
        self.settle()

    def enter(self, label: str, text: str) -> None:
        """Type a text and press Enter: the front end sends Enter first, then the text."""
        field = self.field(label)
        submit = {"method": "custom", "content": {"event": "submit"}}
        field.comm.handle_msg({"content": {"data": submit}, "buffers": []})
        field.value = text
        self.settle()

    def view(self, *, visible: bool) -> None:
        """Show the panel in a front end, or hide it there; front ends report how many views a widget has."""
        self.panel.box.set_state({"_view_count": int(visible)})

    def look(self) -> None:
        """Let the panel refresh."""
        self.panel.model.refresh()
        self.settle()

    def settle(self) -> None:
        """Wait until all that was requested is done."""
        finish(self.panel.model.worker)


def finish(worker: PanelWorker) -> threading.Thread:
    """Wait until a worker has done its jobs; return its thread."""
    threads: list[threading.Thread] = []
    ended = threading.Event()
    worker.submit(lambda: threads.append(threading.current_thread()))
    worker.submit(ended.set)
    assert ended.wait(SECONDS)
    return threads[0]


def _plain(html: str) -> str:
    return re.sub("<[^>]*>", "", html)


def _visible(widget: Widget) -> Iterator[Widget]:
    if widget.layout.display == "none":
        return
    yield widget
    if isinstance(widget, Box):
        for child in widget.children:
            yield from _visible(child)
