import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.notifications.texts import one_line, paragraph

TEXTS = st.text(st.characters(exclude_categories=()))


def test_one_line_joins_lines_and_spaces() -> None:
    assert one_line(" a\r\n\tb\x00c\u2028d  e ", 100) == "a b c d e"


def test_one_line_is_cut_with_an_ellipsis() -> None:
    assert one_line("abcdef", 4) == "abc…"


def test_a_paragraph_keeps_lines_and_tabs_and_drops_terminal_codes() -> None:
    assert paragraph("one\r\n\ttwo\x1b[31m\rthree\n", 100) == "one\n\ttwo[31m\nthree"


def test_a_long_paragraph_says_how_much_is_missing() -> None:
    assert paragraph("abcdef", 4) == "abcd… (2 more characters)"


def test_the_reading_order_cannot_be_reversed() -> None:
    assert one_line("abc\u202egpj.exe", 100) == "abc gpj.exe"


@given(TEXTS, st.integers(1, 50))
def test_one_line_never_holds_a_line_break_a_control_character_or_too_much(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line.splitlines()) <= 1
    assert len(line) <= limit
    assert not {unicodedata.category(character) for character in line} & {"Cc", "Cs", "Zl", "Zp"}
    line.encode()


@given(TEXTS)
def test_a_paragraph_can_always_be_stored_and_sent(text: str) -> None:
    shown = paragraph(text, 1000)
    shown.encode()
    assert "\0" not in shown
    assert "\r" not in shown
