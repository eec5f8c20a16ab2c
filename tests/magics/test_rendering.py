"""What a front end gets of a result."""

import gc
import pickle
import re
import weakref
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from tests.support.displayed import html_of

from svc_jupyter.magics.display.grid import RESULT
from svc_jupyter.magics.display.rendering import Facts, size_text
from svc_jupyter.magics.display.values import json_value, shown_values, values_of

OF_THE_THEME = re.compile(r"^\s*(?:var\(--|0\b|none\b|collapse|separate|\d+px solid var\(--)")
WIDE = pa.table({"n": list(range(5000)), "text": ["<script>alert(1)</script>"] * 5000})


@pytest.fixture
def wide_frame(service, notebook):
    service.add_tap("flights")
    service.behave("q", table=WIDE)
    return notebook.value("%%svc_db --tap flights\nq\n")


def test_the_first_rows_are_shown_escaped(service, notebook):
    service.add_tap("flights")
    service.behave("q", table=WIDE)
    data = notebook.displayed("%%svc_db --tap flights -n 20\nq\n")
    assert data["text/html"].count("<tr") == 22  # the names, twenty rows, and the gap between them
    assert "<script>" not in data["text/html"]
    assert "&lt;script&gt;" in data["text/html"]
    assert "rows 1 to 10 and 4,991 to 5,000 of 5,000" in data["text/html"]
    assert RESULT in data


def test_columns_have_the_names_that_the_service_gives_them(service, notebook):
    service.add_tap("flights")
    row = [pa.array([number]) for number in range(5)]
    service.behave("q", table=pa.Table.from_arrays(row, names=["a", "a", "a#2", "", "b"]))
    data = notebook.displayed("%%svc_db --tap flights\nq\n")
    assert [column["name"] for column in data[RESULT]["columns"]] == ["a", "a#3", "a#2", "#1", "b"]


def test_numbers_that_are_no_quantities_have_no_separators():
    assert shown_values([2013, None], "integer", "year", 10) == ["2013", None]
    assert shown_values([2013.0, 2014.5], "number", "model_year", 10) == ["2013.0", "2014.5"]
    assert shown_values([Decimal(10010)], "decimal", "ZIP", 10) == ["10010"]
    assert shown_values([12345], "integer", "paid", 10) == ["12,345"]


def is_without_formulas(html):
    """Whether MathJax is kept out by the outermost element."""
    opening = re.search(r"<\w+ [^>]*mathjax_ignore tex2jax_ignore[^>]*>", html)
    before = html[: opening.start()] if opening else "$"
    return "$" not in before and "</" not in re.sub(r"<style>.*?</style>", "", before, flags=re.DOTALL)


def test_no_text_of_a_display_is_a_formula(service, notebook):
    service.add_tap("flights")
    service.behave("q", table=pa.table({"price": ["from $5 to $10"]}))
    service.behave("ls", output="from $5 to $10\n")
    notebook.value("%%svc_shell --quiet\nls\n")
    cells = ["%%svc_db --tap flights\nq\n", "%%svc_shell\nls\n", "%svc_history", "%svc_command 128", "%svc_status"]
    displays = {cell: notebook.displayed(cell)["text/html"] for cell in cells}
    assert {cell: html for cell, html in displays.items() if not is_without_formulas(html)} == {}


def test_html_has_no_colours_of_its_own(service, notebook):
    service.add_tap("flights")
    service.behave("q", table=WIDE)
    service.behave("ls", output="a\n")
    for cell in ("%%svc_db --tap flights -n 20\nq\n", "%%svc_shell\nls\n", "%svc_status"):
        html = notebook.displayed(cell)["text/html"]
        named = re.findall(r"(?:color|background|border[-\w]*):([^;}\"]+)", html)
        assert [value for value in named if not OF_THE_THEME.search(value)] == []


def test_later_displays_are_those_of_pandas(wide_frame, notebook):
    data = notebook.displayed("_")
    assert data["text/html"].count("<tr") < 100
    assert data["text/plain"] == repr(wide_frame)


def test_the_frame_is_a_plain_one_that_travels_and_is_freed(wide_frame, notebook):
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(wide_frame)), wide_frame)
    assert "_repr_mimebundle_" not in vars(wide_frame)


