"""The `z` of a notebook's paragraph, and how it shows values."""

from __future__ import annotations

import base64
import io
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from .arrow_types import in_arrow_types
from .messages import HTML, TABLE, TEXT, Messages
from .tables import table_of, write_table

ROWS = 1000
"""Rows of a table, unless the paragraph says `(limit=…)` or `z.show` does."""
_SHARED: dict[str, Any] = {}
"""What `z.put` keeps for later paragraphs of the session."""
# Figures are shown below the paragraph, never in a window.
os.environ.setdefault("MPLBACKEND", "Agg")


class NotebookContext:
    """The `z` of one paragraph: the values it shows, the forms it declares, the paragraphs it asks to run."""

    def __init__(self, spark: SparkSession, note: Mapping[str, Any], messages: Messages, folder: Path) -> None:
        """`note` holds the forms' `values` by name and the `limit` of rows; tables are written into `folder`."""
        self._spark = spark
        self._values: Mapping[str, Any] = note.get("values") or {}
        self._limit = int(note.get("limit") or ROWS)
        self._messages = messages
        self._folder = folder
        self._forms: dict[str, dict[str, Any]] = {}
        self._calls: list[str] = []
        self._tables = 0

    # What paragraphs call.

    def show(self, value: Any, limit: int | None = None) -> None:
        """Show a value below the paragraph: a DataFrame as a table, a figure as a picture, HTML as such, else text."""
        if isinstance(value, DataFrame):
            self._show_rows(in_arrow_types(value.limit((limit or self._limit) + 1)).toArrow(), limit or self._limit)
        elif (table := table_of(value)) is not None:
            self._show_rows(table, limit or self._limit)
        elif hasattr(value, "savefig"):
            self._show_figure(value)
        elif callable(getattr(value, "_repr_html_", None)) and (text := value._repr_html_()) is not None:
            self._messages.emit(HTML, str(text))
        elif value is not None:
            self._messages.emit(TEXT, f"{value if isinstance(value, str) else repr(value)}\n")

    def html(self, text: str) -> None:
        """Show HTML below the paragraph."""
        self._messages.emit(HTML, str(text))

    def textbox(self, name: str, default: Any = "") -> Any:
        """Return the value of a form: the run's argument of that name, else the default."""
        self._declare(name, "TextBox", default)
        return _like(default, self._values.get(name, default), name)

    input = textbox

    def password(self, name: str) -> str:
        """Return the value of a form that is stored nowhere."""
        self._declare(name, "Password", None)
        return str(self._values.get(name, ""))

    def select(self, name: str, *given: Any, default: Any = "", options: Sequence[Any] = ()) -> Any:
        """Return the chosen option. Options are values, or pairs of a value and its label."""
        default, options = _default_and_options(given, default, options)
        pairs = _pairs(options)
        self._declare(name, "Select", default, pairs)
        return _chosen(name, self._values.get(name, default), pairs, also=default)

    def checkbox(self, name: str, *given: Any, default: Sequence[Any] = (), options: Sequence[Any] = ()) -> list[Any]:
        """Return the chosen options, all of them without an argument or default."""
        lists = [one for one in given if isinstance(one, list | tuple)]
        options = lists[0] if lists else options
        default = lists[1] if len(lists) > 1 else default
        pairs = _pairs(options)
        standard = list(default) or [value for value, _ in pairs]
        self._declare(name, "CheckBox", standard, pairs)
        value = self._values.get(name, standard)
        wanted = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else list(value)
        return [_chosen(name, one, pairs) for one in wanted]

    def run(self, paragraph: str | int) -> None:
        """Run another paragraph of the note, by its id or its number from 1, once this one has ended."""
        self._calls.append(str(paragraph))

    def put(self, name: str, value: Any) -> None:
        """Keep a value for later paragraphs of the session."""
        _SHARED[name] = value

    def get(self, name: str, default: Any = None) -> Any:
        """Return what `put` kept, else the default."""
        return _SHARED.get(name, default)

    # What the session calls.

    def record(self) -> dict[str, Any]:
        """Show the remaining figures, and return the `forms` and `calls` of the paragraph."""
        self._show_open_figures()
        return {"forms": self._forms, "calls": self._calls}

    def declare(self, forms: Iterable[tuple[str, str, Any, Sequence[tuple[Any, str]]]], calls: Iterable[str]) -> None:
        """Add forms and calls that code in another language declared."""
        for name, kind, default, pairs in forms:
            self._declare(name, kind, default, pairs)
        self._calls += calls

    @property
    def values(self) -> Mapping[str, Any]:
        """The forms' values by name."""
        return self._values

    def _declare(self, name: str, kind: str, default: Any, pairs: Sequence[tuple[Any, str]] = ()) -> None:
        form: dict[str, Any] = {"type": kind, "name": name, "displayName": name, "hidden": False}
        if default is not None:
            form["defaultValue"] = default
        if pairs:
            form["options"] = [{"value": value, "displayName": shown} for value, shown in pairs]
        self._forms[name] = form

    def _show_rows(self, rows: pa.Table, limit: int) -> None:
        is_cut = rows.num_rows > limit
        self._tables += 1
        name = f"shown-{self._tables}.arrow"
        kept, told = write_table(rows.slice(0, limit), self._folder / name)
        lines = ["\t".join(map(_cell, kept.column_names))]
        cells = [[_cell(one) for one in column.to_pylist()] for column in kept.columns]
        lines += ["\t".join(row) for row in zip(*cells, strict=True)]
        self._messages.emit(TABLE, "\n".join(lines) + "\n", rows=name)
        for line in told:
            self._messages.emit(TEXT, f"{line}\n")
        if is_cut:
            self._messages.emit(TEXT, f"the first {limit:,} rows are shown; (limit=N) behind the language shows N\n")

    def _show_figure(self, figure: Any) -> None:
        picture = io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches="tight")
        data = base64.b64encode(picture.getvalue()).decode("ascii")
        self._messages.emit(HTML, f'<img alt="figure" src="data:image/png;base64,{data}">')

    def _show_open_figures(self) -> None:
        plots = sys.modules.get("matplotlib.pyplot")
        if plots is None:
            return
        for number in plots.get_fignums():
            self._show_figure(plots.figure(number))
        plots.close("all")


