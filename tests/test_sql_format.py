"""SQL in a readable layout: what it means stays, whatever it holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sqlglot import tokenize
from sqlglot.errors import TokenError

from svc_jupyter.sql_format import Formatted, NotFormatted, formatted, formatted_cell
from svc_jupyter.sql_tokens import Dialect

_ANY = (Dialect.POSTGRESQL, Dialect.MYSQL, Dialect.SQLITE)
_LONG = """with late as (select f.*, row_number() over (partition by origin order by dep_delay desc) as n
from flights f join airports a on a.faa=f.origin where dep_delay>:least)
SELECT l.Origin, case when n=1 then 'first' else 'other' end as place, l.dep_delay::numeric(10,2) -- the worst
from late l where n<=3 and day = '$day$' and l.carrier in ('UA', 'AA')"""
_LAID_OUT = """with
    late as (
        select f.*, row_number() over (partition by origin order by dep_delay desc) as n
        from flights f
        join airports a on a.faa = f.origin
        where dep_delay > :least
    )
SELECT
    l.Origin,
    case when n = 1 then 'first' else 'other' end as place,
    l.dep_delay::numeric(10, 2)  -- the worst
from late l
where n <= 3 and day = '$day$' and l.carrier in ('UA', 'AA')"""


def test_a_query_is_laid_out_and_its_words_stay() -> None:
    assert formatted(_LONG, _ANY).text == _LAID_OUT
    assert formatted(_LAID_OUT, _ANY).text == _LAID_OUT


_FORMATTED = {
    "select  1 ;select 2;\n\n-- end\n": "select 1;\n\nselect 2;\n\n-- end",
    "SELECT  'a  b', \"c  d\", e'x', `e  f` FROM t": "SELECT 'a  b', \"c  d\", e'x', `e  f` FROM t",
    "select  x->>'k', a[1:n], :b, c::int, 1e-3 from t": "select x ->> 'k', a[1:n], :b, c::int, 1e-3 from t",
    "SELECT  a FROM $table$_x WHERE d=:d AND e=-1": "SELECT a FROM $table$_x WHERE d = :d AND e = -1",
    "select\ta -- first\n, b": "select\n    a,  -- first\n    b",
    "": "",
    ";;": ";\n\n;",
}


def test_only_the_space_between_words_changes() -> None:
    assert {text: formatted(text, _ANY) for text in _FORMATTED} == {
        text: Formatted(laid_out, ()) for text, laid_out in _FORMATTED.items()
    }


def test_a_hint_stays_where_the_engine_looks_for_it() -> None:
    text = "select /*+ BROADCAST(a) */ x,r'\\d  ' from a"
    assert formatted(text, (Dialect.SPARK,)).text == "select  /*+ BROADCAST(a) */\n    x, r'\\d  '\nfrom a"


_KEPT = [
    "select  'it\\'s  a'  from t -- '",  # a text that ends elsewhere in MySQL
    "select  a /*+ a hint */, b",
    "select  'open",
    "select  /* open",
    "select  a:b from t where {% if x",
    f"select  {'(' * 60}1{')' * 60}",
    f"select  {', '.join(['a'] * 8000)}",
]


def test_a_statement_that_might_change_its_meaning_stays() -> None:
    assert {text: formatted(f"select  1;\n\n{text}", _ANY) for text in _KEPT} == {
        text: Formatted(f"select 1;\n\n{text}", (3,)) for text in _KEPT
    }


_FRAGMENTS = [
    *("select", "SELECT", "from", "t", "Flights f", "where", "and", "case when", "then", "else", "end", "(", ")", ","),
    *("group by", "order by 1", "join", "on", "union all", "with a as", "over (partition by", "insert into", "values"),
    *("'a'", "'it''s'", "'  '", "'-- no'", "'/* no */'", '"Q q"', "`b  q`", "[s  q]", "$$ d  d $$", "e'\\n'", "x'00'"),
    *("-- c\n", "/* c  c */", "/*+ H(a) */", "--\n", ":n", ":a::int", "$m$", "$1", "?", "@v", "::", "->>", "->", "||"),
    *(
        "1",
        "1.5",
        "1e-3",
        "2.5E+10",
        "-1",
        "- 1",
        "=",
        "<>",
        "!=",
        "<=>",
        "*",
        "t.*",
        "a.b",
        "x[1]",
        "x[1:2]",
        "{a}",
        "%",
        "\\",
        "#",
    ),
]
_SPACES = ["", " ", "  ", "\n", "\t", "\n\n  "]


@pytest.mark.parametrize("dialect", [Dialect.POSTGRESQL, Dialect.MYSQL, Dialect.SQLITE, Dialect.SPARK, Dialect.PRESTO])
@given(st.lists(st.tuples(st.sampled_from(_FRAGMENTS), st.sampled_from(_SPACES)), max_size=25))
def test_another_reader_finds_the_same_tokens(dialect: Dialect, parts: list[tuple[str, str]]) -> None:
    text = joined(parts)
    assume(text.count("$m$") + text.count("$1") < 2)  # two are a quote for sqlglot, as in `$1 + $`
    dialects = _ANY if dialect in _ANY else (dialect,)
    try:
        tokens = read(text, dialect)
    except TokenError:
        assume(False)
    assert read(formatted(text, dialects).text, dialect) == tokens


def joined(parts: list[tuple[str, str]]) -> str:
    """Return the fragments, with a space at least between two that would be one name or number for some reader."""
    text = ""
    for fragment, space in parts:
        text += " " if re.search(r"[\w$.]$", text) and re.match(r"[\w$.]", fragment) else ""
        text += fragment + space
    return text


def test_a_dollar_in_a_name_and_the_sign_of_an_exponent_stay_where_they_are() -> None:
    """For MySQL `$$select` is a name."""
    layouts = {
        "1select $$ d  d $$select": "1select $$ d  d $$select",
        "select  $12.5E+10": "select $12.5E+10",
        "'a'select*1e-3select": "'a' select * 1e-3select",
    }
    assert {script: formatted(script, _ANY).text for script in layouts} == layouts


def read(text: str, dialect: Dialect) -> list[tuple[str, str]]:
    """Return sqlglot's tokens."""
    return [
        (token.token_type.name, token.text)
        for token in tokenize(text, read={"postgresql": "postgres"}.get(dialect.value, dialect.value))
    ]


