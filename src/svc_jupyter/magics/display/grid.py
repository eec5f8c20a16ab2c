"""A DataFrame in a saved notebook: a static grid in HTML, a table of text, and the first rows for JupyterLab's grid.

All three together stay below 50 kB in the notebook's file, whatever the DataFrame has. The HTML brings its own style,
since a front end without our extension has none, and uses the front end's theme where it has one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from svc_jupyter.api.result_forms import unique_names
from svc_jupyter.magics.display.lists import STATUSES, class_of, in_words
from svc_jupyter.magics.display.lists import STYLE as LIST_STYLE
from svc_jupyter.magics.display.values import (
    NUMERIC,
    cut,
    is_composed,
    json_value,
    one_line,
    readable,
    shown_values,
    type_of,
    values_of,
    zones_of,
)
from svc_jupyter.widgets.panels.rendering import NO_MATHS

if TYPE_CHECKING:
    import pandas as pd

RESULT = "application/vnd.svc-jupyter.result+json"
_HTML_BYTES, _TEXT_BYTES, _JSON_BYTES = 22_000, 5_000, 20_000
MOST_ROWS, _MOST_COLUMNS = 100, 200
"""Rows of `RESULT`, and columns that are considered at all."""
_DEPTH = 12
"""Bytes of the indentation with which a notebook's file writes a cell of `RESULT`."""
_LEVELS = ((200, 1000), (100, 300), (60, 0))
"""Longest cell and longest tooltip: the first pair that fits is taken."""
_FEW = 20
_ANY_LENGTH = 1 << 30
_LONGEST_READ = 10_000
_VISIBLE = 40
"""A text of more characters may be cut by its column's width, so it has a tooltip."""
_STYLE = """<style>
.svc-grid.svc-grid{max-height:400px;max-width:100%;width:fit-content;overflow:auto;box-sizing:border-box;\
border:1px solid var(--jp-border-color2,#8886);color:var(--jp-ui-font-color1,var(--vscode-foreground,CanvasText))}
.svc-grid.svc-grid table{border-collapse:separate;border-spacing:0;margin:0;border:0;font-size:12px;table-layout:auto}
.svc-grid.svc-grid :is(td,th){max-width:26em;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;\
padding:3px 10px;text-align:left;line-height:18px;border:0;border-bottom:1px solid var(--jp-border-color3,#8883);\
unicode-bidi:plaintext}
.svc-grid.svc-grid .l{max-width:none;white-space:pre;font-family:var(--jp-code-font-family,monospace)}
.svc-grid.svc-grid .n{text-align:right;font-variant-numeric:tabular-nums}
.svc-grid.svc-grid :is(.e,.g){color:var(--jp-ui-font-color2,GrayText)}
.svc-grid.svc-grid tr{background:none}
.svc-grid.svc-grid th{background:var(--jp-layout-color2,var(--vscode-editorWidget-background,Canvas));position:sticky;\
left:0;font-weight:400}
.svc-grid.svc-grid thead th{top:0;z-index:1;font-weight:600;left:auto}
.svc-grid.svc-grid thead th:first-child{left:0;z-index:2}
.svc-grid-foot{font-size:12px;color:var(--jp-ui-font-color2,GrayText);padding:2px 0}
</style>"""


@dataclass(frozen=True)
class ResultOf:
    """The stored result whose rows are shown.

    `name` is the variable that has it, `types` are the engine's names of its columns' types, and `part` is which of
    several tables of the command it is: a number, from 1, by the name of the service's parameter.
    """

    command: int
    created_at: str
    name: str | None = None
    seconds: float | None = None
    types: Sequence[str] = ()
    part: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Column:
    name: str
    type: str
    values: list[Any]

    @property
    def zone(self) -> str:
        """The zone of all its times; empty for times without one, or of several."""
        zones = zones_of(self.values) if self.type == "timestamp" else set()
        return zones.pop() if len(zones) == 1 else ""


