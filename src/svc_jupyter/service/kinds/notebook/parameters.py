"""Arguments of a run as assignments in their own cell, in the kernel's language.

Values become literals, never code: this module holds each language's rules for quotes, escapes and interpolation.
"""

from __future__ import annotations

import json
import keyword
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from svc_jupyter.api.notebook_parameters import PARAMETERS, Argument, Parameter, Unreadable, declares, parameters_of
from svc_jupyter.service.kinds.notebook.failures import RunFailure

INJECTED = "injected-parameters"
"""The tag of the cell that a run inserts."""
_CELL_IDS_SINCE = (4, 5)
_BIGGEST_R_INTEGER = 2**31 - 1
_INT32, _INT64 = 2**31, 2**63


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_R_RESERVED = _words("if else repeat while function for next break TRUE FALSE NULL Inf NaN NA in")
_JULIA_RESERVED = _words(
    "baremodule begin break catch const continue do else elseif end export false finally for function global if import "
    "let local macro module quote return struct true try using while"
)
_SCALA_RESERVED = _words(
    "abstract case catch class def do else extends false final finally for forSome if implicit import lazy match new "
    "null object override package private protected return sealed super this throw trait try true type val var while "
    "with yield"
)
_BASH_RESERVED = _words("BASH_ENV ENV IFS LD_LIBRARY_PATH LD_PRELOAD PATH PROMPT_COMMAND PS0 PS1 PS2 PS4")
"""Variables whose value bash would run, or that change what it runs."""
_ESCAPED = re.compile(r'["\\$]|[^ -~]')


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes a literal and an assignment."""

    literal: Callable[[Argument], str]
    assignment: str
    is_reserved: Callable[[str], bool]
    comment: str = "# Parameters"


def inject(notebook: NotebookNode, arguments: Mapping[str, Argument], language: str) -> str | None:
    """Insert the arguments into a notebook (of format 4): after its cell tagged `parameters` (the first one of code,
    if there is one), or else first.

    Replaces the cell of an earlier run, or removes it when there are no arguments. Returns a line for the log, None
    when nothing changed. Raises `RunFailure` for an unsupported language and a reserved name.
    """
    kept = [cell for cell in notebook.cells if not _has_tag(cell, INJECTED)]
    removed = len(notebook.cells) - len(kept)
    notebook.cells = kept
    if not arguments:
        return "the parameters of an earlier run were taken out" if removed else None
    tagged = [number for number, cell in enumerate(kept, start=1) if _has_tag(cell, PARAMETERS)]
    place = next((number for number in tagged if declares(kept[number - 1])), tagged[0] if tagged else 0)
    source = kept[place - 1].source if place else ""
    declared = _declared(source, language)
    given = {name: _as_declared(value, declared.get(name)) for name, value in arguments.items()}
    cell: NotebookNode = new_code_cell(  # type: ignore[no-untyped-call]
        assignments(given, language), metadata={"tags": [INJECTED]}
    )
    if (notebook.nbformat, notebook.nbformat_minor) < _CELL_IDS_SINCE:
        del cell["id"]
    kept.insert(place, cell)
    unknown = [name for name in arguments if not re.search(rf"\b{name}\b", source)] if declared else []
    note = f"; the notebook's own cell of parameters has no {', '.join(unknown)}" if unknown else ""
    return f"parameters: {', '.join(arguments)}{note}"


def _declared(source: str, language: str) -> dict[str, Parameter]:
    """Return the parameters of a cell by name; none where it cannot be read."""
    try:
        return {each.name: each for each in parameters_of(source, language)}
    except Unreadable:
        return {}


def _as_declared(value: Argument, parameter: Parameter | None) -> Argument:
    """Return a whole number as a float where the notebook has one: JSON does not tell 2 from 2.0."""
    is_float = parameter is not None and type(parameter.value) is float
    return float(value) if is_float and type(value) is int else value


def assignments(arguments: Mapping[str, Argument], language: str) -> str:
    """Return the source of the cell. Raises `RunFailure`."""
    rules = _LANGUAGES.get(language.lower())
    if rules is None:
        raise RunFailure(
            f"arguments cannot be given to a kernel of the language {language[:50]!r}; it can be done for "
            f"{', '.join(sorted(_LANGUAGES))}. Run the notebook without arguments",
            may_retry=False,
        )
    if reserved := next(filter(rules.is_reserved, arguments), None):
        raise RunFailure(f"arguments: {reserved!r} cannot be assigned to in {language}", may_retry=False)
    lines = [rules.assignment.format(name=name, value=rules.literal(value)) for name, value in arguments.items()]
    return "\n".join([rules.comment, *lines])


def _has_tag(cell: Mapping[str, Any], tag: str) -> bool:
    return tag in cell["metadata"].get("tags", [])


def _python(value: Argument) -> str:
    return repr(value)


def _r(value: Argument) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return _quoted(value, dollar="$", long_escape="\\U{:08x}")
    if isinstance(value, int):
        return f"{value}L" if abs(value) <= _BIGGEST_R_INTEGER else str(value)
    return repr(value)


def _julia(value: Argument) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value, dollar="\\$", long_escape="\\U{:08x}")
    return repr(value)


def _scala(value: Argument) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, int):
        if -_INT32 <= value < _INT32:
            return str(value)
        return f"{value}L" if -_INT64 <= value < _INT64 else f'BigInt("{value}")'
    return repr(value)


def _bash(value: Argument) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return shlex.quote(value) if isinstance(value, str) else repr(value)


def _quoted(text: str, *, dollar: str, long_escape: str) -> str:
    """Return a text in double quotes, with everything but plain ASCII escaped."""

    def escaped(match: re.Match[str]) -> str:
        character = match[0]
        if character == "$":
            return dollar
        if character in '"\\':
            return f"\\{character}"
        code = ord(character)
        return f"\\u{code:04x}" if code <= 0xFFFF else long_escape.format(code)

    return f'"{_ESCAPED.sub(escaped, text)}"'


_LANGUAGES: Mapping[str, Language] = {
    "python": Language(_python, "{name} = {value}", keyword.iskeyword),
    "r": Language(_r, "{name} <- {value}", lambda name: name.startswith("_") or name in _R_RESERVED),
    "julia": Language(_julia, "{name} = {value}", _JULIA_RESERVED.__contains__),
    "scala": Language(_scala, "val {name} = {value}", _SCALA_RESERVED.__contains__, "// Parameters"),
    "bash": Language(_bash, "{name}={value}", _BASH_RESERVED.__contains__),
}
