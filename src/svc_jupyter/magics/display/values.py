"""The cells of a DataFrame as a reader sees them, and as JSON: pure functions on columns.

Types are those of the service's rows: text, integer, number, decimal, boolean, timestamp, date, time, binary, nested.
pandas does not distinguish NaN from null in a column of floats; both are null here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from svc_jupyter.terminal_text import plain

if TYPE_CHECKING:
    import pandas as pd

NUMERIC = frozenset({"integer", "number", "decimal"})
LONGEST_TEXT = 1000
"""Characters of a text in JSON, as in the service's rows; a longer one ends in `…`."""
_SAFE_INTEGER = 2**53
_SIGNIFICANT_DIGITS = 6
_PLAIN_NUMBER = re.compile(r"(?:^|_)(?:id|year|code|zip)$", re.IGNORECASE)
"""Names of columns whose numbers are no quantities: 2013 is not shown as 2,013."""
_KINDS: Sequence[tuple[type, str]] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (Decimal, "decimal"),
    (datetime, "timestamp"),
    (date, "date"),
    (time, "time"),
    (bytes, "binary"),
    (str, "text"),
)
_DTYPES = {"b": "boolean", "i": "integer", "u": "integer", "f": "number", "M": "timestamp"}


def values_of(column: pd.Series[Any]) -> list[Any]:
    """Return the values of a column as Python objects, floats of 32 bits as they print; missing ones are None."""
    values = column.tolist()
    if column.dtype == "float32":
        values = [float(str(value)) for value in column.to_numpy()]  # 0.1, not 0.10000000149011612
    return [None if missing else value for value, missing in zip(values, column.isna().tolist(), strict=True)]


def type_of(column: pd.Series[Any], values: Sequence[Any], declared: str = "") -> str:
    """Return the type of a column, from its dtype, or for objects from its `values`.

    `declared` is the engine's name of the type: a column of integers with nulls arrives as floats.
    """
    found = _DTYPES.get(getattr(column.dtype, "kind", "O"))
    if found == "number" and is_integer_type(declared):
        return "integer"
    if found is not None:
        return found
    kinds = {_type_of_value(value) for value in values if value is not None}
    return kinds.pop() if len(kinds) == 1 else "text"


def is_integer_type(declared: str) -> bool:
    """Return whether an engine's name of a type is one of integers."""
    from svc_jupyter.client.commands.tables import is_integer

    return is_integer(declared)


def _type_of_value(value: Any) -> str:
    if is_composed(value):
        return "nested"
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "text")


def json_value(value: Any, kind: str) -> str | int | float | bool | None:
    """Return a cell as the service's rows have it."""
    if value is None:
        return None
    match kind:
        case "boolean":
            return bool(value)
        case "integer":
            number = int(value)
            return number if abs(number) <= _SAFE_INTEGER else str(number)
        case "number":
            return float(value) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"
        case "timestamp" | "date" | "time":
            return str(value.isoformat())
        case "binary":
            return cut(value[:LONGEST_TEXT].hex(), LONGEST_TEXT)
        case "nested":
            return cut(json.dumps(_plain(value), ensure_ascii=False, default=str), LONGEST_TEXT)
        case _:
            return cut(str(value), LONGEST_TEXT)


def shown_values(values: Sequence[Any], kind: str, name: str, longest: int) -> list[str | None]:
    """Return the cells of a column for reading, each at most `longest` characters; None for a null.

    Numbers are rounded to six significant digits of the column's largest.
    """
    match kind:
        case "integer":
            form = "d" if _PLAIN_NUMBER.search(name) else ",d"
            return [None if value is None else format(int(value), form) for value in values]
        case "number":
            return _rounded(values, "" if _PLAIN_NUMBER.search(name) else ",")
        case "decimal":
            form = "" if _PLAIN_NUMBER.search(name) else ","
            return [None if value is None else format(value, form) for value in values]
        case "timestamp":
            return _times(values)
        case "binary":
            return [None if value is None else cut(value[:longest].hex(), longest) for value in values]
        case "nested":
            return [None if value is None else one_line(readable(value), longest) for value in values]
        case _:
            return [None if value is None else one_line(str(value), longest) for value in values]


def _rounded(values: Sequence[Any], separator: str) -> list[str | None]:
    finite = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max(finite, default=0.0)
    digits = max(0, _SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(largest))) if largest else 0
    if digits > 2 * _SIGNIFICANT_DIGITS or largest >= 10**15:
        return [None if value is None else f"{value:.{_SIGNIFICANT_DIGITS}g}" for value in values]
    texts = [f"{value:.{digits}f}" for value in finite]
    while digits and all(text.endswith("0") for text in texts):
        texts = [text[:-1] for text in texts]
        digits -= 1

    def text(value: float) -> str:
        rounded = f"{value:{separator}.{digits}f}"
        is_lost = value and math.isfinite(value) and not float(rounded.replace(",", ""))
        return f"{value:.3g}" if is_lost else rounded

    return [None if value is None else text(value) for value in values]


def _times(values: Sequence[Any]) -> list[str | None]:
    """Return times without their zone if they have one in common; seconds and fractions where the column has some."""
    there = [value for value in values if value is not None]
    spec = "minutes"
    if any(value.microsecond or getattr(value, "nanosecond", 0) for value in there):
        spec = "auto"
    elif any(value.second for value in there):
        spec = "seconds"
    has_zones = len(zones_of(values)) > 1

    def text(value: datetime) -> str:
        zone = f" {value.tzinfo}" if has_zones and value.tzinfo else ""
        return f"{value.replace(tzinfo=None).isoformat(' ', timespec=spec)}{zone}"

    return [None if value is None else text(value) for value in values]


def zones_of(times: Iterable[Any]) -> set[str]:
    """Return the names of the zones of times; times without a zone have none."""
    return {str(time.tzinfo) for time in times if time is not None and time.tzinfo}


def one_line(text: str, longest: int) -> str:
    """Return a text without control characters, cut."""
    return cut(plain(text[: 4 * longest]), longest)


def cut(text: str, longest: int) -> str:
    """Return a text of at most `longest` characters; a longer one ends in `…`."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def readable(value: Any) -> str:
    """Return `[1, 2]`, `{name: x, n: 1}`; a map, which is a list of pairs, as `{k: v}`."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {readable(item)}' for key, item in value.items())}}}"
    if not is_composed(value):
        return "null" if value is None else str(value)
    items = list(value)
    if items and all(isinstance(item, tuple) and len(item) == 2 for item in items):
        return f"{{{', '.join(f'{key}: {readable(item)}' for key, item in items)}}}"
    return f"[{', '.join(map(readable, items))}]"


def is_composed(value: Any) -> bool:
    """Return whether a cell holds several values; pyarrow returns a list as a NumPy array."""
    return isinstance(value, list | tuple | Mapping) or getattr(value, "ndim", 0) > 0


def _plain(value: Any) -> Any:
    """Return a nested value for JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_composed(value):
        return [_plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value
