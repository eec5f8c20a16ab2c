"""What is wrong with a request, in a sentence that names the field and not the value."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from svc_jupyter.api.account import StorageUpdate
from svc_jupyter.api.commands import CommandSubmission, ShellSubmission
from svc_jupyter.service.http.validation import explain, explain_all, fields, fields_of


def error_of(model: type, body: dict[str, object]) -> ValidationError:
    with pytest.raises(ValidationError) as raised:
        model.model_validate(body)
    return raised.value


def test_a_field_of_the_wrong_type_is_named():
    error = error_of(CommandSubmission, {"command_type": "ShellCommand", "timeout": "x"})
    assert explain(error) == "timeout: Input should be a valid integer"


def test_a_rule_of_the_whole_body_stands_alone():
    assert explain(error_of(ShellSubmission, {})) == "give exactly one of inline and script_location"


def test_several_fields_are_named_together():
    error = error_of(CommandSubmission, {"timeout": "x", "retry": 9})
    assert explain(error) == (
        "command_type: Field required; retry: Input should be less than or equal to 3; "
        "timeout: Input should be a valid integer"
    )


def test_where_a_request_holds_the_field_is_left_out():
    errors = [
        {"loc": ("body", "user_id"), "msg": "Field required"},
        {"loc": ("query", "page"), "msg": "Value error, must be positive"},
        {"loc": ("body",), "msg": "Input should be an object"},
    ]
    assert explain_all(errors) == "user_id: Field required; page: must be positive; body: Input should be an object"


def test_a_long_list_is_cut():
    errors = [{"loc": ("body", f"f{number}"), "msg": "wrong"} for number in range(8)]
    assert explain_all(errors).endswith("f4: wrong; and 3 more")


def test_the_value_is_never_shown():
    error = error_of(StorageUpdate, {"url": "s3://b", "secret_key": ["hunter2"], "region": "hunter2" * 100})
    assert "hunter2" not in explain(error)


def test_each_field_has_words_for_people():
    error = error_of(CommandSubmission, {"timeout": "x", "retry": 9, "can_notify": 1, "name": "<b>"})
    assert fields(error) == {
        "command_type": "is missing",
        "timeout": "must be a whole number",
        "retry": "must be 3 or less",
        "can_notify": "must be true or false",
        "name": "must not contain & < > \" ', control characters or overrides of the direction of writing",
    }


def test_a_rule_of_the_whole_body_is_of_no_field():
    assert fields(error_of(ShellSubmission, {})) == {}


def test_two_errors_of_one_field_are_both_reported():
    errors = [{"loc": ("body", "a"), "msg": "Value error, one"}, {"loc": ("body", "a"), "msg": "two", "type": "odd"}]
    assert fields_of(errors) == {"a": "one; two"}
    assert explain_all(errors) == "a: one; a: two"


def test_an_error_that_is_found_twice_is_reported_once():
    errors = [{"loc": ("path", "id"), "msg": "Value error, too large"}] * 2
    assert explain_all(errors) == "id: too large"
    assert fields_of(errors) == {"id": "too large"}
