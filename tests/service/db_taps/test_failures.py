from __future__ import annotations

from collections.abc import Sequence

from svc_jupyter.service.db_taps.failures import Position, QueryFailure, position_of, report_of, without_passwords
from svc_jupyter.service.db_taps.statements import split, tables_of
from svc_jupyter.service.db_taps.suggestions import Unknown, like, suggestions, unknown_name, without_offer
from svc_jupyter.sql_tokens import Dialect

SCRIPT = "select carrier\nfrom flights\nWHERE dep_delays > 30;\n\nselect 2"


def described(failure: QueryFailure, script: str = SCRIPT, number: int = 0, meant: Sequence[str] = ()) -> str:
    statements = split(script, Dialect.SQLITE)
    return report_of(
        failure,
        script=script,
        source="query",
        statement=statements[number],
        only_one=len(statements) == 1,
        target="tap flights (sqlite)",
        did_you_mean=meant,
    ).message


def test_the_message_comes_first_then_the_place_then_the_tap():
    failure = QueryFailure("no such column: dep_delays", position=SCRIPT.index("dep_delays"))
    assert described(failure) == (
        "no such column: dep_delays\n  query, line 3: WHERE dep_delays > 30;\n  tap flights (sqlite)"
    )


def test_of_several_statements_the_failed_one_is_shown_when_the_engine_reports_no_place():
    assert described(QueryFailure("constraint failed"), number=1) == (
        "constraint failed\n  query, line 5: select 2\n  tap flights (sqlite)"
    )


def test_a_single_statement_without_a_place_needs_none():
    assert described(QueryFailure("too big"), "select 1") == "too big\n  tap flights (sqlite)"


def test_the_engines_hint_follows_the_place():
    failure = QueryFailure("no x", position=0, hint="Perhaps you meant y.")
    assert (
        described(failure, "select x")
        == "no x\n  query, line 1: select x\n  Perhaps you meant y.\n  tap flights (sqlite)"
    )


def test_a_name_that_was_meant_follows_the_engines_words_and_replaces_its_hint():
    failure = QueryFailure('column "dep_delays" does not exist', position=0, hint="Perhaps you meant to reference it.")
    assert described(failure, "select dep_delays", meant=["dep_delay", "dep_delay2"]) == (
        'column "dep_delays" does not exist. Did you mean dep_delay or dep_delay2?\n'
        "  query, line 1: select dep_delays\n  tap flights (sqlite)"
    )


def test_an_unknown_name_is_found_in_the_words_of_every_engine():
    of_columns = [
        "no such column: f.dep_delays",
        "table flights has no column named dep_delays",
        'column "dep_delays" of relation "flights" does not exist',
        "column f.dep_delays does not exist",
        "Unknown column 'f.dep_delays' in 'field list'",
        "Invalid column name 'dep_delays'.",
        "Column 'f.dep_delays' cannot be resolved",
        "'f.dep_delays' cannot be resolved",
        "Insert column name does not exist in target table: dep_delays",
        "A column or function parameter with name `f`.`dep_delays` cannot be resolved.",
    ]
    of_tables = [
        "no such table: flihgts",
        'relation "public.flihgts" does not exist',
        "Table 'test.flihgts' doesn't exist",
        "Table hive.default.flihgts does not exist",
        "[TABLE_OR_VIEW_NOT_FOUND] The table or view `default`.`flihgts` cannot be found.",
    ]
    names = dict.fromkeys(of_columns, ("dep_delays", True)) | dict.fromkeys(of_tables, ("flihgts", False))
    found = {message: unknown_name(message) for message in names}
    assert {message: unknown and (unknown.last, unknown.is_column) for message, unknown in found.items()} == names


def test_a_syntax_error_near_a_name_says_nothing_of_an_unknown_name():
    assert unknown_name("syntax error near dep_delays") is None
    assert unknown_name("syntax error near flihgts") is None


def test_an_unknown_table_is_looked_for_in_its_schema():
    asked = []

    def known(tables: Sequence[tuple[str, ...]], within: tuple[str, ...]) -> list[str]:
        asked.append((list(tables), within))
        return ["flights"]

    schemas = {
        "no such table: flihgts": (),
        'relation "public.flihgts" does not exist': ("public",),
        "Table hive.default.flihgts does not exist": ("hive", "default"),
        "The table or view `a.b`.`flihgts` cannot be found.": ("a.b",),
    }
    [statement] = split("SELECT * FROM flihgts", Dialect.SQLITE)
    found = {message: suggestions(message, [], statement, Dialect.SQLITE, known) for message in schemas}
    assert found == {message: ["flights"] for message in schemas}
    assert asked == [([], schema) for schema in schemas.values()]


def test_sparks_advice_gives_way_to_a_name_that_was_meant():
    message = (
        "[TABLE_OR_VIEW_NOT_FOUND] The table or view `flihgts` cannot be found. Verify the spelling and correctness of "
        "the schema and catalog.\nSearch path: [`spark_catalog`.`default`].\nTo tolerate the error on drop use DROP "
        "TABLE IF EXISTS. SQLSTATE: 42P01"
    )
    words = "[TABLE_OR_VIEW_NOT_FOUND] The table or view `flihgts` cannot be found."
    assert without_offer(message) == (words, [])
    failure = QueryFailure(message, shows_column=True)
    assert described(failure, "SELECT 1 FROM flihgts", meant=["flights"]) == (
        f"{words} Did you mean flights?\n  query, line 1, column 15: SELECT 1 FROM flihgts\n  tap flights (sqlite)"
    )
    assert message in described(failure, "SELECT 1 FROM flihgts")


def test_only_names_that_are_alike_are_offered():
    names = ["dep_time", "Dep_Delay", "arr_delay", "carrier"]
    assert like("dep_delays", names) == ["Dep_Delay"]
    assert like("carier", names) == ["carrier"]
    assert like("x", names) == like("carrier", names) == []
    assert Unknown('"f"."a b"', True).last == "a b"


def test_the_tables_of_a_statement_are_found():
    tables = {
        "select * from a, b.c as d, e where 'from f' = x -- from g": [("a",), ("b", "c"), ("e",)],
        'select 1 from "a b"."c" t join d on true left join e using (x)': [("a b", "c"), ("d",), ("e",)],
        "insert into a select * from (select * from b)": [("a",), ("b",)],
        "update a set b = 1": [("a",)],
        "select 1": [],
    }
    assert {text: tables_of(text, Dialect.SQLITE) for text in tables} == tables


def test_an_offset_is_found_in_its_line():
    places = {
        0: Position(1, "ab"),
        2: Position(1, "ab", 3),
        3: Position(2, "cd"),
        7: Position(3, ""),
        99: Position(3, ""),
    }
    assert {offset: position_of("ab\n cd\n", offset) for offset in places} == places


def test_of_a_long_line_the_part_around_the_place_is_shown():
    place = position_of("a" * 500 + " here " + "b" * 500, 503)
    assert "here" in place.text
    assert len(place.text) < 170


def test_a_password_in_a_url_is_hidden():
    assert without_passwords("cannot use mysql://u:geheim@host/db") == "cannot use mysql://u:***@host/db"
