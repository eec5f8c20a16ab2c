"""Read answers as models of the contract, tolerating services that write some fields differently.

A field that does not fit is kept unchanged and the others are still checked, so an unexpected `qlog` never hides a
result. An unknown status counts as running: only the contract's final statuses are final.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, get_args, get_origin

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from svc_jupyter.api.fields import MAX_PER_PAGE, PagingInfo
from svc_jupyter.api.states import STATUS_FILTERS, CommandStatus
from svc_jupyter.client.errors import UnexpectedAnswer

M = TypeVar("M", bound=BaseModel)


def read(model: type[M], response: httpx.Response) -> M:
    """Return a response body as a model; raises UnexpectedAnswer when it is not such an object."""
    try:
        return model.model_validate_json(response.content)
    except ValidationError:
        return build(model, json_of(response), place(response))


def json_of(response: httpx.Response) -> Any:
    """Return a response body as JSON; raises UnexpectedAnswer when it is not JSON."""
    try:
        return json.loads(response.content)
    except ValueError:
        kind = response.headers.get("Content-Type", "no content type")
        raise UnexpectedAnswer(
            f"{place(response)} answered with {kind} instead of JSON; is this the address of a service?"
        ) from None


def build(model: type[M], data: Any, origin: str) -> M:
    """Return a model built from JSON that does not fully match it."""
    if not isinstance(data, dict) or _misses_what_it_is(model, data):
        raise UnexpectedAnswer(f"{origin} answered with JSON that is not a {model.__name__}")
    values = dict(data)
    for name, field in model.model_fields.items():
        if name in data:
            values[name] = _fitted(field.annotation, data[name], origin)
        elif field.is_required():
            values[name] = None
    return model.model_construct(_fields_set=set(data), **values)


def known_status(word: Any) -> CommandStatus:
    """Return the contract's status for a service's status."""
    return STATUS_FILTERS.get(str(word).lower(), CommandStatus.RUNNING)


def place(response: httpx.Response) -> str:
    """Return the call of a response for error messages, without its query."""
    return f"{response.request.method} {response.request.url.copy_with(query=None)}"


def _misses_what_it_is(model: type[BaseModel], data: dict[str, Any]) -> bool:
    """Return whether the JSON has none of the model's required fields, or an `id` that is not a number."""
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    if "id" in required and not isinstance(data.get("id"), int):
        return True
    return bool(required) and not any(name in data for name in required)


def _fitted(annotation: Any, value: Any, origin: str) -> Any:
    try:
        return TypeAdapter(annotation).validate_python(value)
    except ValidationError:
        if annotation is CommandStatus:
            return known_status(value)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel) and isinstance(value, dict):
            return build(annotation, value, origin)
        if get_origin(annotation) is list and isinstance(value, list):
            return [_fitted(get_args(annotation)[0], item, origin) for item in value]
        return value


T = TypeVar("T")
WHOLE_PAGE = MAX_PER_PAGE


class Pages(Generic[T]):
    """The position of an iteration: `page` is the next page to fetch, None at the end.

    Lists are newest first, so a new object moves the others to later pages; items already seen on the previous page are
    skipped.
    """

    def __init__(self, identity: Callable[[T], int]) -> None:
        self.page: int | None = 1
        self._identity = identity
        self._seen: set[int] = set()

    def take(self, items: Sequence[T], paging: PagingInfo | None) -> list[T]:
        """Return the new items of a fetched page and advance to the next page."""
        fresh = [item for item in items if self._identity(item) not in self._seen]
        self._seen = {self._identity(item) for item in items}
        following = paging.next_page if paging is not None else None
        # Stop at a page that does not lead forward, so that a faulty service cannot cause an endless loop.
        self.page = following if following is not None and fresh and following > (self.page or 0) else None
        return fresh
