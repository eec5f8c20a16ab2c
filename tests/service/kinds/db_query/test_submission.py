"""What is refused of a DB query by its form."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from svc_jupyter.api.commands import DbTapQuerySubmission
from svc_jupyter.service.http.validation import explain


def refusal(body: dict) -> str:
    with pytest.raises(ValidationError) as refused:
        DbTapQuerySubmission.model_validate(body)
    return explain(refused.value)


def test_exactly_one_query_is_needed():
    assert {
        refusal({"db_tap_id": 1, "query": "SELECT 1", "script_location": "q.sql"}),
        refusal({"db_tap_id": 1, "query": " "}),
        refusal({"db_tap_id": 1, "script_location": ""}),
    } == {"give exactly one of query and script_location"}
    assert refusal({"db_tap_id": 1, "query": 7}) == "query: Input should be a valid string"


NO_TAPS = [
    (None, "db_tap_id: Field required"),
    ("x", "db_tap_id: Input should be a valid integer"),
    (0, "db_tap_id: Input should be greater than or equal to 1"),
    (2**63, "db_tap_id: Input should be less than or equal to 9223372036854775807"),
    (1.5, "db_tap_id: Input should be a valid integer"),
    (True, "db_tap_id: Input should be a valid integer"),
]


def test_a_tap_is_named_by_its_id():
    assert [(tap, refusal({"db_tap_id": tap, "query": "SELECT 1"})) for tap, _ in NO_TAPS] == NO_TAPS


NO_DECIMAL = 'bindings: a: a decimal must be a text such as "12.50": a number with a fraction may lose digits in JSON'
NO_VALUES = [
    ({"1st": 1}, "bindings: '1st' is not a name (letters, digits and _, not first a digit)"),
    ({"a": []}, "bindings: a: an empty list has no form in SQL; leave its condition out of the query"),
    (
        {"a": [[1]]},
        "bindings: a: must be a text, a number, true, false, null, a value with its type, or a list of these",
    ),
    (
        {"a": {"value": 1}},
        "bindings: a: the type must be one of string, boolean, integer, decimal, double, date, time, timestamp, binary",
    ),
    (
        {"a": {"type": "date", "value": "x", "secret": True}},
        "bindings: a: 'secret' is not known: a value with a type has `type` and `value`",
    ),
    ({"a": {"type": "date", "value": "2026-02-30"}}, "bindings: a: a date must be a text such as 2026-01-31"),
    (
        {"a": {"type": "timestamp", "value": "now"}},
        "bindings: a: a timestamp must be a text such as 2026-01-31T08:30:00 or 2026-01-31T08:30:00.5+01:00",
    ),
    (
        {"a": {"type": "time", "value": "25:00"}},
        "bindings: a: a time must be a text such as 08:30:00.5, without a zone",
    ),
    ({"a": {"type": "decimal", "value": 0.1}}, NO_DECIMAL),
    ({"a": {"type": "decimal", "value": "1E+9999"}}, NO_DECIMAL),
    (
        {"a": {"type": "double", "value": "x"}},
        'bindings: a: a double must be a number, or "NaN", "Infinity" or "-Infinity"',
    ),
    (
        {"a": {"type": "integer", "value": 1.5}},
        "bindings: a: an integer must be a whole number, or its digits as a text",
    ),
    ({"a": {"type": "boolean", "value": "yes"}}, "bindings: a: a boolean must be true or false"),
    ({"a": {"type": "binary", "value": "!"}}, "bindings: a: a binary value must be text in base64"),
    ({"a": {"type": "string", "value": 1}}, "bindings: a: a string must be a text"),
    (
        {"a": "\ud800"},
        "bindings: a: holds half of a surrogate pair, which is not a character; send text that is valid Unicode",
    ),
]


def refusal_of(bindings: dict) -> str:
    return refusal({"db_tap_id": 1, "query": "SELECT :a", "bindings": bindings})


def test_a_value_without_a_form_in_sql_is_refused():
    assert [(bindings, refusal_of(bindings)) for bindings, _ in NO_VALUES] == NO_VALUES


def test_more_values_than_a_query_takes_are_refused():
    assert refusal_of({"a": list(range(10_001))}) == (
        "bindings: must have at most 10,000 values, has 10,001; put them into a table"
    )
