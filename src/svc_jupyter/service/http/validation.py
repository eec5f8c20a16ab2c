"""Pydantic's validation errors as a sentence for the caller, and as a text for each field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

_SHOWN = 5
_OUTER = frozenset({"body", "query", "path", "header"})
_MOST_FIELDS = 100
_A_NUMBER, _WHOLE, _TRUTH = "must be a number", "must be a whole number", "must be true or false"
_WORDS = {
    "missing": "is missing",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "is too large a number",
    "int_from_float": _WHOLE,
    "float_type": _A_NUMBER,
    "float_parsing": _A_NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "string_type": "must be a text",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "string_too_short": "must have {min_length} characters or more",
    "string_too_long": "must have {max_length} characters or fewer",
    "too_short": "must have {min_length} items or more",
    "too_long": "must have {max_length} items or fewer",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "string_pattern_mismatch": "does not have the form that is asked for",
}
"""Texts for users instead of pydantic's own, by its type of error; pydantic's texts mention Python types."""


def explain(error: ValidationError) -> str:
    """Return which field is wrong and why, without the value (it may be a secret)."""
    return explain_all(error.errors(include_url=False, include_input=False, include_context=False))


def explain_all(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return one text for a list of errors in pydantic's form; the first few are shown."""
    distinct = _distinct(errors)
    texts = [_explain_one(item) for item in distinct[:_SHOWN]]
    if len(distinct) > _SHOWN:
        texts.append(f"and {len(distinct) - _SHOWN} more")
    return "; ".join(texts)


def fields(error: ValidationError) -> dict[str, str]:
    """Return the error of each field as text for users, by the field's path."""
    return fields_of(error.errors(include_url=False, include_input=False))


def fields_of(errors: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the same for a list of errors in pydantic's form; errors of the whole body have no field."""
    messages: dict[str, str] = {}
    for item in _distinct(errors)[:_MOST_FIELDS]:
        if where := _place(item):
            messages[where] = f"{messages[where]}; {_in_words(item)}" if where in messages else _in_words(item)
    return messages


def _distinct(errors: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return each error once: a path's parameter may be validated for a route and for what the route depends on."""
    return list({(tuple(item["loc"]), item["msg"]): item for item in errors}.values())


def _explain_one(item: Mapping[str, Any]) -> str:
    where = _place(item)
    return f"{where}: {_reason(item)}" if where else _reason(item)


def _place(item: Mapping[str, Any]) -> str:
    place = [str(part) for part in item["loc"]]
    return ".".join(place[1:] if len(place) > 1 and place[0] in _OUTER else place)


def _reason(item: Mapping[str, Any]) -> str:
    return str(item["msg"]).removeprefix("Value error, ")


def _in_words(item: Mapping[str, Any]) -> str:
    words = _WORDS.get(item.get("type", ""))
    return _reason(item) if words is None else words.format_map(item.get("ctx", {}))
