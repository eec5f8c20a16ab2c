"""Inserts form values into a program, so that no value is ever read as code. Functions of values.

The author's own text (a form's default or one of its options) is inserted unchanged, and so is a number. Every other
value is data: it is escaped in a string literal, becomes a string literal in code, and a variable in a shell. Where a
language has no way to write it, the run reports that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pygments.lexers.shell import BashLexer
from pygments.token import String

from svc_jupyter.api.notes import NoteForm
from svc_jupyter.service.ground.errors import Failure
from svc_jupyter.service.kinds.spark.notes.code_contexts import SYNTAX, CodeContext, ContextKind, places
from svc_jupyter.service.kinds.spark.notes.languages import Language
from svc_jupyter.service.workspace.note_forms import Placeholder, placeholders


class FormProblem(Failure):
    """A form cannot have its value; the text names the form and never the value, which may be a password."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"form {name} {why}")


@dataclass(frozen=True, slots=True)
class FormValue:
    """A form's value as text. `is_the_authors`: it is the default, or made of options, of the note itself."""

    text: str
    is_the_authors: bool


@dataclass(frozen=True, slots=True)
class FormValues:
    """The forms' values in a run: its arguments by form name. A form without an argument has its default."""

    arguments: Mapping[str, Any]

    def of(self, placeholder: Placeholder) -> FormValue:
        """Return the value of a placeholder's form. Raises `FormProblem` for a value that the form cannot have."""
        return value_of(placeholder.form, self.arguments)


def value_of(form: NoteForm, arguments: Mapping[str, Any]) -> FormValue:
    """Return a form's value: the argument of its name, or else its default. Raises `FormProblem`."""
    default = form.default
    if form.name not in arguments:
        chosen = default if isinstance(default, list) else [default]
        return FormValue(form.separator.join(chosen), is_the_authors=True)
    given = arguments[form.name]
    allowed = {option["value"] for option in form.options}
    if form.type == "checkbox":
        chosen = [_text(form.name, one) for one in (given if isinstance(given, list) else _split(form.name, given))]
        if strange := [one for one in chosen if one not in allowed]:
            raise FormProblem(form.name, f"has no option {strange[0]!r}; there are {', '.join(sorted(allowed))}")
        return FormValue(form.separator.join(chosen), is_the_authors=True)
    text = _text(form.name, given)
    if form.type == "select" and text not in allowed | {str(default)}:
        raise FormProblem(form.name, f"has no option {text!r}; there are {', '.join(sorted(allowed))}")
    return FormValue(text, is_the_authors=text in allowed or (text == default and form.type != "password"))


def _split(name: str, given: Any) -> list[str]:
    text = _text(name, given)
    return [one.strip() for one in text.split(",")] if text else []


def _text(name: str, given: Any) -> str:
    """Return an argument as the text that a user would type into the form."""
    match given:
        case None:
            return ""
        case bool():
            return "true" if given else "false"
        case str():
            if any("\ud800" <= letter <= "\udfff" for letter in given):
                raise FormProblem(name, "holds a character that is not Unicode (a lone surrogate)")
            return given
        case int() | float():
            return str(given)
    raise FormProblem(name, f"takes a text, a number or true or false, not {_a_type(given)}")


def _a_type(given: Any) -> str:
    return "a list" if isinstance(given, list) else "an object"


_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
"""Characters with a meaning in Markdown, unless a backslash precedes them."""
_SHELL_VARIABLE = "SVC_FORM_{}"


def filled(code: str, language: Language, values: FormValues) -> tuple[str, dict[str, str]]:
    """Return a paragraph's program with its forms filled in, and the variables that a shell needs for it.

    A `${…}` that a shell or an interpolated Scala string would read as its own is left unchanged. Raises `FormProblem`
    for a value that cannot be written at its form's position.
    """
    found = list(placeholders(code))
    match language:
        case Language.SHELL:
            return _shell(code, found, values)
        case Language.MARKDOWN:
            texts = [_PUNCTUATION.sub(r"\\\g<0>", values.of(one).text) for one in found]
        case _:
            around = places(code, [(one.start, one.end) for one in found], SYNTAX[language])
            texts = [
                code[one.start : one.end]
                if language is Language.SCALA and place.prefix
                else _written(values.of(one), place, language, one.form.name, stands_alone=_stands_alone(code, one))
                for one, place in zip(found, around, strict=True)
            ]
    return _replaced(code, found, texts), {}


def _replaced(code: str, found: list[Placeholder], texts: list[str]) -> str:
    parts, position = [], 0
    for placeholder, text in zip(found, texts, strict=True):
        parts += [code[position : placeholder.start], text]
        position = placeholder.end
    return "".join([*parts, code[position:]])


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


def _shell(code: str, found: list[Placeholder], values: FormValues) -> tuple[str, dict[str, str]]:
    """Put variables in place of the forms: a shell never runs a variable's value as a command."""
    found = [one for one in found if one.form.name in values.arguments or not _is_bare(one)]
    names = [_SHELL_VARIABLE.format(number) for number in range(1, len(found) + 1)]
    quoted = _single_quoted(_replaced(code, found, names), set(names))
    variables, texts = {}, []
    for name, placeholder in zip(names, found, strict=True):
        value = values.of(placeholder)
        if "\0" in value.text:
            raise FormProblem(placeholder.form.name, "holds a NUL character, which a shell cannot")
        variables[name] = value.text
        texts.append(f"'\"${{{name}}}\"'" if name in quoted else f"${{{name}}}")
    return _replaced(code, found, texts), variables


def _is_bare(placeholder: Placeholder) -> bool:
    """Return whether it is only a name, as in `${HOME}`, which is a variable of the shell."""
    form = placeholder.form
    return not (form.default or form.options or form.label) and form.type == "text" and not placeholder.note_wide


def _single_quoted(code: str, names: set[str]) -> set[str]:
    """Return the names that are between single quotes, where a shell replaces nothing."""
    found = set()
    for kind, text in BashLexer().get_tokens(code):
        if kind is String.Single:
            found |= {word for word in re.findall(r"SVC_FORM_\d+", text) if word in names}
    return found
