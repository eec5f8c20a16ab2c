"""Values of forms in a run: what its arguments give, or else the form's default. Functions of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from svc_jupyter.api.notes import NoteForm
from svc_jupyter.forms.placeholders import Placeholder


class FormProblem(Exception):
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
