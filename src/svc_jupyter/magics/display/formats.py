"""Parse shell output (TSV, CSV, JSON and printed tables) into a DataFrame with columns.

A column of texts becomes numbers only where each of its values is a plain number that keeps its digits: `01234`, `+1`,
`1e5` and `NA` are texts. An empty field is missing. The user can name types instead.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from svc_jupyter.magics.display.printed_tables import NotATable, cells_of
from svc_jupyter.plain_numbers import EXACT_IN_FLOATS, numbers_of

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.client.commands.tables import Dtypes

Types = Mapping[str, str]
"""Names of columns, and a type of `DTYPES` for each."""
DTYPES = {"str": "str", "int": "Int64", "float": "float64", "bool": "boolean", "datetime": "datetime64[us]"}
"""The types that can be named, and those of pandas."""
TYPES_HELP = f"Types of columns ({', '.join(DTYPES)}); others are found from their values."
"""The help of `--types`."""
_INT64 = range(-(2**63), 2**63)
_BOOLEANS = {"true": True, "false": False, "t": True, "f": False, "1": True, "0": False}


class NotInFormat(ValueError):
    """The output is not in the requested format; the text says where and why."""


class Columns(NamedTuple):
    """The columns of an output; a missing value is None."""

    names: Sequence[Any]
    values: Sequence[Sequence[Any]]
    are_texts: bool = False
    """Whether all values are texts, whose types are still to be found."""


def parsed_frame(
    text: str, output_format: str, types: Types | None = None, dtypes: Dtypes = "nullable"
) -> pd.DataFrame:
    """Return the DataFrame of a command's output; empty output has no columns.

    `dtypes` says what columns of integers and booleans with a missing value become, as in `Client`.
    Raises NotInFormat when the text is not in `output_format` (one of `FORMATS`), lacks a column of `types`, or has a
    value there that is not of its type.
    """
    import pandas as pd

    types = types or {}
    columns = FORMATS[output_format](text)
    names = [str(name) for name in columns.names]
    for name in types:
        if name not in names:
            raise NotInFormat(f"it has no column {name!r} (--types) but {', '.join(names) or 'none'}")
    found = _of_texts if columns.are_texts else _of_values
    series = [
        _given(name, values, types[name]) if name in types else found(values)
        for name, values in zip(names, columns.values, strict=True)
    ]
    frame = pd.DataFrame(dict(enumerate(series)))
    frame.columns = pd.Index(columns.names)
    return frame if dtypes == "nullable" else frame.astype(_of_numpy(frame, types))


def _of_numpy(frame: pd.DataFrame, types: Types) -> dict[Any, Any]:
    """Return NumPy's types for the columns with pandas' nullable ones that the user did not name."""
    kinds = {"Int64": "float64", "boolean": "object"}
    found = {name: kinds.get(str(kind)) for name, kind in frame.dtypes.items() if str(name) not in types}
    return {name: kind for name, kind in found.items() if kind is not None}


def split_lines(text: str) -> list[str]:
    """Return the lines of an output without their terminators; the last line may lack one."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _tsv(text: str) -> Columns:
    return _separated(text, "\t", "TSV", csv.QUOTE_NONE)


def _csv(text: str) -> Columns:
    return _separated(text, ",", "CSV", csv.QUOTE_MINIMAL)


