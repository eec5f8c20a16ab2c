"""`limit`: an engine is asked for so many rows at most, and the readers of the result are told."""

from __future__ import annotations

import pytest
from tests.service.db_taps.answers import Query

ENDLESS = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT n FROM n"


def check(query: Query, text: str) -> None:
    """Run a query with more than two rows; check that it has its first two, and that its readers know."""
    answer = query(text, limit=2)
    whole = query(text)
    assert answer.rows == whole.rows[:2]
    assert answer.types == whole.types
    assert (answer.summary or {})["notes"] == ["the first 2 rows: there may be more"]
    of_all = query(text, limit=len(whole.rows) + 1)
    assert of_all.rows == whole.rows
    assert (of_all.summary or {})["notes"] == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM flights ORDER BY id",
        "SELECT 1 AS a UNION ALL SELECT 'x' UNION ALL SELECT 2.5",  # read value by value
        "PRAGMA table_info(flights)",
    ],
)
def test_the_first_rows_of_sqlite(query_sqlite: Query, text: str) -> None:
    check(query_sqlite, text)


@pytest.mark.parametrize("text", [ENDLESS, f"PRAGMA user_version; {ENDLESS}"])
def test_a_query_is_ended_once_there_are_enough(query_sqlite: Query, text: str) -> None:
    assert query_sqlite(text, limit=70_000).found.num_rows == 70_000


def test_every_statement_runs_and_changes_are_kept(query_sqlite: Query) -> None:
    script = "UPDATE flights SET seats = 7; SELECT * FROM flights; SELECT id FROM flights ORDER BY id"
    assert query_sqlite(script, limit=1).rows == [{"id": 1}]
    assert query_sqlite("UPDATE flights SET delay = 0 RETURNING id", limit=1).found.num_rows == 1
    total = "SELECT sum(seats) AS s, sum(delay) AS d FROM flights"
    assert query_sqlite(total).rows == [{"s": 21, "d": 0.0}]


def test_no_rows_are_no_first_rows(query_sqlite: Query) -> None:
    assert query_sqlite("SELECT * FROM flights WHERE id > 9", limit=5).rows == []
    assert query_sqlite("DELETE FROM flights", limit=5).message == "1 statement done, 3 rows changed, no table returned"
