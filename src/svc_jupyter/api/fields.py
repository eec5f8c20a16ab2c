"""Field types and the request base that every body of the contract shares."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from svc_jupyter.api.text import NOT_UNICODE, UNREADABLE, is_unicode

DEFAULT_TIMEOUT_SECONDS = 129_600
"""36 hours."""
NAME_LIMIT = 255
TAGS_LIMIT = 255
MAX_ID = 2**63 - 1
DEFAULT_PER_PAGE = 10
MAX_PER_PAGE = 100
"""A larger `per_page` is taken as this."""
_FORBIDDEN_IN_NAME = re.compile(f"[&<>\"'{UNREADABLE}]")
_TAG_FORBIDDEN = re.compile(rf"[\[\],{UNREADABLE}]")
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_MACRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _digits_to_int(value: Any) -> Any:
    """Read digits, as clients and forms send them; everything else is left to the type check."""
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value


def _word_to_bool(value: Any) -> Any:
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value


def _check_name(value: str) -> str:
    if _FORBIDDEN_IN_NAME.search(value):
        raise ValueError("must not contain & < > \" ', control characters or overrides of the direction of writing")
    if not is_unicode(value):
        raise ValueError(NOT_UNICODE)
    return value


def _tags_text(value: Any) -> Any:
    """Bring an array of tags, or the text `[a,b]`, to the one stored form `[a,b]`."""
    if isinstance(value, list) and all(isinstance(tag, str) for tag in value):
        tags = value
    elif isinstance(value, str):
        if not value.strip():
            return None
        if not (value.startswith("[") and value.endswith("]")):
            raise ValueError("must be comma-separated tags in square brackets, as in [daily,sales]")
        tags = value[1:-1].split(",")
    else:
        raise ValueError("must be a text such as [daily,sales] or an array of strings")
    stripped = [tag.strip() for tag in tags]
    if not any(stripped) and len(stripped) <= 1:
        return None
    if any(not tag or _TAG_FORBIDDEN.search(tag) for tag in stripped):
        raise ValueError("a tag must not be empty nor hold a comma, a square bracket or a control character")
    text = "[" + ",".join(_check_name(tag) for tag in stripped) + "]"
    if len(text) > TAGS_LIMIT:
        raise ValueError(f"must have at most {TAGS_LIMIT} characters, has {len(text)}")
    return text


def _check_macros(value: list[dict[str, str]]) -> list[dict[str, str]]:
    for number, macro in enumerate(value, start=1):
        for name in macro:
            if not _MACRO_NAME.fullmatch(name):
                raise ValueError(
                    f"macro {number}: {name[:40]!r} is not a variable name (letters, digits and _, not first a digit)"
                )
    return value


Id = Annotated[int, Field(ge=1, le=MAX_ID), BeforeValidator(_digits_to_int)]
"""An identifier: an integer, or the same as a string of digits."""
Name = Annotated[str, Field(max_length=NAME_LIMIT), AfterValidator(_check_name)]
"""At most 255 characters without `& < > " '`."""
Tags = Annotated[str | None, BeforeValidator(_tags_text)]
"""`[a,b]`; the limit of 255 characters is on that text."""
Macros = Annotated[list[dict[str, str]], Field(max_length=100), AfterValidator(_check_macros)]
"""Each object maps a variable name to a JavaScript expression."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Marks a field of the contract that cannot be honoured: a value is an error, which says why, and never ignored."""

    why: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the field's type, and of the refusal after it."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON schema of the field's type, with the refusal as its description."""
        return {**handler(schema), "description": f"Refused: {self.why}"}

    def _check(self, value: Any) -> Any:
        if value:
            raise ValueError(self.why)
        return value


class Request(BaseModel):
    """Base of every request body: unknown keys and nulls are ignored, a wrong type is an error that names the key.

    A whole number may come as its digits, a truth as `true` or `false` in any case: clients and forms send texts.
    """

    model_config = ConfigDict(extra="ignore", strict=True, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        readers = _readers(cls)
        return {key: readers[key](item) if key in readers else item for key, item in value.items() if item is not None}


@cache
def _readers(model: type[BaseModel]) -> dict[str, Callable[[Any], Any]]:
    """Return how the texts of a model's fields are read that hold whole numbers or truths, and no texts."""
    found: dict[str, Callable[[Any], Any]] = {}
    for name, field in model.model_fields.items():
        types = _types_in(field.annotation) - {NoneType}
        reader = _digits_to_int if types == {int} else _word_to_bool if types == {bool} else None
        if reader is not None:
            found |= dict.fromkeys((name, field.alias or name), reader)
    return found


def _types_in(annotation: Any) -> set[type]:
    if get_origin(annotation) is Literal:
        return {type(value) for value in get_args(annotation)}
    if get_origin(annotation) is Annotated:
        return _types_in(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return {kind for part in get_args(annotation) for kind in _types_in(part)}
    return {annotation} if isinstance(annotation, type) else set()


class Record(BaseModel):
    """Base of every answer. A client keeps fields it does not know: another service may send more."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)


class PagingInfo(Record):
    """Where a page stands in its list; `next_page` and `previous_page` are null at the ends."""

    page: int
    per_page: int
    next_page: int | None = None
    previous_page: int | None = None
