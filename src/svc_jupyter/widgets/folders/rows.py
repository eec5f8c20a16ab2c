"""The rows of the folder browser as buttons: a press selects and opens, so that all rows are reachable by keyboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from svc_jupyter.widgets.folders.branches import Line, Row
from svc_jupyter.widgets.folders.items import Item, Key, Kind
from svc_jupyter.widgets.folders.rendering import row_text, row_title
from svc_jupyter.widgets.panels.frame import close_widgets

if TYPE_CHECKING:
    from ipywidgets import Button, ButtonStyle, Layout

RowKey = tuple[Line, Key]
_HEIGHT = "24em"
_INDENT_EM = 1.2
_OPEN, _CLOSED = "caret-down", "caret-right"
_ICONS = {Kind.NOTE: "file", Kind.DASHBOARD: "bar-chart"}
_TEXT = "var(--jp-ui-font-color1)"


class FolderRows:
    """A box with a button per row. An unchanged row keeps its button, and with it the keyboard focus."""

    def __init__(self, press: Callable[[Item], None], more: Callable[[Item], None]) -> None:
        import ipywidgets as widgets

        self._press = press
        self._more = more
        self._shown: dict[RowKey, tuple[Row, Button]] = {}
        self._layouts: dict[int, Layout] = {}
        self._plain = widgets.ButtonStyle(button_color="transparent", text_color=_TEXT)
        self._chosen = widgets.ButtonStyle(button_color="var(--jp-layout-color2)", text_color=_TEXT, font_weight="bold")
        border = "1px solid var(--jp-border-color2)"
        self.box = widgets.VBox(layout={"max_height": _HEIGHT, "overflow": "auto", "border": border})

    def draw(self, rows: Sequence[Row], chosen: Item | None) -> None:
        """Show these rows; `chosen` is highlighted."""
        shown: dict[RowKey, tuple[Row, Button]] = {}
        for row in rows:
            key = (row.line, row.item.key)
            button = self._shown[key][1] if key in self._shown else self._button(key)
            shown[key] = (row, button)
            is_chosen = row.line is Line.ITEM and chosen is not None and chosen.key == row.item.key
            self._set(button, row, self._chosen if is_chosen else self._plain)
        gone = [button for key, (_, button) in self._shown.items() if key not in shown]
        self._shown = shown
        children = tuple(button for _, button in shown.values())
        if self.box.children != children:
            self.box.children = children
        for button in gone:
            button.close()

    def focus(self, item: Item | None) -> None:
        """Scroll to the row of an item and focus it."""
        if item is not None and (Line.ITEM, item.key) in self._shown:
            self._shown[Line.ITEM, item.key][1].focus()

    def close(self) -> None:
        """Remove the rows."""
        for _, button in self._shown.values():
            button.close()
        for belonging in (*self._layouts.values(), self._plain, self._chosen):
            belonging.close()
        self._shown = {}
        close_widgets([self.box])

    def _button(self, key: RowKey) -> Button:
        import ipywidgets as widgets

        button = widgets.Button(style=self._plain, layout=self._layout(0))
        button.on_click(lambda _: self._pressed(key))
        return button

    def _set(self, button: Button, row: Row, style: ButtonStyle) -> None:
        wanted: dict[str, Any] = {
            "description": row.item.name if row.line is Line.ITEM else row_text(row),
            "tooltip": row_title(row),
            "icon": _icon(row),
            "disabled": row.line is Line.EMPTY,
            "layout": self._layout(row.depth),
            "style": style,
        }
        for name, value in wanted.items():
            if getattr(button, name) != value:
                setattr(button, name, value)

    def _layout(self, depth: int) -> Layout:
        import ipywidgets as widgets

        if depth not in self._layouts:
            self._layouts[depth] = widgets.Layout(
                width="auto",
                flex="0 0 auto",
                margin="0",
                padding=f"0 0.5em 0 {0.5 + depth * _INDENT_EM:.1f}em",
                display="flex",
                justify_content="flex-start",
                align_items="center",
            )
        return self._layouts[depth]

    def _pressed(self, key: RowKey) -> None:
        if key not in self._shown:
            return
        row, _ = self._shown[key]
        if row.line is Line.MORE:
            self._more(row.item)
        elif row.line is Line.ITEM:
            self._press(row.item)


def _icon(row: Row) -> str:
    if row.line is not Line.ITEM:
        return ""
    if row.item.opens:
        return _OPEN if row.is_open else _CLOSED
    return _ICONS[row.item.kind]
