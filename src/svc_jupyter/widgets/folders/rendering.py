"""The folder browser as text and HTML: pure functions of its rows.

HTML takes its colours and fonts from the front end's theme, and every value is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from svc_jupyter.widgets.folders.branches import Line, Row
from svc_jupyter.widgets.folders.items import Item, Kind

OPEN, CLOSED = "▾", "▸"
_MORE_BELOW = "%svc_folders list FOLDER shows what is in one; %svc_folders --help what can be done"


def row_text(row: Row) -> str:
    """Return a row's line without its indentation."""
    if row.line is Line.EMPTY:
        return "(nothing in it)" if row.item.kind is Kind.FOLDER else "(none that you may read)"
    if row.line is Line.MORE:
        return "Show more …"
    mark = (OPEN if row.is_open else CLOSED) if row.item.opens else " "
    return f"{mark} {row.item.name}"


def row_title(row: Row) -> str:
    """Return a row's tooltip, which screen readers read: the icon alone does not name the kind."""
    item = row.item
    if row.line is not Line.ITEM:
        return f"more of {item.location or item.name}" if row.line is Line.MORE else row_text(row)
    if item.kind is Kind.TREE:
        return f"folders of {item.name.lower()}"
    state = f", {'open' if row.is_open else 'closed'}" if item.opens else ""
    return f"{item.kind} {item.location} ({item.id}){state}"


def item_text(item: Item | None) -> str:
    """Return the selected item."""
    if item is None or item.kind is Kind.TREE:
        return "Choose a folder, note or dashboard to do something with it."
    return f"{item.kind} {item.location} · id {item.id}"


def panel_text(rows: Sequence[Row]) -> str:
    """Return the whole browser as text, for front ends without widgets."""
    lines = []
    for row in rows:
        about = f"  ({row.item.kind} {row.item.id})" if row.line is Line.ITEM and row.item.kind is not Kind.TREE else ""
        lines.append(f"{'  ' * row.depth}{row_text(row)}{about}".rstrip())
    return "\n".join([*lines, _MORE_BELOW])


def selected_html(item: Item | None) -> str:
    """Return the selected item; muted when no step is possible for it."""
    text = escape(item_text(item))
    if item is None or item.kind is Kind.TREE:
        return f'<span style="color: var(--jp-ui-font-color2)">{text}</span>'
    return text
