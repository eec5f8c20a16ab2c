"""Display results, handles and settings: the grid of a DataFrame, and small fact tables.

HTML uses the colours and fonts of the front end's theme; every value is escaped.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.display.grid import Grid, ResultOf, is_lines
from svc_jupyter.magics.display.progress import in_kernel, plural
from svc_jupyter.widgets.panels.rendering import NO_MATHS

if TYPE_CHECKING:
    import pandas as pd
    from IPython.core.interactiveshell import InteractiveShell

_LEFT = "text-align: left"
_LINES = f"{_LEFT}; white-space: pre-wrap"


class Shown:
    """Shows one DataFrame as a grid, once: the display of the cell that made it.

    It is set as the DataFrame's own `_repr_mimebundle_`, so the cell's value is the plain DataFrame and pandas displays
    it from then on. A formatter that the user registered for DataFrames takes precedence.
    """

    def __init__(self, frame: pd.DataFrame, rows: int, result: ResultOf | None, *, terminal: bool) -> None:
        self._frame = weakref.ref(frame)
        self._rows = rows
        self._result = result
        self._terminal = terminal

    def __call__(self, **_chosen: Any) -> dict[str, Any]:
        """Return the representations for the front end."""
        frame = self._frame()
        if frame is None:
            return {}
        vars(frame).pop("_repr_mimebundle_", None)
        grid = Grid(frame, self._rows, self._result)
        return {"text/plain": grid.text()} if self._terminal else grid.bundle()


def limit_display(
    frame: pd.DataFrame, rows: int | None, default: int, shell: InteractiveShell, result: ResultOf | None = None
) -> None:
    """Show a DataFrame as a grid at its next display: the first and last of `rows` rows.

    `result` is the command whose stored result it is. In a terminal, pandas' own limits apply unless `rows` was given.
    """
    terminal = not in_kernel(shell)
    if terminal and rows is None and not is_lines(frame):
        return
    limit = default if rows is None else rows
    object.__setattr__(frame, "_repr_mimebundle_", Shown(frame, limit, result, terminal=terminal))


def size_text(frame: pd.DataFrame) -> str:
    """Return `336,776 rows × 19 columns`, for lines of text `12 lines`, or `no rows` without columns."""
    rows, columns = frame.shape
    if not columns:
        return "no rows"
    if is_lines(frame):
        return f"{rows:,} {plural('line', rows)}"
    return f"{rows:,} {plural('row', rows)} × {columns:,} {plural('column', columns)}"


class Facts:
    """A small table of names and values, with a title."""

    def __init__(self, title: str, facts: Iterable[tuple[str, str]]) -> None:
        self.title = title
        self.facts: Sequence[tuple[str, str]] = list(facts)

    def __repr__(self) -> str:
        return facts_text(self.title, self.facts)

    def _repr_html_(self) -> str:
        return facts_html(self.title, self.facts)


def facts_text(title: str, facts: Sequence[tuple[str, str]]) -> str:
    """Return names and values as aligned lines under a title."""
    width = max((len(name) for name, _ in facts), default=0)
    return "\n".join([title, *(f"  {name:<{width}}  {_indented(value, width + 4)}" for name, value in facts)])


def _indented(value: str, width: int) -> str:
    """Return a value with its continuation lines indented."""
    return value.replace("\n", "\n" + " " * width)


def facts_html(title: str, facts: Sequence[tuple[str, str]]) -> str:
    """Return names and values as a table with a caption."""
    rows = "".join(
        f'<tr><th scope="row" style="{_LEFT}">{escape(name)}</th><td style="{_LINES}">{escape(value)}</td></tr>'
        for name, value in facts
    )
    return f'<table class="{NO_MATHS}"><caption style="{_LEFT}">{escape(title)}</caption><tbody>{rows}</tbody></table>'


def publish(frame: pd.DataFrame, shell: InteractiveShell) -> None:
    """Display a DataFrame that is not the value of the cell."""
    formatter = shell.display_formatter
    assert formatter is not None
    data, metadata = formatter.format(frame)  # type: ignore[no-untyped-call]  # IPython's is not annotated
    shell.display_pub.publish(data, metadata)
