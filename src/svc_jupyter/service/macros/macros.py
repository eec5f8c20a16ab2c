"""Macros: values computed by JavaScript and inserted into a command's text."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from svc_jupyter.api.text import is_unicode
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.macros import worker as macro_worker
from svc_jupyter.service.macros.sandbox import MacroSandbox, shared_sandbox

MACRO_LIMIT = 100
EXPRESSION_LIMIT = 64 * 2**10
"""Longest expression, in characters."""
TOTAL_LIMIT = 2**20
"""All expressions of a command, and all its values, in characters."""
NESTING_LIMIT = 32
"""Nesting of arrays and objects in a value."""
SUBSTITUTED_LIMIT = 16 * 2**20
"""What macros may add to a command, in characters: otherwise a text that repeats a long value could grow endlessly."""
RESERVED = frozenset({"Service_nominal_time", "Service_nominal_time_iso"})
REASON_LIMIT = 500

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_AFTER_EXPRESSION = "; \t\r\n"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SMALLEST_FIXED = 1e-6
_LARGEST_FIXED = 1e21


class MacroError(Invalid):
    """A macro has no usable value. The message names the macro and the reason."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = _CONTROL.sub(" ", reason[:REASON_LIMIT]).encode("utf-8", "replace").decode()
        message = f"macro {name[:64]!r}: {self.reason}"
        super().__init__(message, {"macros": message})


def resolve(
    macros: Sequence[Mapping[str, str]],
    nominal_time: datetime,
    time_zone: str = "UTC",
    *,
    sandbox: MacroSandbox | None = None,
) -> list[dict[str, Any]]:
    """Return the macros with the values of their expressions, JSON values, in the same form and order.

    Expressions are evaluated in order in a realm of their own; a later one may use the names of earlier ones, and all
    may use `moment`, `Service_nominal_time` (a moment in `time_zone`) and `Service_nominal_time_iso`. `moment()` is the
    wall clock's time; wall clocks without an offset are read in `time_zone`. `nominal_time` must be aware.

    Raises MacroError when a macro fails, takes too long or too much memory, or has no JSON value; MacroEngineError
    when no macros can be evaluated now. Blocks, so call it from a thread.
    """
    if nominal_time.tzinfo is None:
        raise ValueError("nominal_time has no time zone")
    pairs = [(name, expression) for macro in macros for name, expression in macro.items()]
    if not pairs:
        return [{} for _ in macros]
    expressions = list(_checked(pairs))
    if _text_problem(time_zone, "the time zone"):
        raise _unknown_zone(pairs[0][0], time_zone)
    milliseconds = (nominal_time - _EPOCH) // timedelta(milliseconds=1)
    reply = (sandbox or shared_sandbox()).evaluate(expressions, milliseconds, time_zone)
    values = iter(_values([name for name, _ in pairs], time_zone, reply))
    return [{name: next(values) for name in macro} for macro in macros]


def substitute(value: Any, resolved: Sequence[Mapping[str, Any]]) -> Any:
    """Return a copy of a JSON-like value with `$name$`, in every string, replaced by that macro's value as text.

    Keys and unknown names stay unchanged. Inserted texts are not searched again. Of two macros with one name the later
    one counts. Without macros, returns the value itself. Raises MacroError when a value is null or the texts become too
    long.
    """
    texts = {name: macro_text(name, item) for macro in resolved for name, item in macro.items()}
    if not texts:
        return value
    # The pattern has known names only, so that in `$PATH$name$` the macro is found after the shell's variable.
    pattern = re.compile(r"\$(" + "|".join(map(re.escape, texts)) + r")\$")
    added = 0

    def text_of(match: re.Match[str]) -> str:
        nonlocal added
        text = texts[match[1]]
        added += len(text)
        if added > SUBSTITUTED_LIMIT:
            raise MacroError(match[1], f"macros add more than {SUBSTITUTED_LIMIT} characters to the command")
        return text

    return _map_strings(value, lambda string: pattern.sub(text_of, string))


