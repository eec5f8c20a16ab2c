"""Dynamic forms of notes: the forms of a document, and the values that it may keep. Functions of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from svc_jupyter.api.notes import NoteForm
from svc_jupyter.forms.placeholders import placeholders
from svc_jupyter.service.workspace.code_forms import FORM_TYPES, forms_in_code


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
