"""Forms that Python code makes by `z.textbox(…)` and the like, as far as they are known without running it.

Only calls whose arguments are literals are found. Functions of values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from svc_jupyter.api.notes import FormType, NoteForm

_CALL = re.compile(r"\bz\s*\.\s*(?:textbox|input|password|select|checkbox)\b")
_HEADER = re.compile(r"\A\s*%(?P<word>[\w.]+)(?:\([^)\n]*\))?")
_PYTHON = frozenset({"pyspark", "python", "spark.pyspark"})
_PLACEHOLDER = re.compile(r"_?\$?\$\{[^}]*\}")
FORM_TYPES: Mapping[str, FormType] = {
    "textbox": "text",
    "input": "text",
    "password": "password",
    "select": "select",
    "checkbox": "checkbox",
}
"""The forms that code makes, by the names of the calls."""
_PARAMETERS: dict[str, tuple[str, ...]] = {"textbox": ("name", "default"), "password": ("name",)}
_PARAMETERS["input"] = _PARAMETERS["textbox"]


def forms_in_code(text: str) -> Iterator[NoteForm]:
    """Yield the forms of a paragraph's Python code, in order; none for another language or a text that is no Python."""
    if _CALL.search(text) is None:
        return
    header = _HEADER.match(text)
    if header is not None and header["word"].lower() not in _PYTHON:
        return
    code = _PLACEHOLDER.sub("0", text[header.end() :] if header else text)
    try:
        tree = ast.parse(code.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        form = _form(call)
        if form is not None:
            yield form


def _form(call: ast.Call) -> NoteForm | None:
    """Return the form that a call makes; None for another call, and for arguments that are computed."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="z"), attr=kind) if kind in FORM_TYPES:
            pass
        case _:
            return None
    try:
        given = [ast.literal_eval(one) for one in call.args]
        named = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
    except ValueError:
        return None
    if kind in _PARAMETERS:
        named = {**dict(zip(_PARAMETERS[kind], given, strict=False)), **named}
        lists: list[Any] = []
    else:
        name, *rest = [*given, None]
        named = {"name": name, **named}
        lists = [one for one in rest if isinstance(one, list | tuple)]
        values = [one for one in rest if not isinstance(one, list | tuple) and one is not None]
        named = {**({"default": values[-1]} if values else {}), **named}
    return _made(FORM_TYPES[kind], named, lists)


def _made(form_type: FormType, named: dict[str | None, Any], lists: list[Any]) -> NoteForm | None:
    name = named.get("name")
    if not isinstance(name, str) or not name:
        return None
    pairs = _pairs(lists[0] if lists else named.get("options", ()))
    options = [{"value": value, "label": label} for value, label in pairs]
    default: str | list[str]
    if form_type == "checkbox":
        chosen = lists[1] if len(lists) > 1 else named.get("default", ())
        default = [str(one) for one in chosen] if isinstance(chosen, list | tuple) and chosen else [v for v, _ in pairs]
    else:
        default = "" if form_type == "password" else str(named.get("default", ""))
    return NoteForm(name=name, type=form_type, default=default, options=options)


def _pairs(options: Any) -> list[tuple[str, str]]:
    if not isinstance(options, list | tuple):
        return []
    return [
        (str(one[0]), str(one[1])) if isinstance(one, list | tuple) and len(one) == 2 else (str(one), str(one))
        for one in options
    ]
