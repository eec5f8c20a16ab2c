"""What a notebook's cell of parameters declares, by the rules of its language."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from svc_jupyter.api.notebook_parameters import Parameter, Unreadable, parameters_in, parameters_of

_PYTHON = r'''"""
days = 9
"""
# limit = 3
region = 'EU'  # where
days: int = 7; rate = 1_000.5
who: str | None = "ann"
top: Optional[int] = 5
mode: Literal["full", "part"] = "full"
share: float = 1
small = -2e-3
x, y = "all", 1
first = last = 3
text = "a\"b\té\x41"
raw = r"C:\d"
joined = "a" 'b'
big = 1239162456494753671
full = True
'''


def values_of(source: str, language: str = "python") -> dict[str, Any]:
    return {each.name: each.value for each in parameters_of(source, language)}


def code_of(source: str, language: str = "python") -> dict[str, str]:
    """Return the defaults that are no literals, as they are written."""
    return {each.name: each.code for each in parameters_of(source, language) if each.value is None}


def test_literals_of_python_have_their_values():
    assert values_of(_PYTHON) == {
        "region": "EU",
        "days": 7,
        "rate": 1000.5,
        "who": "ann",
        "top": 5,
        "mode": "full",
        "share": 1.0,
        "small": -0.002,
        "x": "all",
        "y": 1,
        "first": 3,
        "last": 3,
        "text": 'a"b\téA',
        "raw": r"C:\d",
        "joined": "ab",
        "big": 1239162456494753671,
        "full": True,
    }
    types = {each.name: each.type for each in parameters_of(_PYTHON, "Python")}
    assert (types["share"], types["days"], types["full"], types["text"]) == ("float", "int", "bool", "str")


def test_a_default_that_is_no_literal_of_python_is_code():
    source = (
        "half = 5//2\nnext_day = days + 1\nnone: str | None = None\nname = f'{x}'\nb = b'x'\nmany = [1, 2]\n"
        "neg = -True\nbeyond = 10000000000000000000\nendless = 1e999\np, q = pair()\nr, *s = 1, 2\nwide = (1 +\n   2)"
    )
    assert code_of(source) == {
        "half": "5//2",
        "next_day": "days + 1",
        "none": "None",
        "name": "f'{x}'",
        "b": "b'x'",
        "many": "[1, 2]",
        "neg": "-True",
        "beyond": "10000000000000000000",
        "endless": "1e999",
        "p": "pair()",
        "q": "pair()",
        "r": "1, 2",
        "s": "1, 2",
        "wide": "1 + 2",
    }


def test_the_last_assignment_counts_and_other_changes_make_code_of_a_literal():
    source = (
        "x = 1\nx = 2\ny = 3\ny += 1\nz = 4\nif x:\n    z = 5\nf = 6\ndef f():\n    x = 7\nm = 8\nimport m.n\n"
        "d = 9\ndel d"
    )
    assert values_of(source) == {"x": 2, "y": None, "z": None, "f": None, "m": None, "d": None}
    assert code_of(source)["y"] == "y += 1"
    assert code_of(source)["z"] == "if x: z = 5"


def test_a_name_that_only_branches_assign_is_code():
    source = (
        "if x:\n    days = 1\nelse:\n    days = 2\ntry:\n    import n\n    (a, b) = n.pair()\nexcept E as error:\n"
        "    c: int = 3\n    def f():\n        d = 4\nfor i in range(2):\n    e = i\n"
    )
    whole = "if x: days = 1 else: days = 2"
    assert values_of(source) == dict.fromkeys(("days", "a", "b", "c"))
    assert code_of(source)["days"] == whole


def test_a_line_of_ipython_takes_nothing_of_a_text_with_it():
    assert values_of('%matplotlib inline\nq = """\n%d rows\n!x\nend"""\nfiles = !ls\nfoo?\n?foo\nx = 1') == {
        "q": "\n%d rows\n!x\nend",
        "x": 1,
    }


def test_an_annotation_makes_a_float_of_a_whole_number_unless_it_may_be_one():
    source = "a: float = 1\nb: float | None = 1\nc: int | float = 1\nd: str | float = 1"
    assert {name: type(value) for name, value in values_of(source).items()} == {
        **dict.fromkeys("ab", float),
        **dict.fromkeys("cd", int),
    }
    assert values_of("val a: Double = 1\nval b: Int = 1", "scala") == {"a": 1.0, "b": 1}
    assert type(values_of("a::Float64 = 1", "julia")["a"]) is float


def test_a_number_of_r_is_a_double_unless_it_says_otherwise():
    assert [each.type for each in parameters_of("a <- 1\nb <- -7\nc <- 7L", "R")] == ["float", "float", "int"]


def test_a_value_that_a_block_or_another_statement_changes_is_code():
    changed = (
        ("a = 1\nfunction f()\n a = 2\nend", "julia"),
        ("a = 1\nif x\n a = 2\nend", "julia"),
        ("a = 1\na += 1", "julia"),
        ("a=1\nif [ x ]; then\n  a=2\nfi", "bash"),
        ("a=1\na+=1", "bash"),
        ("a=1\nunset a", "bash"),
        ("a <- 1\nif (x)\n  a <- 5", "r"),
        ("a <- 1\n5 -> a", "r"),
        ("a <- 1\na[2] <- 5", "r"),
        ("var a = 1\ndef f() =\n  a = 2", "scala"),
        ("var a = 1\na += 1", "scala"),
    )
    found = [(source, values_of(source, language)) for source, language in changed]
    assert found == [(source, {"a": None}) for source, _ in changed]
    assert values_of("final val a = 1\nprintln(a)", "scala") == {"a": 1}
    assert values_of("declare a=1\necho $a", "bash") == {"a": 1}
    assert values_of("a <-\n 1", "R") == {"a": 1}


def test_an_assignment_after_a_block_is_read():
    sources = (
        ("f <- function(x) x\nzip <- '1'\nif (x)\n  n <- 1\na <- 7L", "r"),
        ("f <- function(x) {\n  n <- 1\n}\na <- 7L", "r"),
        ("if x\n  n = 1\nend\nl = [i for i in y]\ne = y[end]\na = 7", "julia"),
        ("if x then\n  n = 1\n  val m = 2\nval a = 7", "scala"),
        ("class A(n: Int)\ndef f(x: Int) = { x }\nval a = 7", "scala"),
        ("mode=select\nif [ x ]; then echo if; fi\ncat f | while read y; do n=1; done\na=7", "bash"),
        ("f() {\n  n=1\n}\ncase $x in\n b) n=1;;\nesac\na=7", "bash"),
    )
    found = [(source, values_of(source, language)) for source, language in sources]
    read = [(source, values["a"], values.get("n"), values.get("m")) for source, values in found]
    assert read == [(source, 7, None, None) for source, _ in sources]


def test_a_word_of_declarations_may_be_a_name():
    assert values_of("val=5\nfinal=true\nexport local=x", "bash") == {"val": 5, "final": True, "local": "x"}
    assert values_of("var <- '1'\nlocal <- TRUE", "r") == {"var": "1", "local": True}
    assert values_of("val = 5\nconst a = 6", "julia") == {"val": 5, "a": 6}


def test_a_name_that_no_argument_can_have_is_no_parameter():
    assert values_of("größe = 5\ndays = 7") == {"days": 7}
    assert values_of(f"{'a' * 256} = 1\nb = 2") == {"b": 2}


def test_a_number_beyond_every_type_is_code():
    assert values_of(f"a: float = 1{'0' * 400}") == {"a": None}


def test_names_of_inner_scopes_change_nothing():
    source = (
        "x = 1\nprint([x for x in 'ab' if x])\nf = lambda: (x := 2)\nclass C:\n    x = 3\n"
        "for i in 'ab':\n    def g():\n        x = 4"
    )
    assert values_of(source)["x"] == 1
    assert values_of("x = 1\nprint(x := 2)\ny = 3\nz = [y := 4 for _ in 'ab']") == {"x": None, "y": None, "z": None}


def test_lines_of_ipython_are_passed_over_and_texts_that_look_like_them_are_not():
    assert values_of("%matplotlib inline\n!ls\nx = 1") == {"x": 1}
    assert values_of('x = """\n%d\n!a"""') == {"x": "\n%d\n!a"}
    assert values_of("!pip install a \\\n  b\nzip = '01234'") == {"zip": "01234"}
    assert values_of("if 1:\n    %time y=2\nx = 1") == {"x": 1}
    assert values_of("\n  a = 1\n  b = 2") == {"a": 1, "b": 2}


UNREADABLE = {
    r"line 2: '\(' was never closed": "x = 1\ny = (",
    "null byte": "x = \0",
    "too many nested parentheses": f"x = {'(' * 5000}1{')' * 5000}",
    "nested too deeply": f"x = {'-' * 90_000}1",
}


def refusal(source: str, language: str) -> str:
    with pytest.raises(Unreadable) as refused:
        parameters_of(source, language)
    return str(refused.value)


def test_a_cell_that_python_cannot_read_says_where():
    refusals = {why: refusal(source, "python") for why, source in UNREADABLE.items()}
    assert {why: text for why, text in refusals.items() if not re.search(why, text)} == {}


def test_r():
    source = (
        'x <- 7L # (c\ny = "a\\tb"; z <- TRUE\nw <- -1e-3\nn <- \'a"b\'\nface <- "\\U{1F600}"\n"m <- 5"\nf(k <- 1)\n'
        "v <- c(1,\n  2)\nu <- 5 %/% 2\nzip <- 01234"
    )
    literals = {"x": 7, "y": "a\tb", "z": True, "w": -0.001, "n": 'a"b', "face": "😀"}
    assert values_of(source, "R") == literals | dict.fromkeys(("v", "u", "zip"))
    assert code_of(source, "R") == {"v": "c(1, 2)", "u": "5 %/% 2", "zip": "01234"}


def test_an_escape_of_no_character_makes_no_text():
    assert values_of('x <- "\\U{FFFFFFFF}"\ny <- "\\U{110000}"', "R") == {"x": None, "y": None}


def test_julia():
    source = (
        'x = 7 # c\ny::Int = 1_000\nconst k = true; z = -2.5e3\n"""\nm = 9\n"""\ng(x) = 3\n'
        's = "a$b"\nt = raw"a\\b"\nq = 5 ÷ 2'
    )
    literals = {"x": 7, "y": 1000, "k": True, "z": -2500.0}
    assert values_of(source, "julia") == literals | dict.fromkeys(("s", "t", "q"))
    assert code_of(source, "julia")["s"] == '"a$b"'


def test_scala():
    source = (
        'val x = 7 // c\nvar y: Double = 1.5f\nval s: String = "a // b"\n/* m = 5 */ val b = true; val l = 7L\n'
        'def f(x: Int) = 5\nval t = s"a$b"\nlazy val o: Option[Int] = Some(1)\nval q = 5/2'
    )
    literals = {"x": 7, "y": 1.5, "s": "a // b", "b": True, "l": 7}
    assert values_of(source, "scala") == literals | dict.fromkeys(("t", "o", "q"))
    assert code_of(source, "scala") == {"t": 's"a$b"', "o": "Some(1)", "q": "5/2"}


def test_bash():
    source = (
        'x=5\ny="a b"  # c\nz=\'it\'\nexport w=hello\ne="a\\"b"\nzip=01234\nif true; then n=5; fi\n'
        'v=$(date)\nu="a $x"\narr=(1 2)'
    )
    literals = {"x": 5, "y": "a b", "z": "it", "w": "hello", "e": 'a"b', "zip": "01234"}
    assert values_of(source, "bash") == literals | dict.fromkeys(("v", "u", "arr"))
    assert code_of(source, "bash") == {"v": "$(date)", "u": '"a $x"', "arr": "(1 2)"}


def test_numbers_and_texts_are_those_of_their_language():
    bash = "x=1_0\ny=7L\nz=+33\nk=a=b\nm=\"a\"'b'\ng='*'\np=1.10\ne=1e3\n"
    bash += 'h=*.csv\nt=~\nu=`date`\nv="\\$x"\nd="x`date`"\ni=a>b\nj=$"a"'
    texts = {"x": "1_0", "y": "7L", "z": "+33", "k": "a=b", "m": "ab", "g": "*", "p": "1.10", "e": "1e3"}
    assert values_of(bash, "bash") == texts | dict.fromkeys(("h", "t", "u", "v", "d", "i", "j"))
    julia = "x = 7L\ny = 1.5f\nw = 'a'\nv = \"\\101\"\nz = 1_000"
    assert values_of(julia, "julia") == dict.fromkeys(("x", "y", "w", "v")) | {"z": 1000}
    assert values_of("x <- 1_000\ny <- 1e3\nz <- +5\nw <- .5", "R") == {"x": None, "y": 1000.0, "z": 5, "w": 0.5}
    scala = "val x = 1_000L\nval y = 2f\nval z = 0x1F\nval w = 5."
    assert values_of(scala, "scala") == {"x": 1000, "y": 2.0, "z": None, "w": 5.0}


def test_a_language_whose_notebooks_take_no_arguments_declares_none():
    assert parameters_of("x = 1", "COBOL") == []


def test_a_text_of_any_length_is_read_or_refused():
    refusals = {language: refusal("x = 1" + " " * 5000, language) for language in ("r", "julia", "scala", "bash")}
    assert {language: text for language, text in refusals.items() if "more than 5,000 characters" not in text} == {}
    assert parameters_of(f"x = '{'a' * 1000}'", "python") == [Parameter("x", f"'{'a' * 199}…", "a" * 1000)]


def test_a_text_without_an_end_takes_no_time_that_doubles_with_each_escape():
    cases = itertools.product(
        ("r", "julia", "scala", "bash"),
        ('x="', "x='", "x=$'", 'x=raw"', 'x=s"', 'x="""', "x=`", "x=${"),
        ("\\", "\\7777", '\\"', "\\n\n"),
    )
    values = {
        (language, start, escape): values_of(start + escape * (600 // len(escape)), language)
        for language, start, escape in cases
    }
    assert {case: read for case, read in values.items() if any(value is not None for value in read.values())} == {}


def notebook_of(*cells: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": metadata}


def cell(source: str | list[str], tags: Any = ("parameters",), kind: str = "code") -> dict[str, Any]:
    return {"cell_type": kind, "source": source, "metadata": {"tags": list(tags) if tags else tags}}


def test_the_first_code_cell_with_the_tag_counts_in_the_notebooks_language():
    cells = (cell("w = 0", kind="markdown"), cell("x = 1", tags=()), cell(["y = 2\n", "z = 3"]), cell("y = 4"))
    assert parameters_in(notebook_of(*cells)) == [Parameter("y", "2", 2), Parameter("z", "3", 3)]
    in_r = notebook_of(cell("y <- 2L"), kernelspec={"language": "R"})
    assert parameters_in(in_r) == [Parameter("y", "2L", 2)]
    by_name = notebook_of(cell("y <- 2L"), language_info={"name": "R"})
    assert parameters_in(by_name) == parameters_in(in_r)
    unnamed = notebook_of(cell("y = 2"), kernelspec=None)
    assert parameters_in(unnamed) == [Parameter("y", "2", 2)]
    assert parameters_in(notebook_of(cell("x = 1", tags=None))) is None


def test_a_document_that_is_no_notebook_is_refused():
    def refusal(document: dict[str, Any]) -> str:
        with pytest.raises(Unreadable) as refused:
            parameters_in(document)
        return str(refused.value)

    wrong = [{"cells": 1}, {"cells": [1]}, {"cells": [cell("x = 1")], "metadata": 1}]
    refusals = [(document, refusal(document)) for document in wrong]
    assert [each for each in refusals if "not of a notebook of format 4" not in each[1]] == []
