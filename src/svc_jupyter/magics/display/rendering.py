"""Display results, handles and settings: the first rows of a DataFrame, and small fact tables.

HTML uses the colours and fonts of the front end's theme; every value is escaped.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

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

    It is set as the DataFrame's own `_repr_mimebundle_`, so the cell's value is the plain DataFrame and pandas displays
    it from then on. A formatter that the user registered for DataFrames takes precedence.
    """

    def __init__(self, frame: pd.DataFrame, rows: int, *, terminal: bool) -> None:
        self._frame = weakref.ref(frame)
        self._rows = rows
        self._terminal = terminal

    def __call__(self, **_chosen: Any) -> dict[str, str]:
        """Return the representations for the front end."""
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

    In a terminal, pandas' own column limits apply unless `rows` was given.
    """
    terminal = not in_kernel(shell)
    if terminal and rows is None and not is_lines(frame):
        return None
    limit = default if rows is None else rows
    object.__setattr__(frame, "_repr_mimebundle_", FirstRows(frame, limit, terminal=terminal))
    return min(limit, len(frame))


def size_text(frame: pd.DataFrame) -> str:
    """Return `336,776 rows × 19`, or `no rows` without columns."""
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


def with_readable_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with nested cells as texts; the same object if there are none."""
    nested = [place for place in range(frame.shape[1]) if _is_nested(frame.iloc[:, place])]
    if not nested:
        return frame
    import pandas as pd

    shown = frame.copy(deep=False)
    for place in nested:
        column = frame.iloc[:, place]
        texts = [readable(value) if _is_composed(value) else value for value in column]
        # A list or an array would turn nulls into NaN; pandas accepts a Series, but its stubs do not say so.
        kept = pd.Series(texts, index=column.index, dtype="object")
        shown.isetitem(place, kept)  # type: ignore[arg-type]
    return shown


def readable(value: Any) -> str:
    """Return `[1, 2]`, `{name: x, n: 1}`; a map, which is a list of pairs, as `{k: v}`."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {readable(item)}' for key, item in value.items())}}}"
    if not _is_composed(value):
        return "null" if value is None else str(value)
    items = list(value)
    if items and all(isinstance(item, tuple) and len(item) == 2 for item in items):
        return f"{{{', '.join(f'{key}: {readable(item)}' for key, item in items)}}}"
    return f"[{', '.join(map(readable, items))}]"


def _is_nested(column: pd.Series[Any]) -> bool:
    return column.dtype == object and any(map(_is_composed, column))


def _is_composed(value: Any) -> bool:
    """Return whether a cell holds several values; pyarrow returns a list as a NumPy array."""
    return isinstance(value, list | tuple | Mapping) or getattr(value, "ndim", 0) > 0