class Grid:
    """The representations of a DataFrame: the first and the last of `rows` rows.

    `more` is the number of rows after those of the DataFrame, which are not at hand; None where it is not known. Then
    there are only first rows. A list of the service's things is shown in words (`is_list`), and blank where it has no
    value; a result has `null` there.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        rows: int,
        result: ResultOf | None = None,
        *,
        more: int | None = 0,
        is_list: bool = False,
    ) -> None:
        self._frame = in_words(frame) if is_list else frame
        self._is_list = is_list
        self._count = len(frame) + (more or 0)
        self._more = more
        self._rows = max(rows, 0)
        self._result = result
        count = len(frame)
        self._head = list(range(min(count, max(MOST_ROWS if result else 0, self._rows))))
        self._tail = list(range(max(len(self._head), count - self._rows // 2), count))

    def bundle(self) -> dict[str, Any]:
        """Return the representations by media type."""
        shown: dict[str, Any] = {"text/plain": self.saved_text(), "text/html": self.html()}
        if self._result is not None:
            shown[RESULT] = self.result(self._result)
        return shown

    # ------------------------------------------------------------------------------------------------ its values

    @cached_property
    def _is_lines(self) -> bool:
        return is_lines(self._frame)

    @cached_property
    def _part(self) -> pd.DataFrame:
        """The rows that may be shown, of the columns that may be shown."""
        return _bounded(self._frame.iloc[self._head + self._tail, :_MOST_COLUMNS])

    @cached_property
    def _columns(self) -> list[_Column]:
        part = self._part
        declared = self._result.types if self._result and len(self._result.types) == self._frame.shape[1] else ()
        columns = []
        names = unique_names([str(name) for name in self._frame.columns])
        for place, name in enumerate(names[: part.shape[1]]):
            values = values_of(part.iloc[:, place])
            kind = type_of(part.iloc[:, place], values, declared[place] if declared else "")
            columns.append(_Column(name, kind, values))
        return columns

    def _ends(self, rows: int) -> tuple[list[int], list[int]]:
        """Return the positions within `_part` of the first and the last of `rows` rows."""
        count = len(self._head) + len(self._tail)
        if self._more != 0:
            return list(range(min(rows, count))), []
        if len(self._frame) <= rows:
            return list(range(count)), []
        return list(range(-(-rows // 2))), list(range(count - rows // 2, count))

    def _gap(self, shown: int, noun: str) -> str:
        """Return how many rows are left out; an empty text when none is."""
        if self._more is None:
            return f"… more {noun}s"
        hidden = self._count - shown
        return f"… {hidden:,} more {noun if hidden == 1 else f'{noun}s'}" if hidden else ""

    def _label(self, position: int) -> str:
        return cut(str(self._part.index[position]), _VISIBLE)

    # ----------------------------------------------------------------------------------------------------- HTML

    def html(self) -> str:
        """Return the static grid, with fewer rows and columns where it would be too large."""
        rows, columns = self._rows, min(self._frame.shape[1], _MOST_COLUMNS)
        longest, tooltip = _LEVELS[0]
        for longest, tooltip in _LEVELS:
            text = self._html(rows, columns, longest, tooltip)
            if _size(text) <= _HTML_BYTES:
                return text
        while _size(text) > _HTML_BYTES and (rows > 2 or columns > 1):
            share = 0.95 * _HTML_BYTES / _size(text)
            if rows > _FEW:
                rows = max(_FEW, int(rows * share))
            elif columns > 1:
                columns = max(1, int(columns * share))
            else:
                rows = max(2, int(rows * share))
            text = self._html(rows, columns, longest, tooltip)
        return text

    def _html(self, rows: int, columns: int, longest: int, tooltip: int) -> str:
        head, tail = self._ends(rows)
        shown = self._columns[:columns]
        cells = [self._cells_html(column, [*head, *tail], longest, tooltip) for column in shown]
        lines = [
            f"<tr><th scope=row>{escape(self._label(position), quote=False)}</th>{''.join(row)}</tr>"
            for position, row in zip([*head, *tail], zip(*cells, strict=True), strict=bool(cells))
        ]
        if gap := self._gap(len(head) + len(tail), "row"):
            lines.insert(len(head), f"<tr><th></th><td class=g colspan={max(len(shown), 1)}>{gap}</td></tr>")
        names = "".join(map(_head_html, shown))
        style = f"{_STYLE}{LIST_STYLE}" if self._is_list else _STYLE
        box = f'<div class="svc-grid {NO_MATHS}" style="max-height: 400px; overflow: auto" tabindex="0" role="region"'
        return (
            f'{style}{box} aria-label="result"><table><thead><tr><th></th>{names}</tr></thead>'
            f"<tbody>{''.join(lines)}</tbody></table></div>{self._foot_html(len(head), len(tail), len(shown))}"
        )

    def _cells_html(self, column: _Column, positions: list[int], longest: int, tooltip: int) -> list[str]:
        values = [column.values[position] for position in positions]
        wide = longest if not self._is_lines else max(longest, 5 * longest)
        texts = shown_values(values, column.type, column.name, wide)
        start = "<td class=n>" if column.type in NUMERIC else "<td class=l>" if self._is_lines else "<td>"
        null = "" if self._is_list else "null"
        missing = f'<td class="n e">{null}</td>' if column.type in NUMERIC else f"<td class=e>{null}</td>"
        has_statuses = self._is_list and column.name in STATUSES
        cells = []
        for value, text in zip(values, texts, strict=True):
            if text is None:
                cells.append(missing)
            elif has_statuses and (tone := class_of(text)):
                cells.append(f"<td class={tone}>{escape(text, quote=False)}</td>")
            elif len(text) > _VISIBLE and tooltip and not self._is_lines:
                whole = shown_values([value], column.type, column.name, tooltip)[0] or ""
                cells.append(f'{start[:-1]} title="{escape(whole)}">{escape(text, quote=False)}</td>')
            else:
                cells.append(f"{start}{escape(text, quote=False)}</td>")
        return cells

    def _foot_html(self, head: int, tail: int, columns: int) -> str:
        foot = self._foot(head, tail, columns)
        return f'<div class="svc-grid-foot">{foot}</div>' if foot else ""

    def _foot(self, head: int, tail: int, columns: int) -> str:
        """Return what is not shown; an empty text when all is."""
        count, of_columns = self._count, self._frame.shape[1]
        parts = []
        if head + tail < count or self._more is None:
            last = f" and {count - tail + 1:,} to {count:,}" if tail else ""
            first = f"1 to {head:,}" if head else "none"
            parts.append(f"rows {first}{last}{'' if self._more is None else f' of {count:,}'}")
        if columns < of_columns:
            parts.append(f"{columns:,} of {of_columns:,} columns")
        return " · ".join(parts)

    # ----------------------------------------------------------------------------------------------------- text

    def text(self, *, longest_line: int | None = None) -> str:
        """Return the grid as text: lines as they are, other tables in pandas' form."""
        return self._lines_text(longest_line) if self._is_lines else self._frame_text()

    def saved_text(self) -> str:
        """Return the text within the bytes that a notebook's file has for it."""
        return _within(
            self.text(longest_line=max(_TEXT_BYTES // (min(self._rows, len(self._frame)) + 1), 4 * _VISIBLE))
        )

    def _lines_text(self, longest: int | None) -> str:
        head, tail = self._ends(self._rows)
        [column] = self._columns
        width = max((len(self._label(position)) for position in [*head, *tail]), default=0)
        lines = [
            f"{self._label(position):<{width}}  {one_line(str(column.values[position]), longest or _ANY_LENGTH)}"
            for position in [*head, *tail]
        ]
        if gap := self._gap(len(head) + len(tail), "line"):
            lines.insert(len(head), f"{'':<{width}}  {gap}")
        return "\n".join([f"{'':<{width}}  line", *lines])

    def _frame_text(self) -> str:
        import pandas as pd

        # One row more at either end than is shown, so that pandas marks the gap.
        rows = self._rows
        shown = self._frame
        if not rows:
            return repr(shown.iloc[:0, :_MOST_COLUMNS])
        if self._more != 0:
            shown = shown.iloc[:rows]
        elif len(shown) > rows:
            positions = [*range(rows // 2 + 2), *range(max(rows // 2 + 2, len(shown) - rows // 2 - 2), len(shown))]
            shown = shown.iloc[positions]
        shown = with_readable_cells(_bounded(shown.iloc[:, :_MOST_COLUMNS]))
        if self._is_list:
            shown = shown.astype(object).where(shown.notna(), "")
        options = ("display.max_rows", rows, "display.min_rows", rows, "display.show_dimensions", False)
        with pd.option_context(*options):
            text = repr(shown)
        count, columns = self._count, self._frame.shape[1]
        if count > rows or columns > _MOST_COLUMNS:
            text = f"{text}\n\n[{count:,} rows x {columns:,} columns]"
        return text

    # ----------------------------------------------------------------------------------------------------- JSON

    def result(self, result: ResultOf) -> dict[str, Any]:
        """Return the first rows for a front end that can fetch the others from the service."""
        head = self._head[:MOST_ROWS]
        described = [{"name": column.name, "type": column.type} for column in self._columns]
        cells = [[json_value(column.values[row], column.type) for row in head] for column in self._columns]
        sizes = [_json_size(one) + 4 * _DEPTH for one in described]
        taken, left = 0, _JSON_BYTES
        for size, values in zip(sizes, cells, strict=True):
            left -= size + (_json_size(values[0]) + _DEPTH if values else 0)
            if left < 0 and taken:
                break
            taken += 1
        left = _JSON_BYTES - sum(sizes[:taken])
        rows: list[list[Any]] = []
        for row in zip(*cells[:taken], strict=True):
            left -= sum(_json_size(value) + _DEPTH for value in row) + 2 * _DEPTH
            if left < 0 and rows:
                break
            rows.append(list(row))
        total, of_columns = self._count, self._frame.shape[1]
        bundle: dict[str, Any] = {
            "version": 1,
            "command": result.command,
            "created_at": result.created_at,
            "name": result.name,
            "seconds": result.seconds,
            "status": "done",
            "total": total,
            "columns": described[:taken],
            "rows": rows,
            "truncated": len(rows) < total or taken < of_columns or self._more is None,
        }
        if result.part:
            bundle["part"] = dict(result.part)
        if taken < of_columns:
            bundle["total_columns"] = of_columns
        return bundle


def is_lines(frame: pd.DataFrame) -> bool:
    """Whether a DataFrame is the plain output of a shell command."""
    return list(frame.columns) == ["line"]


def _head_html(column: _Column) -> str:
    name = escape(one_line(column.name, 2 * _VISIBLE), quote=False)
    if column.zone:
        name += f' <span class=e style="font-weight: 400">{escape(column.zone, quote=False)}</span>'
    return f'<th scope=col title="{column.type}"{" class=n" if column.type in NUMERIC else ""}>{name}</th>'


def _bounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with its longest texts cut before they become Python objects: a cell may have 10 MB."""
    import pandas as pd

    bounded = frame
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if isinstance(column.dtype, pd.StringDtype) and (column.str.len() > _LONGEST_READ).any():
            bounded = frame.copy(deep=False) if bounded is frame else bounded
            bounded.isetitem(place, column.str.slice(0, _LONGEST_READ))  # type: ignore[arg-type]  # as below
    return bounded


def with_readable_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with nested cells as texts and long texts cut; the same object if there are none."""
    import pandas as pd

    shown = frame
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if column.dtype != object and not isinstance(column.dtype, pd.StringDtype):
            continue
        values = column.tolist()
        texts = [_short(value) for value in values]
        if all(text is value for text, value in zip(texts, values, strict=True)):
            continue
        if shown is frame:
            shown = frame.copy(deep=False)
        # A list or an array would turn nulls into NaN; pandas accepts a Series, but its stubs do not say so.
        kept = pd.Series(texts, index=column.index, dtype="object")
        shown.isetitem(place, kept)  # type: ignore[arg-type]
    return shown


def _short(value: Any) -> Any:
    if is_composed(value):
        return readable(value)
    return cut(value, _LEVELS[0][0]) if isinstance(value, str) and len(value) > _LEVELS[0][0] else value


def _size(text: str) -> int:
    """Return the bytes of a text as a JSON string."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))


def _json_size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _within(text: str) -> str:
    """Return a text cut to the bytes that a notebook's file has for it, at a line's end."""
    if _size(text) <= _TEXT_BYTES:
        return text
    kept: list[str] = []
    left = _TEXT_BYTES
    for line in text.split("\n"):
        left -= _size(line)
        if left < 0:
            break
        kept.append(line)
    return "\n".join([*kept, "…"])
