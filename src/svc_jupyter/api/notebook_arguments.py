"""The arguments of a notebook run: names and plain values."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from svc_jupyter.api.notebook_parameters import is_name, problem_of

_SHOWN = 40
_MOST = 1000


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
        if not is_name(name):
            raise ValueError(f"{name[:_SHOWN]!r} is not a variable name (letters, digits and _, not first a digit)")
        if problem := problem_of(item):
            raise ValueError(f"{name[:_SHOWN]!r} {problem}")
    return value


NotebookArguments = Annotated[
    dict[str, Any], Field(max_length=_MOST), AfterValidator(_check), BeforeValidator(_object_of)
]
"""Variable names to strings, integers, floats or booleans; also the JSON text of such an object."""