def test_a_frame_that_is_never_shown_is_freed_too(service, notebook):
    service.add_tap("flights")
    service.behave("q", table=WIDE)
    notebook.value("frame = get_ipython().run_cell_magic('svc_db', '--tap flights', 'q')")
    reference = weakref.ref(notebook.shell.user_ns["frame"])
    gc.disable()
    try:
        del notebook.shell.user_ns["frame"]
        assert reference() is None
    finally:
        gc.enable()


def test_a_formatter_of_the_user_goes_first(service, notebook):
    service.behave("ls", output="a\n")
    formatter = notebook.shell.display_formatter.formatters["text/html"]
    formatter.for_type(pd.DataFrame, lambda _frame: "<p>mine</p>")
    assert notebook.displayed("%%svc_shell\nls\n")["text/html"] == "<p>mine</p>"


def test_lines_keep_their_blanks_and_their_length(service, notebook):
    service.behave("ls", output=f"  a   b\n{'x' * 300}\n")
    data = notebook.displayed("%%svc_shell\nls\n")
    assert "white-space:pre" in data["text/html"]
    assert ">  a   b</td>" in data["text/html"]
    assert "x" * 300 in data["text/html"]
    assert data["text/plain"].split("\n") == ["   line", "0    a   b", f"1  {'x' * 300}"]


def test_a_terminal_gets_text_and_pandas_own_limits(terminal, service, capsys):
    service.add_tap("flights")
    service.behave("q", table=WIDE)
    terminal.value("%%svc_db --tap flights\nq\n")
    shown = capsys.readouterr().out
    assert shown.startswith("command 128 · ")
    assert "5,000 rows × 2 columns\n" in shown
    assert "✓" not in shown
    assert len(shown.split("\n")) < 80


def test_a_terminal_shows_as_many_rows_as_asked_for(terminal, service, capsys):
    service.add_tap("flights")
    service.behave("q", table=WIDE)
    terminal.value("%%svc_db --tap flights -n 100\nq\n")
    shown = capsys.readouterr().out
    assert "[5,000 rows x 2 columns]" in shown
    assert len(shown.split("\n")) > 100


def test_where_there_is_neither_a_column_nor_a_line_only_the_end_is_told(notebook, service):
    service.add_tap("flights")
    service.behave("CREATE TABLE t (a int)", message="1 statement done, no table returned")
    assert notebook.displays("%%svc_db --tap flights\nCREATE TABLE t (a int)") == []
    assert notebook.lines[-1].endswith(" · 1 statement done, no table returned")
    assert notebook.displays("%%svc_shell -o found\ntrue") == []
    assert notebook.lines[-1].endswith(" · 0 lines · found")
    [shown] = notebook.displays("found")  # pandas' own, as of any DataFrame
    assert shown["text/plain"] == "Empty DataFrame\nColumns: [line]\nIndex: []"
    notebook.value("later = get_ipython().run_cell_magic('svc_shell', '', 'true')")
    assert notebook.displays("later") == []  # as an output of its own
    assert notebook.lines[-1] == shown["text/plain"]
    service.behave("SELECT 1 WHERE false", table=pa.table({"a": pa.array([], pa.int64())}))
    [shown] = notebook.displays("%%svc_db --tap flights\nSELECT 1 WHERE false")
    assert ">a</th>" in shown["text/html"]


def test_a_size_is_reported_in_words():
    assert size_text(pd.DataFrame({"a": [1]})) == "1 row × 1 column"
    assert size_text(pd.DataFrame({"a": range(336_776), "b": 1})) == "336,776 rows × 2 columns"
    assert size_text(pd.DataFrame()) == "no rows"


def test_floats_of_32_bits_are_shown_as_they_print():
    column = pd.Series([0.1, None], dtype="float32")
    assert [json_value(value, "number") for value in values_of(column)] == [0.1, None]


def test_facts_are_aligned_and_escaped():
    facts = Facts("command <1>", [("a", "x"), ("long name", "<b>")])
    assert repr(facts) == "command <1>\n  a          x\n  long name  <b>"
    assert "<b>" not in html_of(facts)
    assert "command &lt;1&gt;" in html_of(facts)


def test_facts_of_several_lines_stay_in_their_column_and_are_no_formulas():
    facts = Facts("preview", [("$day$", "2026"), ("query", "select $x$\nfrom y")])
    assert repr(facts).split("\n")[2:] == ["  query  select $x$", "         from y"]
    assert 'class="mathjax_ignore' in html_of(facts)
    assert "white-space: pre-wrap" in html_of(facts)
