"""The body of a submission: a JSON object or a form with the same fields.

A form has only texts. Numbers, booleans and objects are parsed from their texts; an object may also be given field by
field, as `parameters[day]=2013-01-01`.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final
from urllib.parse import parse_qsl

from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.text import NOT_UNICODE, broken_place
from svc_jupyter.service.ground.errors import BadRequest, Invalid
from svc_jupyter.service.http.bodies import may_be_broken, parsed

FORM: Final = "application/x-www-form-urlencoded"
_FIELDS_LIMIT = 1000
_INTEGERS: Final = frozenset({"retry", "retry_delay", "timeout"})
_TRUTHS: Final = frozenset({"can_notify", "upload_to_source"})
_STRUCTURES: Final = frozenset({"macros", "arguments", "sub_commands"})
_FIELD_OF: Final = re.compile(r"([A-Za-z_]\w*)\[([A-Za-z_]\w*)\]")


def submission_body(raw: bytes, content_type: str) -> dict[str, Any]:
    """Return the fields of a submission. Raises `BadRequest` for an unreadable body, `Invalid` for a wrong structure.

    JSON that is sent with the content type of a form, the default of some clients, is read as JSON.
    """
    is_form = content_type.partition(";")[0].strip().lower() == FORM
    try:
        body = parsed(raw or b"{}")
    except (ValueError, RecursionError):
        if is_form:
            return form_body(raw)
        raise BadRequest("the body is not JSON") from None
    if not isinstance(body, dict):
        raise Invalid("the body must be a JSON object")
    if may_be_broken(raw):
        _check_unicode(body)
    return body


def form_body(raw: bytes) -> dict[str, Any]:
    """Return the fields of a form. Raises `BadRequest`, and `Invalid` for a field given twice."""
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_LIMIT)
    except ValueError:
        raise BadRequest(
            "the body is no form: fields as name=value, joined by &, in UTF-8 with percent-encoding"
        ) from None
    body: dict[str, Any] = {}
    for name, text in pairs:
        part = _FIELD_OF.fullmatch(name)
        holder = body.setdefault(part[1], {}) if part else body
        key = part[2] if part else name
        if not isinstance(holder, dict) or key in holder:
            raise Invalid(f"{name[:100]} is given twice")
        holder[key] = text
    is_pig = body.get("command_type") == CommandType.PIG
    structures = _STRUCTURES | {"parameters"} if is_pig else _STRUCTURES
    fields = {name: _value(name, value, structures) for name, value in body.items() if value != ""}
    _check_unicode(fields)
    return fields


def _check_unicode(body: dict[str, Any]) -> None:
    """Raise `Invalid` for a text that is not valid Unicode, also inside the JSON of a form's field."""
    place = broken_place(body)
    if place is not None:
        command_type = body.get("command_type")
        told = f"{command_type} could not be created: " if command_type in list(CommandType) else ""
        raise Invalid(f"{told}{place}: {NOT_UNICODE}", {place: NOT_UNICODE})


def _value(name: str, value: Any, structures: frozenset[str]) -> Any:
    """Return the value of a field's text; an unreadable text is left for the field's own check."""
    if not isinstance(value, str):
        return value
    if name in _INTEGERS and re.fullmatch(r"-?[0-9]{1,15}", value):
        return int(value)
    if name in _TRUTHS and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if name in structures:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise Invalid(f"{name}: must be JSON, or given field by field as {name}[x]=…") from None
    return value
