"""How a line is read, and what is said when it cannot be."""

import datetime
import decimal
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.magics.arguments.options import continued, macros, parse, submission_fields, variable_text
from svc_jupyter.magics.commands.queries import QueryMagics
from svc_jupyter.magics.commands.shell import ShellMagics
from svc_jupyter.magics.display.errors import SvcUsageError

SHELL = ShellMagics.svc_shell
DB = QueryMagics.svc_db


def usage_error(line, magic=SHELL):
    with pytest.raises(SvcUsageError) as caught:
        parse(magic, line)
    return str(caught.value)


def test_an_unknown_option_is_reported_with_the_nearest():
    assert usage_error("--lable etl").startswith("svc_shell: unknown option --lable. Did you mean --label?")


def test_an_option_is_never_guessed_from_its_beginning():
    assert "unknown option --lab" in usage_error("--lab etl")


def test_a_stray_word_is_asked_to_be_quoted():
    assert "'run' belongs to no option" in usage_error("--name my run")


BAD_VALUES = {
    "--name 'open": "no closing quotation",
    "--retry 5": "invalid choice",
    "--timeout soon": "invalid int value",
    "--label": "expected one argument",
    "--format xml": "invalid choice",
}


def test_bad_values_are_reported_with_the_way_to_the_help():
    errors = {line: usage_error(line) for line in BAD_VALUES}
    assert {line: error for line, error in errors.items() if BAD_VALUES[line] not in error} == {}
    assert [line for line, error in errors.items() if "svc_shell? lists the options" not in error] == []


def test_values_without_a_meaning_are_refused_before_anything_is_sent():
    assert "the name of a variable" in usage_error("-o 1x")
    assert "the name of a variable" in usage_error("-o class")
    assert "0 or more" in usage_error("-n -1")


def test_quotes_are_those_of_a_shell():
    values = parse(SHELL, '--name "it\'s" --parameters \'a "b c"\'')
    assert (values.name, values.parameters) == ("it's", 'a "b c"')


def test_nothing_given_is_nothing_sent():
    assert submission_fields(parse(DB, ""), {}, None) == {}


def test_values_come_before_the_expressions_that_use_them():
    values = parse(DB, "--macro 'up=who.toUpperCase()' --param who=reader --var day")
    assert macros(values, {"day": 3}) == [{"who": '"reader"'}, {"day": '"3"'}, {"up": "who.toUpperCase()"}]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_value_is_quoted_whatever_it_holds(text):
    values = parse(DB, "")
    values.param = [f"x={text}"]
    [macro] = macros(values, {})
    assert json.loads(macro["x"]) == text
    assert macro["x"].isascii()  # no line separator that would end a JavaScript string


def test_an_expression_may_hold_equals_signs():
    assert macros(parse(DB, "--macro 'a=b==c'"), {}) == [{"a": "b==c"}]


def test_a_pair_needs_a_name_and_a_value():
    def refusal(line):
        with pytest.raises(SvcUsageError) as refused:
            macros(parse(DB, line), {})
        return str(refused.value)

    words = "takes NAME=VALUE with a name of letters, digits and _, not"
    assert refusal("--param novalue") == f"--param {words} 'novalue'"
    assert refusal("--param 1x=2") == f"--param {words} '1x=2'"
    assert refusal("--param é=1") == f"--param {words} 'é=1'"
    assert refusal("--macro =1") == f"--macro {words} '=1'"


def test_a_name_given_twice_is_refused():
    with pytest.raises(SvcUsageError, match=r"\$a\$ is given twice"):
        macros(parse(DB, "--param a=1 --macro a=2"), {})


TEXTS = [
    ("it's", "it's"),
    (3, "3"),
    (10**20, "100000000000000000000"),
    (1.5, "1.5"),
    (True, "true"),
    (decimal.Decimal("1.10"), "1.10"),
    (datetime.date(2026, 1, 2), "2026-01-02"),
    (datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC), "2026-01-02T03:04:00+00:00"),
    (pd.Timestamp("2026-01-02"), "2026-01-02T00:00:00"),
    (np.int64(3), "3"),
    (np.bool_(False), "false"),
]


def test_a_variable_with_one_obvious_text_has_it():
    assert [(value, variable_text("x", {"x": value})) for value, _ in TEXTS] == TEXTS


def test_a_variable_without_an_obvious_text_is_refused():
    def refusal(value):
        with pytest.raises(SvcUsageError) as refused:
            variable_text("x", {"x": value})
        return str(refused.value)

    values = [None, [1], {"a": 1}, pd.DataFrame({"a": [1]}), np.array([1, 2]), object()]
    assert [refusal(value) for value in values if "has no single text" not in refusal(value)] == []


def test_an_unknown_variable_is_reported_with_the_nearest():
    with pytest.raises(SvcUsageError, match=r"no variable dya\. Did you mean day\?"):
        variable_text("dya", {"day": 1})


def test_tags_are_brought_to_the_wires_form():
    assert submission_fields(parse(DB, "--tags a,b"), {}, None)["tags"] == "[a,b]"
    assert submission_fields(parse(DB, "--tags [a,b]"), {}, None)["tags"] == "[a,b]"


def test_help_names_every_option(unconnected):
    help_text = unconnected.shell.magics_manager.magics["cell"]["svc_db"].__doc__
    for option in ("--tap", "--no-wait", "--label", "--macro", "--param", "--var", "-o", "-n", "--quiet"):
        assert option in help_text


def test_a_line_that_ends_with_a_backslash_goes_on_below():
    assert continued("--a 1 \\", "  --b 2\\\n--c\ntext\\\n") == ("--a 1  --b 2 --c", "text\\\n")
    assert continued("--a", "text") == ("--a", "text")
    assert continued("--a \\", "") == ("--a  ", "")
    assert continued("--a \\", None) == ("--a \\", None)


def test_a_cell_may_have_its_options_on_several_lines(service, notebook):
    notebook.value("%%svc_shell \\\n  --name x \\\n  --quiet\necho hi\n")
    assert (service.submissions[0]["name"], service.submissions[0]["inline"]) == ("x", "echo hi\n")
    notebook.value("%%svc_schedule \\\n--every day\n%%svc_shell \\\n--files a\necho hi\n")
    assert service.schedules.bodies[0]["command"] == {"inline": "echo hi\n", "files": "a"}
