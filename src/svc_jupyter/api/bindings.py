"""Values for the names of a query: `origin` for `:origin` in its text."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, Field

from svc_jupyter.api.text import NOT_UNICODE, is_unicode

_MOST_NAMES = 1000
_MOST_VALUES = 10_000
_MOST_DIGITS = 1000
_SHOWN = 40
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WHOLE = re.compile(rf"[+-]?[0-9]{{1,{_MOST_DIGITS}}}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d(:\d\d(\.\d{1,9})?)?", re.ASCII)
_ZONE = re.compile(r"Z|[+-]\d\d:\d\d", re.ASCII)
_TIMESTAMP = re.compile(rf"(?P<day>{_DATE.pattern})[T ](?P<time>{_TIME.pattern})(?P<zone>{_ZONE.pattern})?", re.ASCII)


class BindingType(StrEnum):
    """The type of a value."""

    STRING = "string"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    BINARY = "binary"


Content: TypeAlias = str | bool | int | Decimal | float | bytes | None


@dataclass(frozen=True, slots=True)
class Value:
    """A value with its type.

    Its content is None for NULL. Dates and times are texts, with as many digits as were given: `2026-01-31`,
    `08:30:00.5`, `2026-01-31 08:30:00.5`, and with a zone `2026-01-31 08:30:00.5+01:00`.
    """

    type: BindingType
    content: Content

    @property
    def has_zone(self) -> bool:
        """Whether it is a timestamp with a zone, which is a point in time."""
        found = _TIMESTAMP.fullmatch(self.content) if isinstance(self.content, str) else None
        return self.type is BindingType.TIMESTAMP and found is not None and found["zone"] is not None


Values: TypeAlias = Value | tuple[Value, ...]


def values_of(bindings: Mapping[str, Any]) -> dict[str, Values]:
    """Return the values of a record's `bindings`, of a list a tuple. Raises `ValueError`, which names the binding."""
    found: dict[str, Values] = {}
    for name, given in bindings.items():
        try:
            found[name] = tuple(map(_value_of, given)) if isinstance(given, list) else _value_of(given)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return found


def _value_of(given: Any) -> Value:
    if not isinstance(given, dict):
        return _untyped(given)
    if unknown := given.keys() - {"type", "value"}:
        raise ValueError(f"{min(unknown)[:_SHOWN]!r} is not known: a value with a type has `type` and `value`")
    kind = given.get("type")
    if kind not in list(BindingType):
        raise ValueError(f"the type must be one of {', '.join(BindingType)}")
    content = given.get("value")
    return Value(BindingType(kind), None if content is None else _READERS[BindingType(kind)](content))


def _untyped(given: Any) -> Value:
    match given:
        case None:
            return Value(BindingType.STRING, None)
        case bool():
            return Value(BindingType.BOOLEAN, given)
        case int():
            return Value(BindingType.INTEGER, given)
        case float():
            return Value(BindingType.DOUBLE, given)
        case str():
            return Value(BindingType.STRING, _string(given))
    raise ValueError("must be a text, a number, true, false, null, a value with its type, or a list of these")


def _string(given: Any) -> str:
    if isinstance(given, str) and is_unicode(given):
        return given
    raise ValueError(NOT_UNICODE if isinstance(given, str) else "a string must be a text")


def _boolean(given: Any) -> bool:
    if isinstance(given, bool):
        return given
    raise ValueError("a boolean must be true or false")


def _integer(given: Any) -> int:
    if isinstance(given, str) and _WHOLE.fullmatch(given):
        return int(given)
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    raise ValueError("an integer must be a whole number, or its digits as a text")


def _decimal(given: Any) -> Decimal:
    if isinstance(given, str | int) and not isinstance(given, bool):
        with suppress(InvalidOperation):
            found = Decimal(given)
            if found.is_finite() and abs(found.adjusted()) < _MOST_DIGITS:
                return found
    raise ValueError('a decimal must be a text such as "12.50": a number with a fraction may lose digits in JSON')


def _double(given: Any) -> float:
    if isinstance(given, str | int | float) and not isinstance(given, bool):
        with suppress(ValueError, OverflowError):
            return float(given)
    raise ValueError('a double must be a number, or "NaN", "Infinity" or "-Infinity"')


def _date(given: Any) -> str:
    if isinstance(given, str) and _DATE.fullmatch(given):
        with suppress(ValueError):
            return date.fromisoformat(given).isoformat()
    raise ValueError("a date must be a text such as 2026-01-31")


def _time(given: Any) -> str:
    if isinstance(given, str) and _TIME.fullmatch(given):
        with suppress(ValueError):
            time.fromisoformat(given)
            return given
    raise ValueError("a time must be a text such as 08:30:00.5, without a zone")


def _timestamp(given: Any) -> str:
    if isinstance(given, str) and (found := _TIMESTAMP.fullmatch(given)) is not None:
        with suppress(ValueError):
            datetime.fromisoformat(given)
            return f"{found['day']} {found['time']}{(found['zone'] or '').replace('Z', '+00:00')}"
    raise ValueError("a timestamp must be a text such as 2026-01-31T08:30:00 or 2026-01-31T08:30:00.5+01:00")


def _binary(given: Any) -> bytes:
    if isinstance(given, str):
        with suppress(ValueError):
            return base64.b64decode(given, validate=True)
    raise ValueError("a binary value must be text in base64")


_READERS: Final[Mapping[BindingType, Callable[[Any], Content]]] = {
    BindingType.STRING: _string,
    BindingType.BOOLEAN: _boolean,
    BindingType.INTEGER: _integer,
    BindingType.DECIMAL: _decimal,
    BindingType.DOUBLE: _double,
    BindingType.DATE: _date,
    BindingType.TIME: _time,
    BindingType.TIMESTAMP: _timestamp,
    BindingType.BINARY: _binary,
}


def _checked(bindings: dict[str, Any]) -> dict[str, Any]:
    count = 0
    for name, given in bindings.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name[:_SHOWN]!r} is not a name (letters, digits and _, not first a digit)")
        elements = given if isinstance(given, list) else [given]
        count += len(elements)
        if not elements:
            raise ValueError(f"{name}: an empty list has no form in SQL; leave its condition out of the query")
        if not any(map(_holds_macro, elements)):
            values_of({name: given})
    if count > _MOST_VALUES:
        raise ValueError(f"must have at most {_MOST_VALUES:,} values, has {count:,}; put them into a table")
    return bindings


def _holds_macro(given: Any) -> bool:
    """Return whether a macro may still give the content of a value with a type."""
    return isinstance(given, dict) and isinstance(content := given.get("value"), str) and "$" in content


Bindings = Annotated[
    dict[str, Any],
    Field(
        max_length=_MOST_NAMES,
        description="Values for the names of the query, `origin` for `:origin`: texts, numbers, true, false, null, "
        'values with a type such as {"type": "date", "value": "2026-01-31"}, or lists of these for IN',
    ),
    AfterValidator(_checked),
]
"""Names to values, as `values_of` reads them. Types: those of `BindingType`."""
