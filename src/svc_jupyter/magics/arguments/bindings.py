"""`--bind`: values for the names of a query, texts from the line or variables of the notebook with their types."""

from __future__ import annotations

import base64
import datetime
import decimal
import math
import pathlib
import uuid
from collections.abc import Mapping, Sequence, Set
from typing import Any

from svc_jupyter.magics.arguments.decorators import argument
from svc_jupyter.magics.arguments.options import nearest, pair
from svc_jupyter.magics.display.errors import SvcUsageError

bind_option = argument(
    "--bind",
    metavar="NAME[=TEXT]",
    action="append",
    default=[],
    help="Bind :NAME in the query to the notebook's variable NAME, with its type, or to TEXT. Also A,B. Repeatable.",
)


def bindings(given: Sequence[str], variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `bindings` of a submission for the values of `--bind`; `variables` is the notebook's namespace.

    Raises SvcUsageError for a name given twice, a missing variable, and a variable that is no value of SQL.
    """
    pairs: list[tuple[str, Any]] = []
    for text in given:
        if "=" in text:
            pairs.append(pair(text, "--bind"))
        else:
            pairs += [(name, _variable(name.strip(), variables)) for name in text.split(",")]
    found = {name.strip(): value for name, value in pairs}
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise SvcUsageError(f"--bind {twice}: the name is given twice")
    return found


def _variable(name: str, variables: Mapping[str, Any]) -> Any:
    if not (name.isascii() and name.isidentifier()):
        raise SvcUsageError(f"--bind takes names of variables, or NAME=TEXT, not {name!r}")
    if name not in variables:
        known = [variable for variable in variables if not variable.startswith("_")]
        raise SvcUsageError(f"--bind {name}: the notebook has no variable {name}.{nearest(name, known)}")
    value = variables[name]
    try:
        if not _is_list(value):
            return _bound(value)
        return [None if _is_missing(each) else _bound(each) for each in value]
    except TypeError as error:
        raise SvcUsageError(f"--bind {name}: {error}") from None


def _is_list(value: Any) -> bool:
    """Return whether a value stands for a list: Python's own, a Series, an Index or an array of one dimension."""
    return isinstance(value, list | tuple | Set | range) or len(getattr(value, "shape", ())) == 1


def _is_missing(element: Any) -> bool:
    """Return whether an element of a list is missing: pandas has NaN for it, also among floats."""
    return bool(type(element).__name__ in ("NAType", "NaTType") or (isinstance(element, float) and math.isnan(element)))


def _bound(value: Any) -> Any:
    """Return a value as JSON, with its type where JSON has none. Raises TypeError for what SQL has no value for."""
    kind = type(value).__name__
    if value is None or kind in ("NAType", "NaTType"):
        return None
    if kind == "datetime64":  # NumPy's, which may be finer than Python's
        return _typed("timestamp", str(value)) if "T" in str(value) else _typed("date", str(value))
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()  # a NumPy scalar
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, str | pathlib.PurePath | uuid.UUID):
        return str(value)
    return _with_type(value)


def _with_type(value: Any) -> dict[str, str]:
    match value:
        case float():
            return _typed("double", str(value))
        case decimal.Decimal() if value.is_finite():
            return _typed("decimal", f"{value:f}")
        case datetime.datetime():
            return _typed("timestamp", value.isoformat())
        case datetime.date():
            return _typed("date", value.isoformat())
        case datetime.time() if value.tzinfo is None:
            return _typed("time", value.isoformat())
        case bytes() | bytearray() | memoryview():
            return _typed("binary", base64.b64encode(value).decode())
    kind = type(value).__name__
    raise TypeError(f"a {kind} is no value of SQL; make a text or a number of it, and bind that")


def _typed(kind: str, value: str) -> dict[str, str]:
    return {"type": kind, "value": value}