_CELLS = {
    "%%svc_db --tap x\nselect 1,2\nfrom t": "%%svc_db --tap x\nselect 1, 2 from t",
    "\n%%svc_hive\n\nselect 1,2\n\n": "%%svc_hive\nselect 1, 2",
    "%%svc_schedule --every day\n%%svc_presto\nselect  a": "%%svc_schedule --every day\n%%svc_presto\nselect a",
    "%%svc_composite\n%%svc_shell\necho  1\n%%svc_sql\nselect  1;select 2\n": (
        "%%svc_composite\n%%svc_shell\necho  1\n%%svc_sql\nselect 1;\n\nselect 2"
    ),
    "%sql\nselect  1": "%sql\nselect 1",
    "%%sql db\nselect  'it\\'s  a'  from t -- '": "%%sql db\nselect  'it\\'s  a'  from t -- '",
}


def test_the_sql_of_a_cell_is_laid_out_and_nothing_else() -> None:
    assert {cell: formatted_cell(cell).text for cell in _CELLS} == _CELLS


def refusal(cell: str) -> str:
    with pytest.raises(NotFormatted) as refused:
        formatted_cell(cell)
    return str(refused.value)


def test_a_cell_without_sql_is_refused() -> None:
    cells = ["", "print(1)", "%%svc_db", "%%svc_db\n\n", "x = 1\n%%svc_db\nselect 1", "%%svc_shell\nls"]
    words = "the cell has no SQL: no query below %%svc_db, %%svc_hive, %%svc_presto or %%svc_sql"
    assert {cell: refusal(cell) for cell in cells} == dict.fromkeys(cells, words)


def test_a_very_long_cell_is_refused() -> None:
    with pytest.raises(NotFormatted, match="longer than 200,000 characters"):
        formatted_cell("%%svc_db\nselect '" + "x" * 10_000_000 + "'")


def test_the_note_names_the_lines_of_the_cell() -> None:
    found = formatted_cell("%%svc_db\nselect 1;\n\nselect '\\';\nselect  2")
    assert found.note == "The SQL at line 2 stays as written: with another layout it might mean something else"
    found = formatted_cell("%%svc_hive\nselect  1;\nselect a:b {%;\n\nselect c:d {%;\nselect  3")
    assert found.kept == (3, 5)
    assert "at lines 3 and 5 stay as written" in str(found.note)
    assert found.text == "%%svc_hive\nselect 1;\n\nselect a:b {%;\n\nselect c:d {%;\n\nselect 3"