def macro_text(name: str, value: Any) -> str:
    """Return a value's text in a command: a string unchanged, else what JavaScript prints, or JSON."""
    match value:
        case None:
            raise MacroError(name, "the value is null")
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return javascript_number(value)
        case _:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def javascript_number(value: float) -> str:
    """Return a finite number as JavaScript prints it: both languages choose the same digits in different formats."""
    if value == 0:
        return "0"
    if _SMALLEST_FIXED <= abs(value) < _LARGEST_FIXED:
        return _without_exponent(repr(value)).removesuffix(".0")
    return re.sub(r"(?:\.0)?e([+-])0*", r"e\1", repr(value))


def _without_exponent(digits: str) -> str:
    mantissa, _, exponent = digits.partition("e")
    if not exponent:
        return digits
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    point = len(whole) + int(exponent)
    if point <= 0:
        return f"{sign}0.{'0' * -point}{whole}{fraction}"
    return sign + (whole + fraction).ljust(point, "0")


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    """Return a copy with every string changed. Not recursive: the caller of the API chooses the nesting."""
    top: list[Any] = [value]
    containers: list[Any] = [top]
    while containers:
        container = containers.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for key, item in items:
            if isinstance(item, str):
                container[key] = change(item)
            elif isinstance(item, dict | list):
                container[key] = item.copy()
                containers.append(container[key])
    return top[0]


def _checked(pairs: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Yield the macros in the engine's form. Raises MacroError for one that it could not take."""
    length = 0
    for number, (name, expression) in enumerate(pairs, start=1):
        length += len(expression)
        if reason := _refusal(name, expression, length, number):
            raise MacroError(name, reason)
        yield name, expression.rstrip(_AFTER_EXPRESSION)


def _refusal(name: str, expression: str, length: int, number: int) -> str | None:
    if number > MACRO_LIMIT:
        return f"a command has at most {MACRO_LIMIT} macros"
    if not _NAME.fullmatch(name):
        return "the name is not a variable name (letters, digits and _, not first a digit)"
    if name in RESERVED:
        return "the name is the service's own"
    if not expression.rstrip(_AFTER_EXPRESSION):
        return "the expression is empty"
    if len(expression) > EXPRESSION_LIMIT or length > TOTAL_LIMIT:
        return f"expressions have at most {EXPRESSION_LIMIT} characters, {TOTAL_LIMIT} in all"
    return _text_problem(expression, "the expression")


def _values(names: Sequence[str], time_zone: str, reply: Mapping[str, Any]) -> Iterable[Any]:
    """Yield the values of the worker's reply, in order. Raises MacroError for the first without one."""
    zone_known, *answers = reply["answers"] or [True]
    if not zone_known:
        raise _unknown_zone(names[0], time_zone)
    length = 0
    for name, (succeeded, text) in zip(names, answers, strict=False):
        if not succeeded:
            raise MacroError(name, text)
        length += len(text)
        if length > TOTAL_LIMIT:
            raise MacroError(name, f"the values of all macros have more than {TOTAL_LIMIT} characters")
        yield _parsed(name, text)
    if len(answers) < len(names):
        raise MacroError(names[len(answers)], _end_reason(reply["exit"]))


def _unknown_zone(name: str, time_zone: str) -> MacroError:
    return MacroError(name, f"the time zone {time_zone[:64]!r} is not known")


def _end_reason(code: int) -> str:
    if code in (-signal.SIGPROF, -signal.SIGALRM):
        return f"all macros together took more than {macro_worker.CPU_SECONDS:g} s of processor time"
    return "the expression ended the JavaScript engine; it may need too much memory"


def _parsed(name: str, text: str) -> Any:
    """Return the value of a JSON text. Raises MacroError unless database, log and clients can all represent it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise MacroError(name, "the value is not JSON, or nested too deep") from None
    level = [value]
    for _ in range(NESTING_LIMIT + 1):
        for string in _strings(level):
            if problem := _text_problem(string, "the value"):
                raise MacroError(name, problem)
        level = [child for item in level if isinstance(item, dict | list) for child in _children(item)]
        if not level:
            return value
    raise MacroError(name, f"arrays and objects in the value are nested more than {NESTING_LIMIT} deep")


def _children(container: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


def _strings(items: Iterable[Any]) -> Iterable[str]:
    for item in items:
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item


def _text_problem(text: str, what: str) -> str | None:
    if "\0" in text:
        return f"{what} holds a NUL character"
    return None if is_unicode(text) else f"{what} holds half of a surrogate pair"
