"""Inserts form values into a script or a text, so that no value is ever a command or markup. Functions of values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pygments.lexers.shell import BashLexer
from pygments.token import String

from svc_jupyter.api.text import HIDDEN
from svc_jupyter.forms.placeholders import Placeholder, placeholders
from svc_jupyter.forms.values import FormProblem, FormValues

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
"""Characters with a meaning in Markdown, unless a backslash precedes them."""
_SHELL_VARIABLE = "SVC_FORM_{}"


def replaced(text: str, found: Sequence[Placeholder], values: Sequence[str]) -> str:
    """Return a text with a value in the place of each form."""
    parts, position = [], 0
    for placeholder, value in zip(found, values, strict=True):
        parts += [text[position : placeholder.start], value]
        position = placeholder.end
    return "".join([*parts, text[position:]])


def filled_markdown(text: str, values: FormValues) -> str:
    """Return Markdown with its forms filled in: markup in a value is text, a password hidden. Raises `FormProblem`."""
    found = list(placeholders(text))
    return replaced(text, found, [_PUNCTUATION.sub(r"\\\g<0>", _readable(one, values)) for one in found])


def filled_text(text: str, values: FormValues) -> str:
    """Return the same for a front end that shows a text as it is. Raises `FormProblem`."""
    found = list(placeholders(text))
    return replaced(text, found, [_readable(one, values) for one in found])


def _readable(placeholder: Placeholder, values: FormValues) -> str:
    """Return a form's value for a text that people read, and that a notebook keeps: never a password."""
    return HIDDEN if placeholder.form.type == "password" else values.of(placeholder).text


def filled_script(script: str, values: FormValues) -> tuple[str, dict[str, str]]:
    """Return a shell script with variables in place of its forms, and the variables: none is ever run as a command.

    A `${NAME}` without a value is a variable of the script's own. Raises `FormProblem`.
    """
    found = [one for one in placeholders(script) if one.form.name in values.arguments or not _is_bare(one)]
    names = [_SHELL_VARIABLE.format(number) for number in range(1, len(found) + 1)]
    quoted = _single_quoted(replaced(script, found, names), set(names))
    variables, texts = {}, []
    for name, placeholder in zip(names, found, strict=True):
        value = values.of(placeholder)
        if "\0" in value.text:
            raise FormProblem(placeholder.form.name, "holds a NUL character, which a shell cannot")
        variables[name] = value.text
        texts.append(f"'\"${{{name}}}\"'" if name in quoted else f"${{{name}}}")
    return replaced(script, found, texts), variables


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
