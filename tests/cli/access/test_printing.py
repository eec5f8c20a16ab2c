from __future__ import annotations

from svc_jupyter.cli.access.printing import fact_lines, printable, table, width_of


def test_columns_are_aligned_and_numbers_to_the_right():
    assert table(["id", "name", "groups"], [[7, "ada", "a, b"], [123, "grace", ""]]).splitlines() == [
        " id  name   groups",
        "  7  ada    a, b",
        "123  grace",
    ]


def test_wide_and_combining_characters_keep_the_columns_aligned():
    assert [width_of(text) for text in ("ab", "日本", "e\u0301")] == [2, 4, 1]
    lines = table(["name", "n"], [["日本", 1], ["e\u0301", 2]]).splitlines()
    assert lines == ["name  n", "日本  1", "e\u0301     2"]


def test_nothing_in_a_name_acts_on_the_terminal():
    hostile = "\x1b[2Jgone\r\n\u202e\x9b"
    assert printable(hostile) == r"\x1b[2Jgone\r\n\u202e\x9b"
    assert "\x1b" not in table(["name"], [[hostile]]) + fact_lines({"name": hostile, "list": [hostile]})


def test_a_list_has_a_line_for_each_item():
    assert fact_lines({"id": 1, "groups": ["a", "b"], "roles": []}).splitlines() == [
        "id      1",
        "groups  a",
        "        b",
        "roles   none",
    ]
