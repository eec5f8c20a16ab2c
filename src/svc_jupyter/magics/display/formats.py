"""Parse shell output (TSV, CSV, JSON and printed tables) into a DataFrame with columns."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.display.printed_tables import NotATable, cells_of

if TYPE_CHECKING:
    import pandas as pd


class NotInFormat(ValueError):
    """The output is not in the requested format; the text says where and why."""


def parsed_frame(text: str, output_format: str) -> pd.DataFrame:
    """Return the DataFrame of a command's output; empty output has no columns.

    Raises NotInFormat when the text is not in `output_format` (one of `FORMATS`).
    """
    return FORMATS[output_format](text)


def split_lines(text: str) -> list[str]:
    """Return the lines of an output without their terminators; the last line may lack one."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _tsv(text: str) -> pd.DataFrame:
    return _separated(text, "\t", "TSV", csv.QUOTE_NONE)


def _csv(text: str) -> pd.DataFrame:
    return _separated(text, ",", "CSV", csv.QUOTE_MINIMAL)


def _separated(text: str, separator: str, name: str, quoting: Any) -> pd.DataFrame:
    import pandas as pd

    if not text.strip():
        return pd.DataFrame()
    try:
        frame = pd.read_csv(io.StringIO(text), sep=separator, quoting=quoting)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise NotInFormat(f"the output is not {name}: {str(error).strip()}") from None
    if not isinstance(frame.index, pd.RangeIndex):  # pandas takes surplus fields for an index
        surplus = frame.index.nlevels
        raise NotInFormat(f"the output is not {name}: line 2 has {surplus} more field(s) than line 1 names")
    return frame


def _json(text: str) -> pd.DataFrame:
    """One JSON array or object, or one JSON value per line."""
    import pandas as pd

    if not text.strip():
        return pd.DataFrame()
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        value = _json_lines(text, error)
    rows = value if isinstance(value, list) else [value]
    kinds = {type(row) for row in rows}
    if kinds <= {dict} or kinds <= {list}:
        return pd.DataFrame(rows)
    return pd.DataFrame({"value": rows})


def _json_lines(text: str, whole: json.JSONDecodeError) -> list[Any]:
    values: list[Any] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(json.loads(line))
        except json.JSONDecodeError as error:
            place = f"line {number}: {error.msg}" if values else f"line {whole.lineno}: {whole.msg}"
            raise NotInFormat(f"the output is not JSON, nor one JSON value per line: {place}") from None
    return values


def _table(text: str) -> pd.DataFrame:
    import pandas as pd

    try:
        names, rows = cells_of(split_lines(text))
    except NotATable as error:
        raise NotInFormat(f"the output is not a table: {error}") from None
    columns = {
        name: _numbers_or_text(pd.Series([row[place] for row in rows], dtype="str")) for place, name in enumerate(names)
    }
    return pd.DataFrame(columns)


def _numbers_or_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the column as numbers if every cell is a number."""
    import pandas as pd

    try:
        return pd.to_numeric(column)
    except ValueError:
        return column


FORMATS: dict[str, Callable[[str], pd.DataFrame]] = {
    "tsv": _tsv,
    "csv": _csv,
    "json": _json,
    "table": _table,
}
"""The formats with columns."""
LINES = "lines"
OUTPUT_FORMATS = (LINES, *FORMATS)
"""The values of `--format`; `lines` is the unchanged output."""
