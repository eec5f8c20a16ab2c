from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.types import bound as bound_values

from svc_jupyter.api.bindings import BindingType, Value, values_of
from svc_jupyter.service.db_taps.bindings import NotBound, bound, hint_for, names_in, with_literals, with_marks
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.lexing import tokens_of
from svc_jupyter.service.db_taps.statements import Statement, split
from svc_jupyter.sql_tokens import Dialect

POSTGRESQL, SQLITE, DUCKDB, PRESTO, SPARK = (
    Dialect.POSTGRESQL,
    Dialect.SQLITE,
    Dialect.DUCKDB,
    Dialect.PRESTO,
    Dialect.SPARK,
)


def test_names_are_found_by_the_same_rules_in_every_dialect():
    names = {
        "SELECT * FROM t WHERE o = :origin AND d>=:day": ["origin", "day"],
        "SELECT :a, :a + :b -- :c\n/* :d */": ["a", "a", "b"],
        "SELECT x FROM t WHERE o IN (:origins) LIMIT :n": ["origins", "n"],
        "SELECT ':no', ':no:no' FROM t WHERE o LIKE :yes": ["yes"],
        "SELECT '12:30', :at": ["at"],
        "SELECT x::text, :a ::text": ["a"],
        "SELECT src:customer.name FROM t WHERE src:id = :id": ["id"],
        "SELECT x[1:n] FROM t": [],
        "SELECT x[1 :n] FROM t": [],
        "SELECT ARRAY[:a, :b]": ["a", "b"],
        "SELECT :1, : a, :": [],
        "SELECT :größe": [],
    }
    found = {(dialect, text): names_in(text, dialect) for dialect in Dialect for text in names}
    # SQLite and SQL Server take brackets for the quotes of a name.
    quoted = {(dialect, "SELECT ARRAY[:a, :b]"): [] for dialect in (SQLITE, Dialect.SQLSERVER)}
    assert found == {(dialect, text): names[text] for dialect, text in found} | quoted


def test_names_by_the_rules_of_a_database():
    names = {
        (POSTGRESQL, "SELECT $$ :no $$, $t$ :no $t$, E'\\' :no', :yes"): ["yes"],
        (POSTGRESQL, "SELECT x[:n], x[:n] = :m FROM t"): ["m"],
        (PRESTO, "SELECT x[:n] FROM t"): ["n"],
        (DUCKDB, "SELECT {'k': :v, key: w, l : x, 'm' :y}, [:a], x[CASE WHEN :b THEN 1 END]"): ["v", "a", "b"],
        (Dialect.MYSQL, "SELECT @a:=1, `:no`, '\\' :no', :yes # :no"): ["yes"],
        (SPARK, "SELECT \":no\", r'\\', :yes"): ["yes"],
        (SQLITE, 'SELECT [:no], ":no", :yes'): ["yes"],
    }
    assert {(dialect, text): names_in(text, dialect) for dialect, text in names} == names


def test_an_open_quote_hides_where_names_are():
    with pytest.raises(NotBound, match="quote or a comment may be open"):
        names_in("SELECT 'open, :a", POSTGRESQL)


def filled(query, dialect, **bindings):
    statements = bound(split(query, dialect), values_of(bindings), dialect)
    return [with_literals(one, dialect).text for one in statements]


def typed(kind, value):
    return {"type": kind, "value": value}


