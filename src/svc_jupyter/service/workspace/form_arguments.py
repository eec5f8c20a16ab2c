"""Values that a run has for its forms: checked, and those of passwords sealed until it begins."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from svc_jupyter.api.commands import CellOptions
from svc_jupyter.api.notes import NoteForm
from svc_jupyter.api.text import HIDDEN, NOT_UNICODE, broken_place
from svc_jupyter.forms.values import FormProblem, FormValues, value_of
from svc_jupyter.service.ground.errors import Invalid, translated
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.workspace.note_forms import forms_of

CELL: Final = "cell"
"""The field of a command's row with the cell's options, as records show them."""
_VALUES: Final = "_cell"
"""The field with all values that came with a cell; names with `_` are never shown."""
_FIELD: Final = "cell.forms"
"""The field of a submission with the values of a cell."""
_SCALARS = (str, int, float, bool, type(None))
_LONGEST = 1_000_000


def checked_arguments(given: Any, field: str = "arguments") -> dict[str, Any]:
    """Return the arguments by name. Raises `Invalid` about a field that is no object of texts, numbers and lists."""
    if given is None or given == "":
        return {}
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            raise Invalid(f'{field}: must be an object, such as {{"carrier": "AA"}}') from None
    if not isinstance(given, dict):
        raise Invalid(f'{field}: must be an object, such as {{"carrier": "AA"}}')
    if broken_place(given) is not None:  # in the object, or in its JSON text
        raise Invalid(f"{field}: {NOT_UNICODE}")
    for name, value in given.items():
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(one, _SCALARS) for one in values):
            raise Invalid(f"{field}.{name[:100]}: must be a text, a number, true or false, or a list of these")
        if any(isinstance(one, str) and len(one) > _LONGEST for one in values):
            raise Invalid(f"{field}.{name[:100]}: is longer than {_LONGEST:,} characters")
    return dict(given)


def check_forms(forms: Sequence[NoteForm], arguments: Mapping[str, Any], field: str = "arguments") -> None:
    """Raise `Invalid` for an argument that a form of the note's text cannot have. Macros are checked later."""
    for form in forms:
        value = arguments.get(form.name)
        if isinstance(value, str) and "$" in value:
            continue
        with translated(FormProblem, to=Invalid, about=field):
            value_of(form, arguments)


def seal_arguments(
    arguments: Mapping[str, Any], forms: Sequence[NoteForm], box: SecretBox, field: str = "arguments"
) -> tuple[dict[str, Any], str | None]:
    """Return the readable arguments, and those of password forms as one sealed text.

    Raises `Invalid` for a password as records show it: a program would get that text as its password.
    """
    names = {form.name for form in forms if form.type == "password"} & set(arguments)
    if hidden := sorted(name for name in names if arguments[name] == HIDDEN):
        raise Invalid(f"{field}.{hidden[0][:100]}: is hidden in records; give the password itself, or leave it out")
    if not names:
        return dict(arguments), None
    plain = {name: value for name, value in arguments.items() if name not in names}
    return plain, box.seal(json.dumps({name: arguments[name] for name in sorted(names)}))


def shown_arguments(arguments: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as records show them: what is not among the readable ones is hidden."""
    return {**plain, **dict.fromkeys(sorted(arguments.keys() - plain.keys()), HIDDEN)}


def open_arguments(plain: Mapping[str, Any], sealed_text: str | None, box: SecretBox) -> dict[str, Any]:
    """Return all arguments with their values. Raises `ValueError` when the secret key has changed."""
    return {**plain, **(json.loads(box.open(sealed_text)) if sealed_text else {})}


class CellForms:
    """Values of the forms in a command that is the cell of a notebook.

    Its record shows those of its own text, with passwords hidden; others are there for the forms that its code makes.
    """

    def __init__(self, secrets: SecretBox) -> None:
        self._secrets = secrets

    def described(self, text: str, options: CellOptions) -> dict[str, Any]:
        """Return the fields of a cell for the command's row. Raises `Invalid` for values that its forms cannot have."""
        arguments = checked_arguments(options.forms, _FIELD)
        forms = forms_of({"paragraphs": [{"text": text}]})
        check_forms(forms, arguments, _FIELD)
        plain, passwords = seal_arguments(arguments, forms, self._secrets, _FIELD)
        names = {form.name for form in forms}
        shown = {name: value for name, value in shown_arguments(arguments, plain).items() if name in names}
        return {CELL: {**options.model_dump(), "forms": shown}, _VALUES: {"forms": plain, "passwords": passwords}}

    def values(self, command: Mapping[str, Any]) -> FormValues:
        """Return the values for the forms of a cell. Raises `ValueError` when the secret key has changed."""
        values = command[_VALUES]
        return FormValues(open_arguments(values["forms"], values["passwords"], self._secrets))
