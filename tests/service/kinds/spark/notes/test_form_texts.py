"""Values of forms in the text of a program: whatever they are, they stay values."""

import io
import tokenize
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from svc_jupyter.forms.values import FormProblem, FormValues
from svc_jupyter.service.kinds.spark.notes.form_texts import filled
from svc_jupyter.service.kinds.spark.notes.languages import Language

HOSTILE = [
    "'; DROP TABLE flights; --",
    "\"; import os; os.system('x')",
    "{__import__('os')}",
    "${env:HOME}",
    "$(touch x)`touch y`",
    "a\nb\r\tc",
    "back\\slash\\",
    "'''\"\"\"",
    "%s %% {{}}",
    "",
    "☃ é 漢",
    "\x00\x1b",
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(HOSTILE)


def fill(code: str, language: Language, **arguments: Any) -> str:
    return filled(code, language, FormValues(arguments))


def refusal(code: str, language: Language, **arguments: Any) -> str:
    with pytest.raises(FormProblem) as refused:
        fill(code, language, **arguments)
    return str(refused.value)


def python(code: str, **arguments: Any) -> Any:
    names: dict[str, Any] = {}
    exec(fill(code, Language.PYTHON, **arguments), names)
    return names["x"]


QUOTED = [
    "x = '${v}'",
    'x = "${v}"',
    "x = '''${v}'''",
    'x = """${v}"""',
    "x = f'${v}'",
    'x = f"""{""}${v}"""',
    "# it's ${v}\nx = '${v}'",
    "y = r'\\''; x = '${v}'",
    "y = f'{{ {1} }}'; x = '${v}'",
]


@given(value=TEXTS)
def test_in_python_a_value_in_quotes_is_the_value(value: str) -> None:
    assert {code: python(code, v=value) for code in QUOTED} == dict.fromkeys(QUOTED, value)


@given(value=TEXTS)
def test_in_python_a_value_without_quotes_is_the_value_unless_it_is_a_number(value: str) -> None:
    assume(not python_reads_a_number(value))
    assert python("x = ( ${v=1} )", v=value) == value


def python_reads_a_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


@given(value=TEXTS)
def test_in_a_raw_string_a_value_is_the_value_or_refused(value: str) -> None:
    try:
        found = python("x = r'${v}'", v=value)
    except FormProblem:
        return
    assert found == value


@given(value=TEXTS)
def test_in_a_comment_a_value_stays_one(value: str) -> None:
    assert python("x = 1  # ${v}\n", v=value) == 1


def test_numbers_and_the_authors_own_texts_stand_as_they_are() -> None:
    assert fill("select ${n=1} from ${t=flights}", Language.SQL, n=7) == "select 7 from flights"
    assert fill("from ${t=flights,flights|planes}", Language.SQL, t="planes") == "from planes"
    assert fill("limit ${n=10}", Language.SQL, n="-1.5e3") == "limit -1.5e3"


def test_a_value_that_the_author_did_not_write_is_inserted_as_a_literal() -> None:
    assert fill("where c = ${c=AA}", Language.SQL, c="carrier") == "where c = 'carrier'"
    assert fill("val x = ${c=AA}", Language.SCALA, c='a"b') == 'val x = "a\\"b"'
    assert fill("where ${c=AA}", Language.SQL, c="1 OR 1=1") == "where '1 OR 1=1'"


@given(value=TEXTS)
def test_no_value_ends_a_literal_of_sql_or_names_a_variable_of_spark(value: str) -> None:
    text = fill("select '${v}'", Language.SQL, v=value)
    inside = text.removeprefix("select '").removesuffix("'")
    assert "'" not in inside.replace("\\\\", "").replace("\\'", "")
    assert not inside.replace("\\\\", "").endswith("\\")
    assert "$" not in inside


@given(value=TEXTS)
def test_no_value_ends_a_literal_of_scala(value: str) -> None:
    inside = fill('val x = "${v}"', Language.SCALA, v=value).removeprefix('val x = "').removesuffix('"')
    bare = inside.replace("\\\\", "")
    assert '"' not in bare.replace('\\"', "")
    assert "\n" not in bare
    assert not bare.endswith("\\")


def test_interpolations_of_scala_are_unchanged() -> None:
    code = 's"${n + 1} $n ${v}"; "${v}"'
    assert fill(code, Language.SCALA, v="$y") == 's"${n + 1} $n ${v}"; "$y"'


TOUCHING = "form v touches a word or a quote, where only a number or an option can stand: quote the whole"
NO_PLACES = [
    (
        "x = f'{${v}}'",
        Language.PYTHON,
        "a",
        "form v stands in the code within a string: put its value into a variable first",
    ),
    ("x = f${v}", Language.PYTHON, "{1}", TOUCHING),
    ("x = ${v}''", Language.PYTHON, "a", TOUCHING),
    (
        "x = '\\${v}'",
        Language.PYTHON,
        "'",
        "form v stands behind a backslash, which would change its value: double the backslash",
    ),
    ("x = b'${v}'", Language.PYTHON, "é", "form v stands in a bytes literal, which holds ASCII only"),
    ("select r'${v}'", Language.SQL, "a'b", "form v stands in a r string, which cannot hold this value"),
    ("select `${v}`", Language.SQL, "${env:HOME}", "form v stands in a quoted name, which cannot hold this value"),
    ('"""${v}"""', Language.SCALA, 'a"b', 'form v stands in a """ string, which cannot hold this value'),
    ("x = ${v=1}${w=2}", Language.PYTHON, "a", TOUCHING),
]


def test_where_a_value_cannot_be_written_the_form_is_named() -> None:
    found = [(code, language, value, refusal(code, language, v=value)) for code, language, value, _ in NO_PLACES]
    assert found == NO_PLACES


def test_a_missing_argument_takes_the_default_and_checkboxes_are_joined() -> None:
    assert fill("where carrier in (${checkbox:c='AA'|'UA','AA'|'UA'|'DL'})", Language.SQL) == (
        "where carrier in ('AA','UA')"
    )
    code = "where ${checkbox( or ):c=a=1,a=1|b=2}"
    assert fill(code, Language.SQL, c=["a=1", "b=2"]) == "where a=1 or b=2"


def test_a_value_that_a_form_cannot_have_is_refused() -> None:
    assert [refusal("${c=AA,AA|UA}", Language.SQL, c=value) for value in ("DL", {"a": 1}, "\ud800")] == [
        "form c has no option 'DL'; there are AA, UA",
        "form c takes a text, a number or true or false, not an object",
        "form c holds a character that is not Unicode (a lone surrogate)",
    ]


@given(value=TEXTS)
def test_a_value_adds_no_token_to_a_program(value: str) -> None:
    def kinds(text: str) -> list[int]:
        return [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline)]

    assert kinds(fill("f(a, '${v}', b)", Language.PYTHON, v=value)) == kinds("f(a, 'x', b)")
