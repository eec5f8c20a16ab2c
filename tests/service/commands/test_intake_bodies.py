"""The body of a submission, as JSON and as a form."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"timeout": "soon"}, "timeout"),
        ({"timeout": "1.0"}, "timeout"),
        ({"timeout": "²"}, "timeout"),
        ({"timeout": "-1"}, "greater than or equal to 1"),
        ({"timeout": "9" * 19}, "less than or equal to 2147483647"),
        ({"can_notify": "yes"}, "can_notify"),
        ({"can_notify": 1}, "can_notify"),
    ],
)
def test_a_text_that_is_no_number_or_truth_is_refused(fields: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        CommandSubmission.model_validate({"command_type": "ShellCommand", **fields})


def test_a_number_that_is_none_is_left_for_its_own_check():
    assert form_body(b"timeout=soon&can_notify=maybe") == {"timeout": "soon", "can_notify": "maybe"}


def test_json_that_is_called_a_form_is_json():
    body = {"command_type": "ShellCommand", "inline": "true"}

    assert submission_body(json.dumps(body).encode(), FORM) == body


@pytest.mark.parametrize(
    ("raw", "content_type", "error"),
    [
        (b"a=1&a=2", FORM, Invalid),
        (b"parameters=1&parameters[x]=2", FORM, Invalid),
        (b"command_type=PigCommand&parameters=x", FORM, Invalid),
        (b"[1]", "application/json", Invalid),
        (b"a=1", "application/json", BadRequest),
        (b"latin_statements=%ff", FORM, BadRequest),
        ("a=ü".encode(), FORM, BadRequest),
        (b"a=1&" * 1001, FORM, BadRequest),
    ],
)
def test_an_unreadable_submission_body_is_refused(raw, content_type, error):
    with pytest.raises(error):
        submission_body(raw, content_type)
