"""How results, handles and settings look: the first rows of a DataFrame, and small tables of facts.

HTML takes its colours and fonts from the front end's theme, and every value is escaped.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.display.nested_values import with_readable_cells
from svc_jupyter.magics.display.progress import in_kernel, plural
from svc_jupyter.widgets.panels.rendering import NO_MATHS

if TYPE_CHECKING:
    import pandas as pd
    from IPython.core.interactiveshell import InteractiveShell

_PREFORMATTED = "text-align: left; white-space: pre; font-family: var(--jp-code-font-family, monospace)"
_LEFT = "text-align: left"
_LINES = f"{_LEFT}; white-space: pre-wrap"


class FirstRows:
    """Shows the first rows of one DataFrame, once: the display of the cell that made it.

    Set as the DataFrame's own `_repr_mimebundle_`, so that the cell's value is the plain DataFrame and pandas shows
    it as always from then on; a formatter that the user registered for DataFrames goes first.
    """

    def __init__(self, frame: pd.DataFrame, rows: int, *, terminal: bool) -> None:
        self._frame = weakref.ref(frame)
        self._rows = rows
        self._terminal = terminal

    def __call__(self, **_chosen: Any) -> dict[str, str]:
        """Return the representations that the front end can choose from."""
        frame = self._frame()
        if frame is None:
            return {}
        vars(frame).pop("_repr_mimebundle_", None)
        shown = with_readable_cells(frame.head(self._rows))
        lines = is_lines(frame)
        if self._terminal:
            return {"text/plain": _lines_text(shown) if lines else shown.to_string(max_rows=None)}
        if lines:
            return {"text/plain": _lines_text(shown), "text/html": _lines_html(shown)}
        return {"text/plain": repr(shown), "text/html": _frame_html(shown)}


def is_lines(frame: pd.DataFrame) -> bool:
    """Whether a DataFrame is the plain output of a shell command."""
    return list(frame.columns) == ["line"]


def limit_display(frame: pd.DataFrame, rows: int | None, default: int, shell: InteractiveShell) -> int | None:
    """Limit the next display of a DataFrame to some rows; return how many it will show, None when pandas decides.

    In a terminal columns follow pandas' own limits unless `rows` was asked for: a thousand lines help nobody there.
    """
    terminal = not in_kernel(shell)
    if terminal and rows is None and not is_lines(frame):
        return None
    limit = default if rows is None else rows
    object.__setattr__(frame, "_repr_mimebundle_", FirstRows(frame, limit, terminal=terminal))
    return min(limit, len(frame))


def size_text(frame: pd.DataFrame) -> str:
    """Return `336,776 rows × 19`; a statement that returns nothing has no columns."""
    if not len(frame.columns):
        return "no rows"
    return f"{len(frame):,} {plural('row', len(frame))} × {len(frame.columns):,}"


def _frame_html(frame: pd.DataFrame) -> str:
    import pandas as pd

    columns = pd.get_option("display.max_columns") or None
    return frame.to_html(border=0, max_cols=columns, show_dimensions=False, classes=NO_MATHS)


def _lines_html(frame: pd.DataFrame) -> str:
    rows = "".join(
        f'<tr><th>{escape(str(label))}</th><td style="{_PREFORMATTED}">{escape(str(line))}</td></tr>'
        for label, line in zip(frame.index, frame["line"], strict=True)
    )
    head = f'<thead><tr><th></th><th style="{_LEFT}">line</th></tr></thead>'
    return f'<table class="dataframe {NO_MATHS}">{head}<tbody>{rows}</tbody></table>'


def _lines_text(frame: pd.DataFrame) -> str:
    labels = [str(label) for label in frame.index]
    width = max((len(label) for label in labels), default=0)
    rows = [f"{label:<{width}}  {line}" for label, line in zip(labels, frame["line"], strict=True)]
    return "\n".join([f"{'':<{width}}  line", *rows])


class Facts:
    """A small table of names and values for people; `title` says of what."""

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
    """Return a value whose further lines stand below its first."""
    return value.replace("\n", "\n" + " " * width)


def facts_html(title: str, facts: Sequence[tuple[str, str]]) -> str:
    """Return names and values as a table with a caption."""
    rows = "".join(
        f'<tr><th scope="row" style="{_LEFT}">{escape(name)}</th><td style="{_LINES}">{escape(value)}</td></tr>'
        for name, value in facts
    )
    return f'<table class="{NO_MATHS}"><caption style="{_LEFT}">{escape(title)}</caption><tbody>{rows}</tbody></table>'
