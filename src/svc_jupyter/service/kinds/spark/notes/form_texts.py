"""Inserts form values into a program of a session, so that no value is ever read as code. Functions of values.

The author's own text (a form's default or one of its options) is inserted unchanged, and so is a number. Every other
value is data: it is escaped in a string literal, and becomes one in code. Where a language has no way to write it, the
run reports that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from svc_jupyter.forms.filling import replaced
from svc_jupyter.forms.placeholders import Placeholder, placeholders
from svc_jupyter.forms.values import FormProblem, FormValue, FormValues
from svc_jupyter.service.kinds.spark.notes.code_contexts import SYNTAX, CodeContext, ContextKind, places
from svc_jupyter.service.kinds.spark.notes.languages import Language

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")


def filled(code: str, language: Language, values: FormValues) -> str:
    """Return a program with its forms filled in; `language` is one of those that a session runs.

    A `${…}` that an interpolated Scala string would read as its own is left unchanged. Raises `FormProblem` for a value
    that cannot be written at its form's position.
    """
    found = list(placeholders(code))
    around = places(code, [(one.start, one.end) for one in found], SYNTAX[language])
    texts = [
        code[one.start : one.end]
        if language is Language.SCALA and place.prefix
        else _written(values.of(one), place, language, one.form.name, stands_alone=_stands_alone(code, one))
        for one, place in zip(found, around, strict=True)
    ]
    return replaced(code, found, texts)


def _stands_alone(code: str, placeholder: Placeholder) -> bool:
    """Return whether no word, quote or other form touches it: a literal there would join another one."""
    before, behind = code[: placeholder.start][-1:], code[placeholder.end :][:1]
    return not any(letter.isalnum() or letter in "_'\"`}$\\" for letter in (before, behind) if letter)


def _written(value: FormValue, place: CodeContext, language: Language, name: str, *, stands_alone: bool) -> str:
    match place.kind:
        case ContextKind.COMMENT:
            return _in_comment(value.text)
        case ContextKind.NAME:
            return _in_name(value.text, name)
        case ContextKind.STRING:
            return _in_string(value.text, place, language, name)
    if value.is_the_authors or _NUMBER.fullmatch(value.text):
        return value.text
    if place.kind is ContextKind.NESTED:
        raise FormProblem(name, "stands in the code within a string: put its value into a variable first")
    if not stands_alone:
        raise FormProblem(
            name, "touches a word or a quote, where only a number or an option can stand: quote the whole"
        )
    return _LITERALS[language](value.text)


def _in_comment(text: str) -> str:
    """Escape a value in a comment: no line end, no comment bracket, nothing that Spark SQL would replace."""
    return "".join(letter if letter.isprintable() and letter not in "*/$" else " " for letter in text)


def _in_name(text: str, name: str) -> str:
    if "${" in text or not text.isprintable():
        raise FormProblem(name, "stands in a quoted name, which cannot hold this value")
    return text.replace("`", "``")


def _in_string(text: str, place: CodeContext, language: Language, name: str) -> str:
    if place.after_backslash:
        raise FormProblem(name, "stands behind a backslash, which would change its value: double the backslash")
    if _is_verbatim(place, language):
        if _fits_verbatim(text, place, language):
            return text
        raise FormProblem(name, f"stands in a {place.prefix or place.quote} string, which cannot hold this value")
    if language is Language.PYTHON and set(place.prefix) & set("bB") and not text.isascii():
        raise FormProblem(name, "stands in a bytes literal, which holds ASCII only")
    escaped = _ESCAPES[language](text)
    if language is Language.PYTHON and set(place.prefix) & set("fFtT"):
        return escaped.replace("{", "{{").replace("}", "}}")
    return escaped


def _is_verbatim(place: CodeContext, language: Language) -> bool:
    if language is Language.SCALA:
        return place.quote == '"""'
    return bool(set(place.prefix) & set("rR"))


def _fits_verbatim(text: str, place: CodeContext, language: Language) -> bool:
    """Return whether a literal without escapes can hold a value unchanged."""
    forbidden = {*place.quote, "\\"}
    if place.prefix and language is not Language.SQL:
        forbidden |= {"{", "}", "$", "%"}
    if language is Language.SQL:
        forbidden.add("$")
    printable = text.replace("\n", " ") if len(place.quote) == 3 else text
    return printable.isprintable() and not forbidden & set(text)


def _escaped_for(replacements: Mapping[str, str], control: str) -> Callable[[str], str]:
    """Return an escaping function: the replacements, and every other control character by `control`."""

    def escape(text: str) -> str:
        return "".join(
            replacements.get(letter)
            or (control.format(ord(letter)) if ord(letter) < 32 or ord(letter) == 127 else letter)
            for letter in text
        )

    return escape


_BACKSLASHED = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPES: Mapping[Language, Callable[[str], str]] = {
    Language.PYTHON: _escaped_for(_BACKSLASHED, "\\x{:02x}"),
    Language.SCALA: _escaped_for(_BACKSLASHED, "\\u{:04x}"),
    # Spark replaces `${…}` in the whole statement before it parses it: no value may contain that.
    Language.SQL: _escaped_for({**_BACKSLASHED, "$": "\\u0024"}, "\\u{:04x}"),
    Language.R: _escaped_for(_BACKSLASHED, "\\x{:02x}"),
}
_LITERALS: Mapping[Language, Callable[[str], str]] = {
    Language.PYTHON: repr,
    Language.SCALA: lambda text: json.dumps(text, ensure_ascii=False),
    Language.SQL: lambda text: f"'{_ESCAPES[Language.SQL](text)}'",
    Language.R: lambda text: f'"{_ESCAPES[Language.R](text)}"',
}