def _cell(value: Any) -> str:
    """Return a value as a field of tab-separated text."""
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return value.hex()
    return str(value).replace("\t", " ").replace("\r\n", " ").replace("\n", " ").replace("\r", " ")


def _like(default: Any, value: Any, name: str) -> Any:
    """Return a value in the type of the form's default, as a number if that is one."""
    if not isinstance(value, str) or isinstance(default, str) or default is None:
        return value
    try:
        return value.strip().lower() == "true" if isinstance(default, bool) else type(default)(value)
    except (TypeError, ValueError):
        raise ValueError(f"form {name} takes a {type(default).__name__}, as its default {default!r} is one") from None


def _default_and_options(given: tuple[Any, ...], default: Any, options: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """Accept a default and options in either order: both are in use."""
    for one in given:
        if isinstance(one, list | tuple):
            options = one
        else:
            default = one
    return default, options


def _pairs(options: Sequence[Any]) -> list[tuple[Any, str]]:
    return [
        (one[0], str(one[1])) if isinstance(one, list | tuple) and len(one) == 2 else (one, str(one)) for one in options
    ]


def _chosen(name: str, value: Any, pairs: Sequence[tuple[Any, str]], also: Any = None) -> Any:
    for option, _ in pairs:
        if value == option or str(value) == str(option):
            return option
    if also is not None and value == also:
        return value
    there = ", ".join(str(option) for option, _ in pairs) or "none"
    raise ValueError(f"form {name} has no such option; there are {there}")
