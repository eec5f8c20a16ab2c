"""The forms of a document, and that no password's value is kept."""

from __future__ import annotations

import json
from typing import Any

from svc_jupyter.service.workspace.note_forms import forms_of, without_passwords


def test_forms_have_the_values_that_the_document_keeps():
    document = {
        "paragraphs": [
            {
                "id": "p1",
                "text": "select ${day=1} ${day=2} $${who=me}",
                "settings": {
                    "params": {"day": "7", "made": ["x"]},
                    "forms": {
                        "day": {"type": "TextBox", "name": "day", "defaultValue": "1"},
                        "made": {
                            "type": "CheckBox",
                            "defaultValue": ["x"],
                            "displayName": "Made by code",
                            "options": [{"value": "x"}, "odd"],
                        },
                        "odd": "no form",
                    },
                },
            },
            {"id": "p2", "text": None, "settings": None},
        ],
        "noteParams": {"who": "ann"},
    }
    found = [item.model_dump() for item in forms_of(document)]
    assert [(one["name"], one["scope"], one["type"], one["value"]) for one in found] == [
        ("day", "p1", "text", "7"),
        ("who", None, "text", "ann"),
        ("made", "p1", "checkbox", ["x"]),
    ]
    assert (found[2]["label"], found[2]["options"]) == ("Made by code", [{"value": "x", "label": "x"}])


def test_no_value_of_a_password_is_kept():
    document = {
        "paragraphs": [
            {
                "id": "by text",
                "text": "${password:pin} ${user=ann}",
                "settings": {"params": {"pin": "hunter2", "user": "ann"}, "forms": {}},
            },
            {
                "id": "by code",
                "text": 'z.password("pin")',
                "settings": {
                    "params": {"pin": "hunter2"},
                    "forms": {"pin": {"type": "Password", "name": "pin", "defaultValue": "hunter2"}},
                },
            },
            {"id": "of the note", "text": "$${password:shared}", "settings": {"params": {"shared": "hunter2"}}},
            {"id": "odd", "text": "${password:a}", "settings": ["hunter2"], "title": "odd"},
        ],
        "noteParams": {"shared": "hunter2", "coded": "hunter2", "kept": 1},
        "noteForms": {"coded": {"type": "Password", "defaultValue": "hunter2"}},
    }
    before = json.dumps(document)
    clean = without_passwords(document)
    assert json.dumps(document) == before, "the caller's own document is not changed"
    assert "hunter2" not in json.dumps(clean)
    assert clean["paragraphs"][0]["settings"]["params"] == {"user": "ann"}
    assert clean["noteParams"] == {"kept": 1}
    assert clean["paragraphs"][1]["settings"]["forms"] == {"pin": {"type": "Password", "name": "pin"}}
    assert {one.name: one.value for one in forms_of(clean)}["pin"] is None


def made_by(code: str) -> list[Any]:
    found = forms_of({"paragraphs": [{"id": "p", "text": code}]})
    return [(one.name, one.type, one.default, [option["value"] for option in one.options]) for one in found]


def test_forms_that_code_makes_are_known_as_far_as_they_are_literals():
    forms: dict[str, list[Any]] = {
        'z.textbox("day", "1")': [("day", "text", "1", [])],
        "%pyspark\nn = z.input('minutes', default=30)\n": [("minutes", "text", "30", [])],
        '%python\nz.password("pin")': [("pin", "password", "", [])],
        'z.select("to", "b", ["a", "b"])': [("to", "select", "b", ["a", "b"])],
        'z.select("to", [("a", "Ay"), "b"], "a")': [("to", "select", "a", ["a", "b"])],
        'z.checkbox("on", ["x", "y"])': [("on", "checkbox", ["x", "y"], ["x", "y"])],
        'z.checkbox("on", ["x", "y"], ["y"])': [("on", "checkbox", ["y"], ["x", "y"])],
        'x = ${n=1}\nz.textbox("a")\nz.textbox("b")': [
            ("n", "text", "1", []),
            ("a", "text", "", []),
            ("b", "text", "", []),
        ],
        "z.textbox(name_of_it)": [],
        'z.textbox("not python"': [],
        '%spark\nz.textbox("of scala")': [],
        "%sql\n-- z.textbox('of sql')": [],
        'z.textbox(7)\nother.textbox("a")\nz.show("b")': [],
        'z.select("to", options=unknown)\nz.select()': [],
    }
    assert {code: made_by(code) for code in forms} == forms
