"""Forms in a text, such as `${day=2024-01-01}`: where they are, and what they ask for. Functions of values.

The grammar: `${name=default}`, `${name(Label)=default}`, `${name=default,one|two(Label)}` for a choice,
`${checkbox:name=a|b,a|b|c}` for several, `${checkbox( or ):name=…}` with the text that joins them, `${password:name}`.
`$${…}` is one form for the whole note; a `_` before it hides it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from svc_jupyter.api.notes import FormType, NoteForm

_SEPARATOR = ","


class Placeholder(NamedTuple):
    """A form in a text, and its position."""

    form: NoteForm
    note_wide: bool
    start: int
    end: int


def placeholders(text: str) -> Iterator[Placeholder]:
    """Yield the forms in a text, in order; a name may occur several times."""
    position = 0
    while (opening := text.find("${", position)) >= 0:
        closing = text.find("}", opening)
        if closing < 0:
            return
        position = closing + 1
        note_wide = opening > 0 and text[opening - 1] == "$"
        start = opening - note_wide
        hidden = start > 0 and text[start - 1] == "_"
        form = _form(text[opening + 2 : closing], hidden=hidden)
        if form is not None:
            yield Placeholder(form, note_wide, start - hidden, position)


def _form(body: str, *, hidden: bool) -> NoteForm | None:
    """Return the form between the braces, or None for what only looks like one (`${X:-shell}`)."""
    head, equals, tail = body.partition("=")
    form_type, separator, head = _typed(head)
    name, label = _labelled(head)
    if form_type is None or not name:
        return None
    default, comma, choices = tail.partition(",") if equals else ("", "", "")
    options = [_option(choice) for choice in choices.split("|")] if comma else []
    if form_type == "checkbox":
        chosen = default.split("|") if default else []
        return NoteForm(
            name=name,
            type=form_type,
            label=label,
            default=chosen,
            separator=separator,
            options=options,
            hidden=hidden,
        )
    if options and form_type == "text":
        form_type = "select"
    return NoteForm(name=name, type=form_type, label=label, default=default, options=options, hidden=hidden)


def _typed(head: str) -> tuple[FormType | None, str, str]:
    """Return the type before a colon (None if unknown), the text that joins options, and the rest."""
    word, colon, rest = head.partition(":")
    bare, bracket, joint = word.strip().partition("(")
    if not colon or (bracket and not joint.endswith(")")):  # the colon is in the label
        return "text", _SEPARATOR, head
    separator = joint[:-1] if bracket else _SEPARATOR
    match bare.strip():
        case "password":
            return "password", separator, rest
        case "checkbox":
            return "checkbox", separator, rest
    return None, separator, rest


def _option(text: str) -> dict[str, str]:
    value, label = _labelled(text)
    return {"value": value, "label": value if label is None else label}


def _labelled(text: str) -> tuple[str, str | None]:
    name, bracket, label = text.strip().partition("(")
    return (name.strip(), label[:-1]) if bracket and label.endswith(")") else (text.strip(), None)
