from __future__ import annotations

import pytest

from svc_jupyter.service.db_taps.failures import Position, QueryFailure, describe, position_of, without_passwords
from svc_jupyter.service.db_taps.job import Dialect
from svc_jupyter.service.db_taps.statements import split

SCRIPT = "select carrier\nfrom flights\nWHERE dep_delays > 30;\n\nselect 2"


def described(failure: QueryFailure, script: str = SCRIPT, number: int = 0) -> str:
    statements = split(script, Dialect.SQLITE)
    return describe(
        failure,
        script=script,
        source="query",
        statement=statements[number],
        only_one=len(statements) == 1,
        tap="flights (sqlite)",
    )


def test_the_message_comes_first_then_the_place_then_the_tap():
    failure = QueryFailure("no such column: dep_delays", position=SCRIPT.index("dep_delays"))
    assert described(failure) == (
        "no such column: dep_delays\n  query, line 3: WHERE dep_delays > 30;\n  tap flights (sqlite)"
    )


def test_of_several_statements_the_failed_one_is_shown_when_the_engine_reports_no_place():
    assert described(QueryFailure("constraint failed"), number=1) == (
        "constraint failed\n  query, line 5: select 2\n  tap flights (sqlite)"
    )


def test_a_single_statement_without_a_place_needs_none():
    assert described(QueryFailure("too big"), "select 1") == "too big\n  tap flights (sqlite)"


def test_the_engines_hint_follows_the_place():
    failure = QueryFailure("no x", position=0, hint="Perhaps you meant y.")
    assert (
        described(failure, "select x")
        == "no x\n  query, line 1: select x\n  Perhaps you meant y.\n  tap flights (sqlite)"
    )


@pytest.mark.parametrize(
    ("offset", "place"),
    [
        (0, Position(1, "ab")),
        (2, Position(1, "ab", 3)),
        (3, Position(2, "cd")),
        (7, Position(3, "")),
        (99, Position(3, "")),
    ],
)
def test_an_offset_is_found_in_its_line(offset, place):
    assert position_of("ab\n cd\n", offset) == place


def test_of_a_long_line_the_part_around_the_place_is_shown():
    place = position_of("a" * 500 + " here " + "b" * 500, 503)
    assert "here" in place.text
    assert len(place.text) < 170


def test_a_password_in_a_url_is_hidden():
    assert without_passwords("cannot use mysql://u:geheim@host/db") == "cannot use mysql://u:***@host/db"
