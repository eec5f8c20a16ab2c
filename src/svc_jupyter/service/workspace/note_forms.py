"""Dynamic forms of notes: the forms in a text, and the values that a document may keep. Functions of values.

The grammar: `${name=default}`, `${name(Label)=default}`, `${name=default,one|two(Label)}` for a choice,
`${checkbox:name=a|b,a|b|c}` for several, `${checkbox( or ):name=…}` with the text that joins them, `${password:name}`.
`$${…}` is one form for the whole note; a `_` before it hides it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from svc_jupyter.api.notes import NoteForm
from svc_jupyter.service.workspace.code_forms import FORM_TYPES, FormType, forms_in_code

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


def forms_of(document: Mapping[str, Any]) -> list[NoteForm]:
    """Return the forms of a document, each once, in the order of its texts, with their stored values.

    Forms that code makes are read from its literals; others that it made in an earlier run are in the document's own
    list.
    """
    found: dict[tuple[str | None, str], NoteForm] = {}
    for paragraph in document["paragraphs"]:
        scope = str(paragraph.get("id"))
        for placeholder in placeholders(paragraph.get("text") or ""):
            _add(found, placeholder.form, None if placeholder.note_wide else scope)
        for form in forms_in_code(paragraph.get("text") or ""):
            _add(found, form, scope)
        for form in _stored(_settings(paragraph, "forms")):
            _add(found, form, scope)
    for form in _stored(document.get("noteForms")):
        _add(found, form, None)
    values = {str(paragraph.get("id")): _settings(paragraph, "params") for paragraph in document["paragraphs"]}
    note_values = _object(document.get("noteParams"))
    for (scope_, name), form in found.items():
        if form.type != "password":
            form.value = (note_values if scope_ is None else values[scope_]).get(name)
    return list(found.values())


def without_passwords(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without the values of its password forms, wherever it records them."""
    texts = [list(placeholders(paragraph.get("text") or "")) for paragraph in document["paragraphs"]]
    note_wide = {one.form.name for found in texts for one in found if one.note_wide and one.form.type == "password"}
    note_wide |= _password_names(document.get("noteForms"))
    paragraphs = []
    for paragraph, found in zip(document["paragraphs"], texts, strict=True):
        secret = note_wide | {one.form.name for one in found if one.form.type == "password"}
        secret |= _password_names(_settings(paragraph, "forms"))
        paragraphs.append(_stripped_paragraph(paragraph, secret) if secret else paragraph)
    stripped = {**document, "paragraphs": paragraphs}
    if note_wide:
        _strip(stripped, "noteParams", "noteForms", note_wide)
    return stripped


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


def _stored(forms: Any) -> Iterator[NoteForm]:
    """Yield the forms that a document lists, skipping invalid entries."""
    for name, about in _object(forms).items():
        if not isinstance(about, dict):
            continue
        form_type = FORM_TYPES.get(str(about.get("type", "textbox")).lower(), "text")
        default = about.get("defaultValue", "")
        label = about.get("displayName")
        options = [
            {"value": str(one.get("value")), "label": str(one.get("displayName") or one.get("value"))}
            for one in _array(about.get("options"))
            if isinstance(one, dict)
        ]
        yield NoteForm(
            name=name,
            type=form_type,
            label=label if isinstance(label, str) else None,
            default=[str(item) for item in default] if isinstance(default, list) else str(default),
            options=options,
            hidden=about.get("hidden") is True,
        )


def _add(found: dict[tuple[str | None, str], NoteForm], form: NoteForm, scope: str | None) -> None:
    found.setdefault((scope, form.name), form.model_copy(update={"scope": scope}))


def _password_names(forms: Any) -> set[str]:
    return {form.name for form in _stored(forms) if form.type == "password"}


def _stripped_paragraph(paragraph: dict[str, Any], secret: set[str]) -> dict[str, Any]:
    settings = dict(_object(paragraph.get("settings")))
    _strip(settings, "params", "forms", secret)
    return {**paragraph, "settings": settings} if "settings" in paragraph else paragraph


def _strip(holder: dict[str, Any], values: str, forms: str, secret: set[str]) -> None:
    """Remove values, and defaults (which hold a form's last value), from a part of a document."""
    if values in holder:
        holder[values] = {name: value for name, value in _object(holder[values]).items() if name not in secret}
    if forms in holder:
        holder[forms] = {
            name: {key: value for key, value in form.items() if key != "defaultValue"}
            if name in secret and isinstance(form, dict)
            else form
            for name, form in _object(holder[forms]).items()
        }


def _settings(paragraph: Mapping[str, Any], part: str) -> dict[str, Any]:
    return _object(_object(paragraph.get("settings")).get(part))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _array(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