def test_literals():
    literals = [
        ("JFK", "(E'JFK')", "('JFK')", "('JFK')"),
        ("O'Hare", "(E'O''Hare')", "('O''Hare')", "CAST(unhex('4f2748617265') AS STRING)"),
        (
            "\\' OR 1=1 --",
            "(E'\\\\'' OR 1=1 --')",
            "('\\'' OR 1=1 --')",
            "CAST(unhex('5c27204f5220313d31202d2d') AS STRING)",
        ),
        ("${env:HOME}", "(E'${env:HOME}')", "('${env:HOME}')", "CAST(unhex('247b656e763a484f4d457d') AS STRING)"),
        (5, "5", "5", "5"),
        (-5, "(-5)", "(-5)", "(-5)"),
        (-(2**63), "(-9223372036854775808)", "(BIGINT '-9223372036854775808')", "(-9223372036854775808)"),
        (True, "TRUE", "TRUE", "TRUE"),
        (None, "NULL", "NULL", "NULL"),
        (0.1, "CAST('0.1' AS double precision)", "CAST('0.1' AS double)", "CAST('0.1' AS double)"),
        (
            typed("double", "-Infinity"),
            "CAST('-Infinity' AS double precision)",
            "CAST('-Infinity' AS double)",
            "CAST('-Infinity' AS double)",
        ),
        (typed("double", "NaN"), "CAST('NaN' AS double precision)", "CAST('NaN' AS double)", "CAST('NaN' AS double)"),
        (typed("decimal", "12.50"), "12.50", "(DECIMAL '12.50')", "(12.50BD)"),
        (typed("decimal", "-1E+2"), "(-100)", "(DECIMAL '-100')", "(-100BD)"),
        (typed("integer", "9007199254740993"), *["9007199254740993"] * 3),
        (
            typed("date", "2026-01-31"),
            "CAST('2026-01-31' AS date)",
            "CAST('2026-01-31' AS date)",
            "CAST('2026-01-31' AS date)",
        ),
        (
            typed("timestamp", "2026-01-31T08:30:00.123000000"),
            "CAST('2026-01-31 08:30:00.123000000' AS timestamp without time zone)",
            "CAST('2026-01-31 08:30:00.123000000' AS timestamp)",
            "CAST('2026-01-31 08:30:00.123000000' AS timestamp)",
        ),
        (
            typed("timestamp", "2026-01-31T08:30Z"),
            "CAST('2026-01-31 08:30+00:00' AS timestamp with time zone)",
            "CAST('2026-01-31 08:30+00:00' AS timestamp with time zone)",
            "CAST('2026-01-31 08:30+00:00' AS timestamp)",
        ),
        (typed("binary", "AP8="), "CAST(E'\\\\x00ff' AS bytea)", "(X'00ff')", "unhex('00ff')"),
        (typed("date", None), "NULL", "NULL", "NULL"),
    ]
    dialects = (POSTGRESQL, PRESTO, SPARK)
    found = [[value, *(filled("SELECT :x", dialect, x=value) for dialect in dialects)] for value, *_ in literals]
    assert found == [[value, *([f"SELECT {text}"] for text in texts)] for value, *texts in literals]


def test_a_list_is_one_for_in():
    query = "SELECT 1 WHERE a IN (:many) OR b IN :many OR c IN (:few, :one) OR d = f(:few)"
    assert filled(query, PRESTO, many=[1, "x"], few=[2], one=3) == [
        "SELECT 1 WHERE a IN (1, ('x')) OR b IN (1, ('x')) OR c IN (2, 3) OR d = f(2)"
    ]


def test_names_and_values_must_fit():
    def refusal(**bindings: int) -> str:
        with pytest.raises(NotBound) as refused:
            filled("SELECT 1; SELECT :a", POSTGRESQL, **bindings)
        return refused.value.message

    assert [refusal(b=1), refusal(a=1, b=2), refusal(a=1, b=2, c=3)] == [
        ":a has no value; there are values for b",
        "the query has no :b, but there is a value",
        "the query has no :b, :c, but there are values",
    ]


def test_places_in_the_text_are_those_of_its_author():
    written = Statement("SELECT %, :a\n, :long", 10, ("SELECT",))
    [one] = bound([written], {"a": Value(BindingType.INTEGER, 1234567), "long": Value(BindingType.INTEGER, 8)}, SPARK)
    sent, values = with_marks(one, "%s", percent="%%")
    assert sent.text == "SELECT %%, %s\n, %s"
    assert [value.content for value in values] == [1234567, 8]
    literal = with_literals(one, SPARK)
    assert literal.text == "SELECT %, 1234567\n, 8"
    for statement in (sent, literal):
        assert statement.origin(0) == 10
        assert statement.origin(statement.text.index(",")) == 10 + written.text.index(",")
        assert statement.origin(statement.text.index("\n")) == 10 + written.text.index("\n")
        assert statement.origin(len(statement.text)) == 10 + len(written.text)
    assert literal.origin(literal.text.index("4567")) == 10 + written.text.index(":a") + 2


