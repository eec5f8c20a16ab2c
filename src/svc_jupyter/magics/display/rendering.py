"""Display results, handles and settings: the grid of a DataFrame, and small fact tables.

HTML uses the colours and fonts of the front end's theme; every value is escaped.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, TypeGuard

from svc_jupyter.magics.display.grid import MOST_ROWS, Grid, ResultOf, is_lines
from svc_jupyter.magics.display.progress import in_kernel, plural
from svc_jupyter.sizes import readable_size
from svc_jupyter.widgets.panels.rendering import NO_MATHS

if TYPE_CHECKING:
    import pandas as pd
    from IPython.core.interactiveshell import InteractiveShell

    from svc_jupyter.client import Result

_LEFT = "text-align: left"
_LINES = f"{_LEFT}; white-space: pre-wrap"
_ONE_LINE = f"{_LEFT}; white-space: nowrap"


class Shown:
    """Shows the value of a cell as a grid: a DataFrame once, in the display of the cell that made it.

    It is set as the DataFrame's own `_repr_mimebundle_`, so the cell's value is the plain DataFrame and pandas displays
    it from then on. A formatter that the user registered for DataFrames takes precedence. Of a result that the service
    keeps, each display shows the first rows.
    """

    def __init__(
        self, value: pd.DataFrame | Result, rows: int, result: ResultOf | None, *, is_list: bool, terminal: bool
    ) -> None:
        self._value = weakref.ref(value)
        self._rows = rows
        self._result = result
        self._is_list = is_list
        self._terminal = terminal

    def __call__(self, **_chosen: Any) -> dict[str, Any]:
        """Return the representations for the front end."""
        value = self._value()
        if value is None:
            return {}
        if is_kept(value):
            head = value.head(max(self._rows, MOST_ROWS))
            grid = Grid(head, self._rows, self._result, more=None if value.rows is None else value.rows - len(head))
        else:
            vars(value).pop("_repr_mimebundle_", None)
            assert is_frame(value)
            grid = Grid(value, self._rows, self._result, is_list=self._is_list)
        return {"text/plain": grid.text()} if self._terminal else grid.bundle()


class Hidden:
    """Shows nothing in the display of the cell that made a DataFrame; pandas displays it from then on."""

    def __init__(self, value: pd.DataFrame, shell: InteractiveShell) -> None:
        self._value = weakref.ref(value)
        self._shell = shell
        self._cell = shell.execution_count

    def __call__(self) -> None:
        """Display nothing, or in a later cell the DataFrame."""
        value = self._value()
        if value is None:
            return
        vars(value).pop("_ipython_display_", None)
        if self._shell.execution_count != self._cell:
            publish(value, self._shell)


def is_kept(value: pd.DataFrame | Result) -> TypeGuard[Result]:
    """Return whether the value of a cell is a result that was not loaded."""
    from svc_jupyter.client import Result

    return isinstance(value, Result)


def is_frame(value: pd.DataFrame | Result) -> TypeGuard[pd.DataFrame]:
    """Return whether the value of a cell is its rows."""
    return not is_kept(value)


def limit_display(
    value: pd.DataFrame | Result,
    rows: int | None,
    default: int,
    shell: InteractiveShell,
    result: ResultOf | None = None,
    *,
    is_list: bool = False,
) -> None:
    """Show a DataFrame as a grid at its next display: the first and last of `rows` rows; of a result the first rows.

    `result` is the command whose stored result it is; `is_list` says that it is a list of the service's things. In a
    terminal, pandas' own limits apply to a result unless `rows` was given. Where there is neither a column nor a line
    of text, that display shows nothing.
    """
    if is_frame(value) and (not value.shape[1] or (is_lines(value) and value.empty)):
        object.__setattr__(value, "_ipython_display_", Hidden(value, shell))
        return
    terminal = not in_kernel(shell)
    limit = default if rows is None else rows
    if is_frame(value) and terminal and rows is None and not is_list and not is_lines(value):
        return
    shown = Shown(value, limit, result, is_list=is_list, terminal=terminal)
    object.__setattr__(value, "_repr_mimebundle_", shown)


def shape_of(value: pd.DataFrame | Result) -> tuple[int | None, int]:
    """Return the numbers of rows and columns; of a text that was not loaded, its lines are not known."""
    if is_kept(value):
        return value.rows, value.head(0).shape[1]
    assert is_frame(value)
    return value.shape


def size_text(value: pd.DataFrame | Result) -> str:
    """Return `336,776 rows × 19 columns`, for lines of text `12 lines`, or `no rows` without columns.

    Of a result that was not loaded, the bytes follow that it would take as a DataFrame.
    """
    rows, columns = shape_of(value)
    size = f", {readable_size(value.pandas_nbytes() or 0)}" if is_kept(value) else ""
    if rows is None:
        return f"lines{size}"
    if not columns:
        return "no rows"
    if is_frame(value) and is_lines(value):
        return f"{rows:,} {plural('line', rows)}"
    return f"{rows:,} {plural('row', rows)} × {columns:,} {plural('column', columns)}{size}"


def kept_text(name: str | None, *, in_grid: bool = False, option: str = "--load-all") -> str:
    """Return where the rows of a result are that was not loaded, and how to get at them."""
    where = ", all of it is in JupyterLab's grid" if in_grid else ""
    load = f", or {'' if name else '-o df '}{option}" if option else ""
    return f"kept by the service{where} · {name or ''}.head() .batches() .to_pandas(){load}"


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
    return (
        f'<table class="{NO_MATHS}"><caption style="{_ONE_LINE}">{escape(title)}</caption><tbody>{rows}</tbody></table>'
    )


def publish(value: pd.DataFrame | Result, shell: InteractiveShell) -> None:
    """Display a DataFrame or a result that is not the value of the cell."""
    formatter = shell.display_formatter
    assert formatter is not None
    data, metadata = formatter.format(value)  # type: ignore[no-untyped-call]  # IPython's is not annotated
    if data:
        shell.display_pub.publish(data, metadata)
