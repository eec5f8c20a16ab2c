"""Dry runs: the plan of a query comes as lines of text, and nothing is run."""

from __future__ import annotations

import pytest
from tests.service.db_taps.answers import Query

from svc_jupyter.service.db_taps.plans import NOTHING_RUN, NotExplained, explained
from svc_jupyter.service.db_taps.statements import split
from svc_jupyter.sql_tokens import Dialect

WITH_PLANS = [
    Dialect.SQLITE,
    Dialect.POSTGRESQL,
    Dialect.MYSQL,
    Dialect.DUCKDB,
    Dialect.HIVE,
    Dialect.PRESTO,
    Dialect.SPARK,
]


def lines_of(query: Query, text: str, **more: object) -> list[str]:
    """Return the lines of a plan."""
    answer = query(text, dry_run=True, **more)
    lines: list[str] = answer.found.column("line").to_pylist()
    assert answer.types == {"line": "string"}
    assert (answer.summary or {})["notes"] == [NOTHING_RUN]
    return lines


def test_the_steps_of_sqlite_are_indented(query_sqlite: Query) -> None:
    assert lines_of(query_sqlite, "SELECT id FROM flights UNION ALL SELECT 9") == [
        "COMPOUND QUERY",
        "  LEFT-MOST SUBQUERY",
        "    SCAN flights",
        "  UNION ALL",
        "    SCAN CONSTANT ROW",
    ]


def test_a_change_has_a_plan_and_changes_nothing(query_sqlite: Query) -> None:
    text = "-- once\nDELETE FROM flights WHERE id = :id"
    assert lines_of(query_sqlite, text, bindings={"id": 1}) == ["SEARCH flights USING INTEGER PRIMARY KEY (rowid=?)"]
    lines_of(query_sqlite, "CREATE TABLE copy AS SELECT * FROM flights")
    names = "SELECT count(*) AS n FROM flights UNION ALL SELECT count(*) FROM sqlite_schema"
    assert query_sqlite(names).rows == [{"n": 3}, {"n": 2}]


def test_a_plan_without_steps_has_no_lines(query_sqlite: Query) -> None:
    assert lines_of(query_sqlite, "DELETE FROM flights") == []


def test_an_error_is_at_its_line_of_the_query(query_sqlite: Query) -> None:
    answer = query_sqlite("-- a\n\nDELETE FROM flights\nWHERE delays > 1\nAND\nid\n> 0", dry_run=True)
    assert answer.message == (
        "no such column: delays. Did you mean delay?\n  query, line 4: WHERE delays > 1\n  tap flights (sqlite)"
    )


def test_changes_of_the_database_and_scripts_have_no_plan(query_sqlite: Query) -> None:
    refused = {
        "PRAGMA user_version = 5": "a dry run is of a query or of a change of rows, not of PRAGMA; nothing was run",
        "CREATE TABLE u (a)": "a dry run is of a query or of a change of rows, not of CREATE; nothing was run",
        "SELECT 1;\nDELETE FROM flights": "a dry run is of one statement, and the query has 2; nothing was run",
    }
    answers = {text: query_sqlite(text, dry_run=True) for text in refused}
    assert {text: answer.failure["reason"] for text, answer in answers.items()} == refused
    assert {text: answer.failure["line"] for text, answer in answers.items()} == dict.fromkeys(refused)
    assert [text for text, answer in answers.items() if answer.error is None or answer.error["may_retry"]] == []
    query = "SELECT count(*) AS n, (SELECT user_version FROM pragma_user_version) AS v FROM flights"
    assert query_sqlite(query).rows == [{"n": 3, "v": 0}]


def test_nothing_that_runs_behind_explain_is_sent() -> None:
    def refusal(text: str, dialect: Dialect) -> str:
        with pytest.raises(NotExplained) as refused:
            explained(split(text, dialect), dialect)
        return refused.value.message

    words = {
        "ANALYZE DELETE FROM t": "ANALYZE",
        "EXPLAIN ANALYZE DELETE FROM t": "EXPLAIN",
        "/* a */ ANALYZE SELECT f()": "ANALYZE",
        "CALL f()": "CALL",
        "SET a=1": "SET",
    }
    messages = {
        text: f"a dry run is of a query or of a change of rows, not of {word}; nothing was run"
        for text, word in words.items()
    }
    found = {(text, dialect): refusal(text, dialect) for text in words for dialect in WITH_PLANS}
    assert found == {(text, dialect): messages[text] for text, dialect in found}


def test_each_database_is_asked_in_its_words() -> None:
    asked = {dialect: explained(split("SELECT 1", dialect), dialect).text for dialect in WITH_PLANS}
    assert asked == {
        Dialect.SQLITE: "EXPLAIN QUERY PLAN SELECT 1",
        Dialect.POSTGRESQL: "EXPLAIN (FORMAT TEXT) SELECT 1",
        Dialect.MYSQL: "EXPLAIN FORMAT=TRADITIONAL SELECT 1",
        Dialect.DUCKDB: "EXPLAIN (FORMAT TEXT) SELECT 1",
        Dialect.HIVE: "EXPLAIN SELECT 1",
        Dialect.PRESTO: "EXPLAIN (TYPE LOGICAL) SELECT 1",
        Dialect.SPARK: "EXPLAIN COST SELECT 1",
    }


def test_a_database_whose_way_is_not_known_is_not_asked() -> None:
    for dialect in set(Dialect) - set(WITH_PLANS):
        with pytest.raises(NotExplained, match="how this database shows its plan is not known here"):
            explained(split("SELECT 1", dialect), dialect)
