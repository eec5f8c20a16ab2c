"""Arguments become literals of the kernel's language, in the right place, and never code."""

from __future__ import annotations

import ast
import json
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nbformat.v4 import new_notebook
from tests.service.kinds.notebook.notebooks import code, prose

from svc_jupyter.api.notebook_parameters import parameters_of
from svc_jupyter.service.kinds.notebook.failures import RunFailure
from svc_jupyter.service.kinds.notebook.parameters import assignments, inject

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
VALUES = TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
NASTY = "\"; system('id') #' `id` $(id) ${id} #{id} \\\n\r\t\N{GRINNING FACE}é"


def literal(value, language):
    """Return what is assigned, without the name before it."""
    line = assignments({"a": value}, language).split("\n", 1)[1]
    return line.partition("<- " if language == "R" else "=")[2].strip()


def shown_by_bash(value):
    script = f"{assignments({'a': value}, 'bash')}\nprintf '%s' \"$a\""
    return subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout.decode()


@given(VALUES)
def test_a_python_literal_is_the_value_itself(value):
    found = ast.literal_eval(literal(value, "python"))
    assert (type(found), found) == (type(value), value)


@given(TEXTS)
def test_texts_of_other_languages_are_one_ascii_literal_without_interpolation(text):
    for language in ("R", "julia", "scala"):
        found = literal(text, language)
        assert found.isascii()
        assert found.isprintable()
        assert found[0] == found[-1] == '"'
        assert '"' not in found[1:-1].replace("\\\\", "").replace('\\"', "")
        assert not found[1:-1].replace("\\\\", "").endswith("\\")
    assert "$" not in literal(text, "julia").replace("\\\\", "").replace("\\$", "")
    assert json.loads(literal(text, "scala")) == text


def test_bash_gets_a_text_as_it_is():
    texts = [NASTY, "", "-n", "~", "*", "a b"]
    assert [shown_by_bash(text) for text in texts] == texts


LITERALS = [
    ("R", True, "TRUE"),
    ("R", 5, "5L"),
    ("R", 2**31, "2147483648"),
    ("R", 1e-7, "1e-07"),
    ("R", "\N{GRINNING FACE}é$", '"\\U0001f600\\u00e9$"'),
    ("julia", False, "false"),
    ("julia", "$(run(`id`))", '"\\$(run(`id`))"'),
    ("scala", 2**31, "2147483648L"),
    ("scala", -(2**31), "-2147483648"),
    ("scala", 2**63, 'BigInt("9223372036854775808")'),
    ("scala", True, "true"),
    ("bash", 2.5, "2.5"),
    ("bash", True, "true"),
]


def test_values_are_written_as_the_language_has_them():
    assert [(language, value, literal(value, language)) for language, value, _ in LITERALS] == LITERALS


LINES = {
    "Python": "# Parameters\na = 1\nb = 'x'",
    "R": '# Parameters\na <- 1L\nb <- "x"',
    "julia": '# Parameters\na = 1\nb = "x"',
    "scala": '// Parameters\nval a = 1\nval b = "x"',
    "bash": "# Parameters\na=1\nb=x",
}


def test_each_argument_has_a_line():
    assert {language: assignments({"a": 1, "b": "x"}, language) for language in LINES} == LINES


def test_a_reserved_name_is_refused():
    def refusal(language, name):
        with pytest.raises(RunFailure) as refused:
            assignments({"a": 1, name: 1}, language)
        return refused.value.message

    reserved = [("python", "None"), ("R", "TRUE"), ("R", "_a"), ("julia", "end"), ("scala", "val"), ("bash", "PATH")]
    assert {pair: refusal(*pair) for pair in reserved} == {
        (language, name): f"arguments: '{name}' cannot be assigned to in {language}" for language, name in reserved
    }


def test_a_language_without_literals_here_is_refused_with_those_that_have():
    with pytest.raises(
        RunFailure, match="language 'COBOL'; it can be done for bash, julia, python, r, scala"
    ) as caught:
        assignments({"a": 1}, "COBOL")
    assert not caught.value.may_retry


