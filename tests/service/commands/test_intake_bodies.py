"""The body of a submission, as JSON and as a form."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from svc_jupyter.api.commands import CommandSubmission
from svc_jupyter.service.commands.intake import FORM, form_body, submission_body
from svc_jupyter.service.ground.errors import BadRequest, Invalid


def test_a_script_sent_as_a_form_arrives_as_it_was():
    script = "a = LOAD 'x' AS (k:chararray);\n-- 100 % & more + ünicode\nDUMP a;"
    raw = urlencode({"command_type": "PigCommand", "latin_statements": script}).encode()

    assert submission_body(raw, f"{FORM}; charset=utf-8") == {"command_type": "PigCommand", "latin_statements": script}


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_every_text_arrives_as_it_was(text):
    assert form_body(urlencode({"latin_statements": text}).encode()) == {"latin_statements": text}


def test_fields_that_are_no_texts_are_read_from_theirs():
    fields = {
        "command_type": "PigCommand",
        "timeout": "80",
        "can_notify": "TRUE",
        "macros": '[{"day": "1"}]',
        "parameters": '{"day": "2013"}',
        "name": "7",
    }

    assert form_body(urlencode(fields).encode()) == {
        "command_type": "PigCommand",
        "timeout": "80",
        "can_notify": "TRUE",
        "macros": [{"day": "1"}],
        "parameters": {"day": "2013"},
        "name": "7",
    }
    submission = CommandSubmission.model_validate(form_body(urlencode(fields).encode()))
    assert (submission.timeout, submission.can_notify, submission.name) == (80, True, "7")


def test_parameters_may_come_one_by_one():
    raw = urlencode({"command_type": "PigCommand", "parameters[day]": "2013", "parameters[hour]": "5"}).encode()

    assert form_body(raw)["parameters"] == {"day": "2013", "hour": "5"}


def test_parameters_of_a_shell_command_are_a_text():
    assert form_body(b"command_type=ShellCommand&parameters=7")["parameters"] == "7"


NO_VALUES: list[tuple[str, Any, str]] = [
    ("timeout", "soon", "Input should be a valid integer"),
    ("timeout", "1.0", "Input should be a valid integer"),
    ("timeout", "²", "Input should be a valid integer"),
    ("timeout", "-1", "Input should be greater than or equal to 1"),
    ("timeout", "9" * 19, "Input should be less than or equal to 2147483647"),
    ("can_notify", "yes", "Input should be a valid boolean"),
    ("can_notify", 1, "Input should be a valid boolean"),
]


def test_a_text_that_is_no_number_or_truth_is_refused() -> None:
    def refusal(field: str, value: Any) -> tuple[str, Any, str]:
        with pytest.raises(ValidationError) as refused:
            CommandSubmission.model_validate({"command_type": "ShellCommand", field: value})
        (error,) = refused.value.errors()
        return str(error["loc"][0]), value, error["msg"]

    assert [refusal(field, value) for field, value, _ in NO_VALUES] == NO_VALUES


def test_a_number_that_is_none_is_left_for_its_own_check():
    assert form_body(b"timeout=soon&can_notify=maybe") == {"timeout": "soon", "can_notify": "maybe"}


def test_json_that_is_called_a_form_is_json():
    body = {"command_type": "ShellCommand", "inline": "true"}

    assert submission_body(json.dumps(body).encode(), FORM) == body


def refusal(raw: bytes, content_type: str) -> tuple[type[Exception], str]:
    with pytest.raises((BadRequest, Invalid)) as refused:
        submission_body(raw, content_type)
    return type(refused.value), refused.value.message


NO_FORM = "the body is not a form: fields as name=value, joined by &, in UTF-8 with percent-encoding"
UNREADABLE_FORMS = {
    b"a=1&a=2": (Invalid, "a is given twice"),
    b"parameters=1&parameters[x]=2": (Invalid, "parameters[x] is given twice"),
    b"command_type=PigCommand&parameters=x": (
        Invalid,
        "parameters: must be JSON, or given field by field as parameters[x]=…",
    ),
    b"latin_statements=%ff": (BadRequest, NO_FORM),
    "a=ü".encode(): (BadRequest, NO_FORM),
    b"a=1&" * 1001: (BadRequest, NO_FORM),
}


def test_an_unreadable_form_is_refused():
    assert {raw: refusal(raw, FORM) for raw in UNREADABLE_FORMS} == UNREADABLE_FORMS


NO_OBJECT = (Invalid, "the body must be a JSON object")
HALF = "holds half of a surrogate pair, which is not a character; send text that is valid Unicode"
UNREADABLE_JSON = {
    b"a=1": (BadRequest, "the body is not JSON"),
    b"{": (BadRequest, "the body is not JSON"),
    b"\xff\xfe": (BadRequest, "the body is not JSON"),
    b"[" * 100_000: (BadRequest, "the body is not JSON"),
    b"1" * 5000: (BadRequest, "the body is not JSON"),
    b"[1]": NO_OBJECT,
    b"[]": NO_OBJECT,
    b'"text"': NO_OBJECT,
    b"null": NO_OBJECT,
    b'{"command_type": "ShellCommand", "inline": "a\\ud800b"}': (
        Invalid,
        f"ShellCommand could not be created: inline: {HALF}",
    ),
    b'{"command_type": "ShellCommand", "inline": "true", "name": "\\ud800"}': (
        Invalid,
        f"ShellCommand could not be created: name: {HALF}",
    ),
}


def test_unreadable_json_is_refused():
    assert {raw: refusal(raw, "application/json") for raw in UNREADABLE_JSON} == UNREADABLE_JSON


def test_an_empty_body_has_no_fields():
    assert submission_body(b"", "application/json") == submission_body(b"{}", "application/json") == {}
