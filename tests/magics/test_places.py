"""Where an engine's error lies."""

import pytest

from svc_jupyter.magics.places import place_of

QUERY = "SELECT carrier,\n       count(*)\nFROM flights\nWHERE dep_delays > 30\nGROUP BY carrier"


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("no such column: dep_delays", "line 4: WHERE dep_delays > 30"),
        ("no such column: f.dep_delays", "line 4: WHERE dep_delays > 30"),
        ("no such table: main.flights", "line 3: FROM flights"),
        ('near "WHERE": syntax error', "line 4: WHERE dep_delays > 30"),
        ('column "dep_delays" does not exist', "line 4: WHERE dep_delays > 30"),
        ('relation "flights" does not exist\nLINE 3: FROM flights', "line 3: FROM flights"),
        ("column f.dep_delays does not exist", "line 4: WHERE dep_delays > 30"),
        ("Unknown column 'dep_delays' in 'where clause'", "line 4: WHERE dep_delays > 30"),
        ("bash: line 2: count: command not found", "line 2: count(*)"),
    ],
)
def test_the_line_is_found(message, place):
    assert str(place_of(message, QUERY)) == place


@pytest.mark.parametrize(
    "message",
    [
        "no such column: carrier",  # on two lines: which one it is cannot be told
        "no such column: elsewhere",
        "line 99: too far",
        "database is locked",
        "",
    ],
)
def test_what_cannot_be_told_is_not_guessed(message):
    assert place_of(message, QUERY) is None


def test_a_word_inside_another_is_not_taken_for_it():
    assert str(place_of("no such column: a", "select ab\nfrom a")) == "line 2: from a"


def test_a_long_line_is_shortened():
    assert len(str(place_of("line 1: x", "x" * 500))) < 150