@given(VALUES)
@example("é}")
@example("😀")
@example("$x")
@example("it's")
@example("\x011")
def test_a_written_value_is_read_again(value):
    for language in ("python", "R", "julia", "scala"):
        [parameter] = parameters_of(assignments({"a": value}, language), language)
        is_double = language == "R" and type(value) is int and abs(value) >= 2**31  # R's integers have 32 bits
        same = float(value) if is_double else value
        assert (type(parameter.value), parameter.value) == (type(same), same), language
    [parameter] = parameters_of(assignments({"a": value}, "bash"), "bash")  # where all is text
    assert str(parameter.value).lower() == str(value).lower() or float(parameter.value) == float(value)


def sources(notebook):
    return [cell.source for cell in notebook.cells]


def test_the_cell_follows_the_first_one_tagged_parameters():
    notebook = new_notebook(cells=[prose("p"), code("a = 0", "parameters", "other"), code("b", "parameters")])
    assert inject(notebook, {"a": 1}, "python") == "parameters: a"
    assert sources(notebook) == ["p", "a = 0", "# Parameters\na = 1", "b"]
    assert notebook.cells[2].metadata == {"tags": ["injected-parameters"]}


def test_the_cell_follows_the_one_of_code_that_declares_the_parameters():
    heading = prose("# Parameters")
    heading.metadata["tags"] = ["parameters"]
    notebook = new_notebook(cells=[heading, code("a = 0.5", "parameters")])
    inject(notebook, {"a": 1}, "python")
    assert sources(notebook) == ["# Parameters", "a = 0.5", "# Parameters\na = 1.0"]
    alone = new_notebook(cells=[code("b"), heading, code("a")])
    inject(alone, {"a": 1}, "python")
    assert sources(alone) == ["b", "# Parameters", "# Parameters\na = 1", "a"]


def test_arguments_that_the_notebooks_own_cell_does_not_assign_are_named():
    notebook = new_notebook(cells=[code("region, days = 'EU', 7", "parameters")])
    log = inject(notebook, {"dayz": 1, "region": "US", "daze": 2}, "python")
    assert log == "parameters: dayz, region, daze; the notebook's own cell of parameters has no dayz, daze"
    branching = new_notebook(cells=[code("x = 1\nif x:\n    region = 'US'", "parameters")])
    assert inject(branching, {"region": "EU"}, "python") == "parameters: region"
    unreadable = new_notebook(cells=[code("days = (", "parameters")])
    assert inject(unreadable, {"dayz": 1}, "python") == "parameters: dayz"


def test_a_whole_number_is_a_float_where_the_notebook_has_one():
    notebook = new_notebook(cells=[code("rate = 1.5\nshare: float = 1\ndays = 7", "parameters")])
    inject(notebook, {"rate": 2, "share": 3, "days": 8, "other": 9}, "python")
    assert sources(notebook)[1] == "# Parameters\nrate = 2.0\nshare = 3.0\ndays = 8\nother = 9"


def test_without_such_a_cell_it_comes_first():
    notebook = new_notebook(cells=[prose("p"), code("a")])
    inject(notebook, {"a": 1}, "python")
    assert sources(notebook) == ["# Parameters\na = 1", "p", "a"]


def test_parameters_of_an_earlier_run_are_replaced_or_removed():
    notebook = new_notebook(cells=[code("a = 0", "parameters"), code("a = 9", "injected-parameters"), code("a")])
    inject(notebook, {"a": 1}, "python")
    assert sources(notebook) == ["a = 0", "# Parameters\na = 1", "a"]
    assert inject(notebook, {}, "python") == "the parameters of an earlier run were taken out"
    assert sources(notebook) == ["a = 0", "a"]
    assert inject(notebook, {}, "COBOL") is None


def test_a_notebook_of_a_format_without_cell_ids_gets_none():
    notebook = new_notebook(nbformat_minor=4)
    inject(notebook, {"a": 1}, "python")
    assert "id" not in notebook.cells[0]
