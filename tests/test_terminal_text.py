"""What a program wrote for a terminal, as text: each by hand what the terminal's screen would hold."""

from __future__ import annotations

import pytest

from svc_jupyter.terminal_text import last_state, lines_shown, plain


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("", [""]),
        ("one\ntwo", ["one", "two"]),
        ("one\r\ntwo\r\n", ["one", "two", ""]),
        ("\r10 % of it\r20 % of it\r30 % of it\ndone", ["30 % of it", "done"]),
        ("30 % of it\r\x1b[Kdone", ["done"]),
        ("bar 100 %\r          \rnext", ["next"]),
        ("\x1b[1;31mred\x1b[0m and \x1b[38;5;208morange\x1b[m", ["red and orange"]),
        ("\x1b]0;a title\x07words \x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\", ["words link"]),
        ("\x1b(Bfont\x1b=\x1b[?25l", ["font"]),
        ("bell\x07 nul\x00 tab\there", ["bell nul tab\there"]),
        ("one line\x0cand\x1cno\x85other\u2028begins", ["one lineandno\x85other\u2028begins"]),
    ],
)
def test_lines_are_shown_as_on_a_terminal(written: str, shown: list[str]) -> None:
    assert lines_shown(written) == shown


def test_of_a_text_that_is_no_screen_nothing_but_the_control_goes() -> None:
    assert plain("a \x1b[32mvalue\x1b[0m\r\nof two\tlines\x00") == "a value\nof two\tlines"


def test_an_overwritten_line_keeps_its_colours_until_somebody_drops_them() -> None:
    assert last_state("10 %\r\x1b[32m100 %\x1b[0m\r") == "\x1b[32m100 %\x1b[0m"
