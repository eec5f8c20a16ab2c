"""Lists that come as arrays or, as clients of this kind of API send them, as texts."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BeforeValidator, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from svc_jupyter.api.text import NOT_UNICODE, broken_place

POLICY_TEXT_LIMIT = 262_144
"""Characters of a policy that is sent as a text."""
_MEMBER_TEXT_LIMIT = 100_000


class _OrText:
    """In the API's description: the array, or a text that means the same."""

    def __init__(self, **text: str) -> None:
        self._text = {"type": "string", **text}

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), self._text]}


def _from_json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if len(value) > POLICY_TEXT_LIMIT:
        raise ValueError(f"must have at most {POLICY_TEXT_LIMIT} characters, has {len(value)}")
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON: give an array of entries, or the same as a JSON text") from None
    if broken_place(parsed) is not None:
        raise ValueError(NOT_UNICODE)
    return parsed


def _from_commas(value: Any) -> Any:
    """Return the words of a comma-separated text, or of an array of numbers and texts."""
    if isinstance(value, str):
        if len(value) > _MEMBER_TEXT_LIMIT:
            raise ValueError(f"must have at most {_MEMBER_TEXT_LIMIT} characters, has {len(value)}")
        return split_words(value)
    if isinstance(value, list):
        return [str(item) if isinstance(item, int) and not isinstance(item, bool) else item for item in value]
    return value


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def split_words(text: str) -> list[str]:
    """Return the words between commas, without the blank ones."""
    return [word for word in (part.strip() for part in text.split(",")) if word]


JSON_TEXT = (BeforeValidator(_from_json), _OrText(contentMediaType="application/json"))
"""Annotations of an array that may come as a JSON text."""
ONE_OR_MANY = (BeforeValidator(_one_or_many),)
"""Annotations of an array whose only item may come alone."""
Words = Annotated[list[str], BeforeValidator(_from_commas), _OrText()]
"""Ids, names or e-mail addresses, as a comma-separated text or an array."""
