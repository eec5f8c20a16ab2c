import copy
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svc_jupyter.service.macros.macros import MacroError, javascript_number, resolve, substitute
from svc_jupyter.service.macros.sandbox import MacroSandbox

NOMINAL_TIME = datetime(2024, 3, 5, tzinfo=UTC)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=20
)


def test_every_string_of_the_command_is_replaced_but_no_key() -> None:
    command = {"inline": "echo $day$ $day$", "parameters": {"$day$": ["$n$", 5, None, {"x": "a$n$b"}]}, "ok": True}
    assert substitute(command, [{"day": "2024-03-05"}, {"n": 7}]) == {
        "inline": "echo 2024-03-05 2024-03-05",
        "parameters": {"$day$": ["7", 5, None, {"x": "a7b"}]},
        "ok": True,
    }


REPLACED = {
    "$x$": "X",
    "$$x$$": "$X$",
    "$x$x$": "Xx$",
    "$x$$y$": "X$x$",
    "$PATH$x$": "$PATHX",
    "$unknown$ $X$": "$unknown$ $X$",
    "echo $$ $x": "echo $$ $x",
    "$ x $": "$ x $",
    r"\$x$": "\\X",
    "${x}$x$": "${x}X",
}


def test_only_known_macros_between_dollars_are_replaced() -> None:
    assert {text: substitute(text, [{"x": "X", "y": "$x$"}]) for text in REPLACED} == REPLACED


TEXTS = [
    ("as 'it' \\1 is", "as 'it' \\1 is"),
    (True, "true"),
    (False, "false"),
    (0, "0"),
    (-7, "-7"),
    (1.5, "1.5"),
    ([1, "a", None, {"b": "é"}], '[1,"a",null,{"b":"é"}]'),
    ({}, "{}"),
]


def test_a_value_becomes_text() -> None:
    assert [(value, substitute("$x$", [{"x": value}])) for value, _ in TEXTS] == TEXTS


def test_null_is_an_error() -> None:
    with pytest.raises(MacroError, match=r"^macro 'x': the value is null$"):
        substitute("$x$", [{"x": None}])


def test_the_later_of_two_macros_counts() -> None:
    assert substitute("$x$", [{"x": 1}, {"x": 2}]) == "2"


def test_a_short_text_cannot_grow_without_end() -> None:
    with pytest.raises(MacroError, match=r"^macro 'x': macros add more than 16777216 characters to the command$"):
        substitute(["$x$" * 1000] * 1000, [{"x": "v" * 65_536}])


def test_nesting_deeper_than_pythons_stack_is_no_limit() -> None:
    value: Any = "$x$"
    for _ in range(20_000):
        value = [value]
    changed = substitute(value, [{"x": 1}])
    for _ in range(20_000):
        # One level at a time: a list this deep cannot even be compared or freed in one go.
        (changed,) = changed
        (value,) = value
    assert (changed, value) == ("1", "$x$")


@given(command=documents, macros=st.lists(st.dictionaries(names, scalars.filter(lambda item: item is not None))))
def test_the_command_that_came_in_is_never_changed(command: Any, macros: list[dict[str, Any]]) -> None:
    before = copy.deepcopy(command)
    substitute(command, macros)
    assert command == before


@given(command=documents, name=names, value=st.text())
def test_a_document_without_the_macro_stays_as_it_is(command: Any, name: str, value: str) -> None:
    document = json.loads(json.dumps(command).replace("$", "S"))
    assert substitute(document, [{name: value}]) == document


@given(
    parts=st.lists(st.text(st.characters(exclude_characters="$"))),
    values=st.dictionaries(names, st.text(), min_size=1),
    data=st.data(),
)
def test_the_text_is_the_parts_with_the_values_between(
    parts: list[str], values: dict[str, str], data: st.DataObject
) -> None:
    chosen = [data.draw(st.sampled_from(sorted(values))) for _ in parts]
    text = "".join(f"{part} ${name}$" for part, name in zip(parts, chosen, strict=True))
    expected = "".join(f"{part} {values[name]}" for part, name in zip(parts, chosen, strict=True))
    assert substitute(text, [values]) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    numbers=st.lists(
        st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53), min_size=1, max_size=50
    )
)
def test_numbers_are_printed_as_javascript_does(sandbox: MacroSandbox, numbers: list[float]) -> None:
    numbers = [*numbers, 1e-6, 1e-7, 1.5e-7, 123e-20, 1e16, 1e20, 1.25e20, 1e21, 5e-324, 1.7976931348623157e308]
    macros = [{"values": repr(numbers)}, {"texts": "values.map(String)"}]
    values, texts = resolve(macros, NOMINAL_TIME, sandbox=sandbox)
    for number, value, theirs in zip(numbers, values["values"], texts["texts"], strict=True):
        ours = substitute("$n$", [{"n": value}])
        assert ours == javascript_number(float(number))
        assert float(ours) == number
        # The language asks for the fewest digits; for some powers of two the engine writes one digit more.
        assert ours == theirs or (len(ours) < len(theirs) and float(theirs) == number)