def _separated(text: str, separator: str, name: str, quoting: Any) -> Columns:
    import pandas as pd

    if not text.strip():
        return Columns([], [])
    try:
        frame = pd.read_csv(io.StringIO(text), sep=separator, quoting=quoting, dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise NotInFormat(f"the output is not {name}: {str(error).strip()}") from None
    if not isinstance(frame.index, pd.RangeIndex):  # pandas takes surplus fields for an index
        surplus = frame.index.nlevels
        raise NotInFormat(f"the output is not {name}: line 2 has {surplus} more field(s) than line 1 names")
    fields = [_missing_if_empty(frame.iloc[:, place]) for place in range(len(frame.columns))]
    return Columns(list(frame.columns), fields, are_texts=True)


def _table(text: str) -> Columns:
    try:
        names, rows = cells_of(split_lines(text))
    except NotATable as error:
        raise NotInFormat(f"the output is not a table: {error}") from None
    fields = [_missing_if_empty(row[place] for row in rows) for place in range(len(names))]
    return Columns(names, fields, are_texts=True)


def _missing_if_empty(fields: Iterable[Any]) -> list[Any]:
    return [field if isinstance(field, str) and field else None for field in fields]


def _json(text: str) -> Columns:
    """One JSON array or object, or one JSON value per line."""
    if not text.strip():
        return Columns([], [])
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        value = _json_lines(text, error)
    rows = value if isinstance(value, list) else [value]
    kinds = {type(row) for row in rows}
    if kinds <= {dict}:
        names = list(dict.fromkeys(name for row in rows for name in row))
        return Columns(names, [[row.get(name) for row in rows] for name in names])
    if kinds == {list}:
        width = range(max(map(len, rows)))
        return Columns(width, [[row[n] if n < len(row) else None for row in rows] for n in width])
    return Columns(["value"], [rows])


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


def _of_texts(texts: Sequence[str | None]) -> pd.Series[Any]:
    """Return a column of numbers if each text is a plain one, else of texts."""
    import pandas as pd

    numbers = numbers_of(texts)
    return pd.Series(list(texts), dtype="str") if numbers is None else _of_values(numbers)


def _of_values(values: Sequence[Any]) -> pd.Series[Any]:
    """Return a column of Python objects in the type that holds them all unchanged."""
    import pandas as pd

    there = [value for value in values if value is not None]
    kinds = {type(value) for value in there}
    has_null = len(there) < len(values)
    dtype = "object"
    if kinds == {int} and all(number in _INT64 for number in there):
        dtype = "Int64" if has_null else "int64"
    elif kinds == {bool}:
        dtype = "boolean" if has_null else "bool"
    elif kinds == {str}:
        dtype = "str"
    elif float in kinds and all(type(value) is float or _is_exact(value) for value in there):
        dtype = "float64"
    return pd.Series(values, dtype=dtype)


def _is_exact(value: Any) -> bool:
    """Return whether a value is an integer that a float holds."""
    return type(value) is int and value in EXACT_IN_FLOATS


def _given(name: str, values: Sequence[Any], wanted: str) -> pd.Series[Any]:
    """Return a column in the type that the user named. Raises NotInFormat with its first value of another type."""
    import pandas as pd

    converted = []
    for value in values:
        try:
            converted.append(None if value is None else _CONVERSIONS[wanted](value))
        except (ValueError, TypeError, KeyError, OverflowError):
            raise NotInFormat(f"{value!r} in its column {name!r} is no {wanted} (--types)") from None
    return pd.Series(converted, dtype=DTYPES[wanted])


def _int(value: Any) -> int:
    number = int(value)
    if number not in _INT64 or (number != value and not isinstance(value, str)):
        raise ValueError(value)
    return number


def _bool(value: Any) -> bool:
    return _BOOLEANS[str(value).strip().lower()]


def _datetime(value: Any) -> Any:
    """Return a moment; one with an offset in UTC, without its zone."""
    import pandas as pd

    moment = pd.Timestamp(value)
    return moment if moment.tzinfo is None else moment.tz_convert("UTC").tz_localize(None)


_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    "str": str,
    "int": _int,
    "float": float,
    "bool": _bool,
    "datetime": _datetime,
}
FORMATS: dict[str, Callable[[str], Columns]] = {
    "tsv": _tsv,
    "csv": _csv,
    "json": _json,
    "table": _table,
}
"""The formats with columns."""
LINES = "lines"
OUTPUT_FORMATS = (LINES, *FORMATS)
"""The values of `--format`; `lines` is the unchanged output."""
