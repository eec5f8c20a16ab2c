"""The arguments of a notebook run: names and plain values."""

from __future__ import annotations

import json
import math
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from svc_jupyter.api.text import is_unicode

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME_LIMIT = 255
_SHOWN = 40
_MOST = 1000
_LARGEST_INTEGER = 2**63


def _object_of(value: Any) -> Any:
    """Take the JSON text of an object for the object itself."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise ValueError('must be an object, or the JSON text of one, such as {"day": "2026-01-31"}') from None


def _check(value: dict[str, Any]) -> dict[str, Any]:
    for name, item in value.items():
        if not _NAME.fullmatch(name) or len(name) > _NAME_LIMIT:
            raise ValueError(f"{name[:_SHOWN]!r} is not a variable name (letters, digits and _, not first a digit)")
        if problem := _problem(item):
            raise ValueError(f"{name[:_SHOWN]!r} {problem}")
    return value


def _problem(item: Any) -> str | None:
    """Return why a value cannot be given to a notebook, None when it can."""
    if isinstance(item, bool):
        return None
    if isinstance(item, str):
        if "\0" in item:
            return "holds a NUL character"
        return None if is_unicode(item) else "holds a character that is not Unicode (a lone surrogate)"
    if isinstance(item, int):
        return None if -_LARGEST_INTEGER <= item < _LARGEST_INTEGER else "does not fit into 64 bits"
    if isinstance(item, float):
        return None if math.isfinite(item) else "must be a finite number"
    return "must be a string, integer, float or boolean"


NotebookArguments = Annotated[
    dict[str, Any], Field(max_length=_MOST), AfterValidator(_check), BeforeValidator(_object_of)
]
"""Variable names to strings, integers, floats or booleans; also the JSON text of such an object."""
