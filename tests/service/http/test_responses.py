"""Answers are valid Unicode, whatever a record holds."""

from __future__ import annotations

import json

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.responses import error_response, json_response


def test_a_text_that_is_no_unicode_is_shown_as_far_as_it_can_be():
    answer = json_response({"commands": [{"name": "a\ud800b"}, {"name": "ü"}]})
    assert json.loads(bytes(answer.body)) == {"commands": [{"name": "a\ufffdb"}, {"name": "ü"}]}


def test_an_error_names_its_fields_where_it_has_some():
    answer = error_response(422, "a: wrong", "t" * 8, fields={"a": "wrong"})
    assert json.loads(bytes(answer.body))["error"]["fields"] == {"a": "wrong"}
    assert "fields" not in json.loads(bytes(error_response(409, "no", "t" * 8).body))["error"]


def test_an_error_about_a_field_needs_to_name_it_once_only():
    assert Invalid("command.inline: must be a text").fields == {"command.inline": "must be a text"}
    assert Invalid("give exactly one of inline and script_location").fields is None
    assert Invalid("ShellCommand could not be created: it is late").fields is None
