"""Where an engine's error lies."""

from svc_jupyter.magics.display.failures import position_of, script_position_of

QUERY = "SELECT carrier,\n       count(*)\nFROM flights\nWHERE dep_delays > 30\nGROUP BY carrier"


PLACES = {
    "no such column: dep_delays": "line 4: WHERE dep_delays > 30",
    "no such column: f.dep_delays": "line 4: WHERE dep_delays > 30",
    "no such table: main.flights": "line 3: FROM flights",
    'near "WHERE": syntax error': "line 4: WHERE dep_delays > 30",
    'column "dep_delays" does not exist': "line 4: WHERE dep_delays > 30",
    'relation "flights" does not exist\nLINE 3: FROM flights': "line 3: FROM flights",
    "column f.dep_delays does not exist": "line 4: WHERE dep_delays > 30",
    "Unknown column 'dep_delays' in 'where clause'": "line 4: WHERE dep_delays > 30",
}


def test_the_line_is_found():
    assert {message: str(position_of(message, QUERY)) for message in PLACES} == PLACES


WITHOUT_A_PLACE = [
    "no such column: carrier",  # on two lines: which one it is cannot be told
    "no such column: elsewhere",
    "line 99: too far",
    "database is locked",
    "",
]


def test_an_unknown_or_ambiguous_position_is_not_guessed():
    assert [message for message in WITHOUT_A_PLACE if position_of(message, QUERY) is not None] == []


def test_a_word_inside_another_is_not_taken_for_it():
    assert str(position_of("no such column: a", "select ab\nfrom a")) == "line 2: from a"


def test_a_long_line_is_shortened():
    assert len(str(position_of("line 1: x", "x" * 500))) < 150


SCRIPT = "cd /tmp\nfoo --bar\npython3 -c 'import foo'"


def test_the_line_of_a_script_is_found():
    assert (
        str(script_position_of("exit code 127\nbash: line 2: foo: command not found\n", SCRIPT)) == "line 2: foo --bar"
    )


OF_OTHER_TEXTS = [
    '  File "<string>", line 1, in <module>\nModuleNotFoundError: foo',  # of a program in the script
    "bash: line 1: foo: command not found",  # of a shell in the script
    "bash: line 2: foo: command not found\nls: no such file",  # the script went on
    "line 1: a word of the script itself",
    "bash: line 9: foo: command not found",
]


def test_lines_of_other_texts_are_not_taken_for_the_script_s():
    assert [message for message in OF_OTHER_TEXTS if script_position_of(message, SCRIPT) is not None] == []
