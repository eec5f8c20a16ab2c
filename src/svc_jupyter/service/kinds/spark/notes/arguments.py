"""The arguments of a note's run: checked, with the values of passwords sealed. Functions of values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api.notes import NoteForm
from svc_jupyter.api.text import NOT_UNICODE, broken_place
from svc_jupyter.service.ground.errors import Invalid, translated
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.kinds.spark.notes.form_texts import FormProblem, value_of

HIDDEN = "<hidden>"
_SCALARS = (str, int, float, bool, type(None))
_LONGEST = 1_000_000


def checked_arguments(given: Any) -> dict[str, Any]:
    """Return the arguments by name. Raises `Invalid` unless they are an object of texts, numbers and lists."""
    if given is None or given == "":
        return {}
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            raise Invalid('arguments: must be an object, such as {"carrier": "AA"}') from None
    if not isinstance(given, dict):
        raise Invalid('arguments: must be an object, such as {"carrier": "AA"}')
    if broken_place(given) is not None:  # in the object, or in its JSON text
        raise Invalid(f"arguments: {NOT_UNICODE}")
    for name, value in given.items():
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(one, _SCALARS) for one in values):
            raise Invalid(f"arguments.{name[:100]}: must be a text, a number, true or false, or a list of these")
        if any(isinstance(one, str) and len(one) > _LONGEST for one in values):
            raise Invalid(f"arguments.{name[:100]}: is longer than {_LONGEST:,} characters")
    return dict(given)


def check_forms(forms: Sequence[NoteForm], arguments: Mapping[str, Any]) -> None:
    """Raise `Invalid` for an argument that a form of the note's text cannot have. Macros are checked later."""
    for form in forms:
        value = arguments.get(form.name)
        if isinstance(value, str) and "$" in value:
            continue
        with translated(FormProblem, to=Invalid, about="arguments"):
            value_of(form, arguments)


def sealed(
    arguments: Mapping[str, Any], forms: Sequence[NoteForm], box: SecretBox
) -> tuple[dict[str, Any], str | None]:
    """Return the readable arguments, and those of password forms as one sealed text."""
    names = {form.name for form in forms if form.type == "password"} & set(arguments)
    if not names:
        return dict(arguments), None
    plain = {name: value for name, value in arguments.items() if name not in names}
    return plain, box.seal(json.dumps({name: arguments[name] for name in sorted(names)}))


def shown(plain: Mapping[str, Any], secrets: Sequence[str]) -> str:
    """Return the arguments as the record's text, with passwords hidden."""
    return json.dumps({**plain, **dict.fromkeys(secrets, HIDDEN)}, ensure_ascii=False)


def opened(plain: Mapping[str, Any], sealed_text: str | None, box: SecretBox) -> dict[str, Any]:
    """Return all arguments with their values. Raises `ValueError` when the secret key has changed."""
    return {**plain, **(json.loads(box.open(sealed_text)) if sealed_text else {})}