def test_text_and_times_that_a_dialect_cannot_write_are_refused():
    def refusal(value: object, dialect: Dialect) -> tuple[str, bool]:
        with pytest.raises(QueryFailure) as refused:
            filled("SELECT :x", dialect, x=value)
        return refused.value.message, refused.value.may_retry

    refused = [
        ("a\0b", POSTGRESQL, ("a string of this database cannot hold a NUL character", False)),
        (
            typed("timestamp", "2026-01-31T08:30:00.000000001"),
            POSTGRESQL,
            (
                "2026-01-31 08:30:00.000000001: this database has times to the microsecond; round it, or give it as a "
                "text",
                False,
            ),
        ),
        (
            typed("time", "08:30:00.1234"),
            PRESTO,
            ("08:30:00.1234: this database has times to the millisecond; round it, or give it as a text", False),
        ),
        (
            typed("time", "08:30"),
            SPARK,
            ("this database has no type for a time of day: give it as a text", False),
        ),
    ]
    assert [(value, dialect, refusal(value, dialect)) for value, dialect, _ in refused] == refused


def test_a_complaint_about_a_name_says_how_to_give_its_value():
    hints = {
        ('syntax error at or near ":"', "SELECT :a, :b, :a"): (
            "give :a, :b a value by bindings; in a notebook: --bind a (its variable) or --bind a=TEXT"
        ),
        ("Found the unbound parameter: a", "SELECT :a"): (
            "give :a a value by bindings; in a notebook: --bind a (its variable) or --bind a=TEXT"
        ),
        ('syntax error at or near ":"', "SELECT a:b"): None,
        ("no such column: x", "SELECT x, ':a'"): None,
        ('syntax error near ":"', "SELECT ':a"): None,
    }
    assert {(message, text): hint_for(message, text, POSTGRESQL) for message, text in hints} == hints


def test_decimals_keep_their_digits():
    assert values_of({"a": typed("decimal", "0.10000000000000000000001")}) == {
        "a": Value(BindingType.DECIMAL, Decimal("0.10000000000000000000001"))
    }


def test_sqlite_gives_back_what_went_in(query_sqlite):
    as_text = {
        "day": "2026-01-31",
        "at": "2026-01-31 08:30:00.250",
        "point": "2026-01-31 08:30:00+02:00",
        "hour": "08:30:00",
    }
    others = {"yes": 1, "price": 12.5, **as_text}
    bound_values.check(lambda text, bindings: query_sqlite(text, bindings=bindings).found, others)


def test_sqlite_gives_it_back_the_exact_way(query_sqlite):
    answer = query_sqlite("SELECT :a AS a, :b AS b UNION ALL SELECT 2.5, :c", bindings={"a": "x", "b": 1, "c": "y"})
    assert answer.rows == [{"a": "x", "b": "1"}, {"a": "2.5", "b": "y"}]


def test_postgresql_gives_back_what_went_in(query_postgres):
    bound_values.check(lambda text, bindings: query_postgres(text, bindings=bindings).found, {})


def test_no_setting_changes_what_postgresql_takes(query_postgres):
    answer = query_postgres("SET standard_conforming_strings = off; SELECT :a AS a", bindings={"a": "\\' OR 1=1 --"})
    assert answer.rows == [{"a": "\\' OR 1=1 --"}]


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_text_is_one_string_whatever_it_holds(text):
    for dialect in (POSTGRESQL, PRESTO, SPARK):
        [query] = filled("SELECT :a", dialect, a=text)
        tokens = tokens_of(query, dialect)
        assert tokens.is_whole
        strings = [token.text for token in tokens.found if "'" in token.text]
        assert len(strings) == 1, query
        assert not any(token.is_end for token in tokens.found)
