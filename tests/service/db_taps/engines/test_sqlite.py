from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from tests.support.locked_sqlite import locked
from tests.types.tables import SQLITE, check

from svc_jupyter.service.db_taps.engines import sqlite, sqlite_rules

NUMBERS = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {count}) "


@pytest.fixture
def small_batches(monkeypatch):
    """Batches of a few rows, so that a short table shows what a long one would."""
    monkeypatch.setattr(sqlite, "_LARGE_BATCH", 4)
    monkeypatch.setattr(sqlite_rules, "_BATCH_ROWS", 3)


def test_rows_come_typed(query_sqlite):
    answer = query_sqlite("SELECT * FROM flights ORDER BY id")
    assert answer.types == {"id": "int64", "carrier": "string", "delay": "double", "seats": "int64"}
    assert answer.rows[1] == {"id": 2, "carrier": "AA", "delay": None, "seats": 200}
    assert answer.summary == {
        "rows": 3,
        "size": answer.summary["size"],
        "columns": [["id", "int64"], ["carrier", "string"], ["delay", "double"], ["seats", "int64"]],
        "notes": [],
    }


def test_a_table_without_rows_has_its_declared_types(query_sqlite):
    answer = query_sqlite("SELECT carrier, delay, seats, id + 1 AS next FROM flights WHERE 0")
    assert answer.types == {"carrier": "string", "delay": "double", "seats": "int64", "next": "null"}
    assert answer.rows == []


def test_a_column_without_values_has_its_declared_type(query_sqlite):
    assert query_sqlite("SELECT carrier, NULL AS none FROM flights WHERE id = 3").types == {
        "carrier": "string",
        "none": "null",
    }


def test_values_after_many_nulls_decide_the_type(query_sqlite, small_batches):
    answer = query_sqlite(NUMBERS.format(count=9) + "SELECT CASE WHEN n > 6 THEN 'x' || n END AS late FROM n")
    assert [row["late"] for row in answer.rows] == [None] * 6 + ["x7", "x8", "x9"]
    assert answer.types == {"late": "string"}


@pytest.mark.parametrize("apart", [1, 6], ids=["in one batch", "in batches apart"])
def test_a_column_of_mixed_values_loses_nothing(query_sqlite, small_batches, apart):
    def read(first: str, then: str) -> tuple[str, list[object]]:
        values = f"SELECT CASE WHEN n <= {apart} THEN {first} ELSE {then} END AS v FROM n"
        answer = query_sqlite(NUMBERS.format(count=2 * apart) + values)
        return answer.types["v"], [row["v"] for row in answer.rows]

    mixed = {
        ("1", "2.5"): ("double", [1.0, 2.5]),
        ("1", "'x'"): ("string", ["1", "x"]),
        ("2.123456789012", "'x'"): ("string", ["2.123456789012", "x"]),
        ("'x'", "2.123456789012"): ("string", ["x", "2.123456789012"]),
        ("'x'", "x'ff00'"): ("binary", [b"x", b"\xff\x00"]),
        ("9007199254740993", "'x'"): ("string", ["9007199254740993", "x"]),
        ("9007199254740993", "0.5"): ("string", ["9007199254740993", "0.5"]),
        ("1e17", "0.5"): ("double", [1e17, 0.5]),
    }
    assert {values: read(*values) for values in mixed} == {
        values: (kind, [first] * apart + [then] * apart) for values, (kind, [first, then]) in mixed.items()
    }


def test_running_again_for_mixed_values_changes_rows_once(query_sqlite, small_batches, tap_file):
    answer = query_sqlite(
        "CREATE TABLE t (v); INSERT INTO t VALUES (1), (2), (3), (4), (5), ('x');"
        "INSERT INTO t SELECT v FROM t RETURNING v"
    )
    assert [row["v"] for row in answer.rows] == ["1", "2", "3", "4", "5", "x"]
    assert "rolled back and run again" in answer.log
    with closing(sqlite3.connect(tap_file)) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (12,)


def test_text_that_is_not_utf8_is_shown_with_marks(query_sqlite):
    answer = query_sqlite("SELECT CAST(x'ff41' AS TEXT) AS t, 'ü' AS u, 1 AS n UNION ALL SELECT 'b', 'c', x'ff'")
    assert answer.rows == [{"t": "\N{REPLACEMENT CHARACTER}A", "u": "ü", "n": b"1"}, {"t": "b", "u": "c", "n": b"\xff"}]
    assert answer.summary["notes"] == ["column t is text: bytes that are not UTF-8 stand as U+FFFD"]


def test_columns_may_have_one_name(query_sqlite):
    table = query_sqlite("SELECT id AS a, carrier AS a FROM flights WHERE id = 1").table
    assert [column.to_pylist() for column in table.columns] == [[1], ["UA"]]


def test_the_last_table_of_several_statements_is_the_result(query_sqlite):
    answer = query_sqlite(
        "CREATE TEMP TABLE t AS SELECT 1 AS a; SELECT 'no' AS b;\nSELECT a + 1 AS c FROM t; DROP TABLE t;"
    )
    assert answer.rows == [{"c": 2}]
    assert [line.split(":")[0] for line in answer.log.splitlines()] == [
        "statement 1 of 4 (line 1, CREATE)",
        "statement 2 of 4 (line 1, SELECT)",
        "statement 3 of 4 (line 2, SELECT)",
        "statement 4 of 4 (line 2, DROP)",
    ]


def test_without_a_table_it_says_what_was_changed(query_sqlite):
    answer = query_sqlite("DELETE FROM flights WHERE id < 3; UPDATE flights SET carrier = 'ZZ'")
    assert (answer.code, answer.table) == (0, None)
    assert answer.message == "2 statements done, 3 rows changed, no table returned"


def test_all_statements_count_or_none(query_sqlite, tap_file):
    answer = query_sqlite("DELETE FROM flights;\nINSERT INTO flights VALUES (1, 'a', 1, 1), (1, 'b', 2, 2)")
    assert answer.message.startswith("UNIQUE constraint failed: flights.id\n  query, line 2: INSERT INTO")
    with closing(sqlite3.connect(tap_file)) as connection:
        assert connection.execute("SELECT count(*) FROM flights").fetchone() == (3,)


def test_a_script_with_its_own_transactions_is_run_as_it_stands(query_sqlite, tap_file):
    query_sqlite("BEGIN; DELETE FROM flights WHERE id = 1; COMMIT; BEGIN; DELETE FROM flights; ROLLBACK")
    with closing(sqlite3.connect(tap_file)) as connection:
        assert connection.execute("SELECT count(*) FROM flights").fetchone() == (2,)


def test_pragmas_at_the_beginning_run_before_the_transaction(query_sqlite):
    answer = query_sqlite(
        "PRAGMA foreign_keys = ON; CREATE TABLE p (id INTEGER PRIMARY KEY);"
        "CREATE TABLE c (p REFERENCES p (id)); INSERT INTO c VALUES (7)"
    )
    assert answer.message.startswith("FOREIGN KEY constraint failed")
    assert query_sqlite("SELECT * FROM c").message.startswith("no such table: c")


def test_a_trigger_and_a_vacuum_are_ordinary_statements(query_sqlite):
    answer = query_sqlite(
        "CREATE TRIGGER t AFTER INSERT ON flights BEGIN UPDATE flights SET seats = 1 WHERE id = new.id; END;"
        "INSERT INTO flights (id) VALUES (9); SELECT seats FROM flights WHERE id = 9"
    )
    assert answer.rows == [{"seats": 1}]
    assert query_sqlite("VACUUM").code == 0


def test_an_error_has_sqlites_words_and_the_place(query_sqlite):
    errors = {
        "SELECT carrier\nFROM flights\nWHERE dep_delays > 30": (
            "no such column: dep_delays\n  query, line 3: WHERE dep_delays > 30"
        ),
        "SELECT f.nosuch\nFROM flights f": "no such column: f.nosuch\n  query, line 1: SELECT f.nosuch",
        "SELECT 'flight',\n* FROM flight": (
            "no such table: flight. Did you mean flights?\n  query, line 2: * FROM flight"
        ),
        "SELECT id FROM flights\nWHERE id FROM flights": (
            'near "FROM": syntax error\n  query, line 2: WHERE id FROM flights'
        ),
        "SELEC 1": 'near "SELEC": syntax error\n  query, line 1: SELEC 1',
        "SELECT 1,\nnosuch(2)": "no such function: nosuch\n  query, line 2: nosuch(2)",
        "SELECT 1,\nsubstr(1)": "wrong number of arguments to function substr()\n  query, line 2: substr(1)",
        "INSERT INTO flights\n(id, nosuch) VALUES (1, 2)": (
            "table flights has no column named nosuch\n  query, line 2: (id, nosuch) VALUES (1, 2)"
        ),
        "SELECT 1;\nSELECT id FROM flights WHERE @": (
            'unrecognized token: "@"\n  query, line 2: SELECT id FROM flights WHERE @'
        ),
    }
    answers = {text: query_sqlite(text) for text in errors}
    assert {text: (answer.code, answer.message) for text, answer in answers.items()} == {
        text: (1, f"{message}\n  tap flights (sqlite)") for text, message in errors.items()
    }


def test_the_failed_line_of_a_long_script_is_reported_in_parts_with_the_name_that_was_meant(query_sqlite):
    script = "-- all;\nSELECT 1;\n\n/* carriers\n*/\nSELECT 'carriers', id, f.carriers\nFROM flights AS f;\nSELECT 2"
    answer = query_sqlite(script)
    assert answer.failure == {
        "reason": "no such column: f.carriers",
        "source": "query",
        "target": "tap flights (sqlite)",
        "line": 6,
        "column": None,
        "text": "SELECT 'carriers', id, f.carriers",
        "did_you_mean": ["carrier"],
        "hint": None,
    }
    assert answer.message.startswith("no such column: f.carriers. Did you mean carrier?\n  query, line 6: ")


def test_the_place_names_the_script_it_came_from(query_sqlite):
    answer = query_sqlite("SELEC 1", source="s3://bucket/report.sql")
    assert "s3://bucket/report.sql, line 1: SELEC 1" in answer.message


@pytest.mark.parametrize("text", ["", " ; -- nothing\n"])
def test_a_script_without_statements_is_refused(query_sqlite, text):
    assert query_sqlite(text).message == "the query holds no statement\n  tap flights (sqlite)"


def test_a_missing_file_is_not_made(query_sqlite, tap_file):
    tap_file.unlink()
    assert (
        query_sqlite("SELECT 1").message
        == "cannot connect to flights.db: the file does not exist\n  tap flights (sqlite)"
    )
    assert not tap_file.exists()


def test_a_file_that_is_no_database_is_reported(query_sqlite, tap_file):
    tap_file.write_text("carrier,delay\n" * 100)
    assert query_sqlite("SELECT * FROM flights").message.startswith("file is not a database")


@pytest.fixture
def written_elsewhere(tap_file):
    """The database while another process writes to it."""
    with locked(tap_file):
        yield


@pytest.mark.parametrize("text", ["DELETE FROM flights", "PRAGMA user_version; DELETE FROM flights"])
@pytest.mark.usefixtures("written_elsewhere")
def test_a_locked_database_is_reported_and_may_be_tried_again(query_sqlite, monkeypatch, text):
    monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0.01)
    answer = query_sqlite(text)
    assert answer.message.startswith("database is locked")
    assert answer.error["may_retry"] is True


def test_only_what_can_never_succeed_is_not_tried_again(query_sqlite):
    retried = {"SELECT * FROM not_yet": True, "ATTACH 'x' AS y": False, "": False}
    assert {text: query_sqlite(text).error["may_retry"] for text in retried} == retried


def test_a_statement_keeps_its_comments_and_is_known_by_the_line_of_its_first_word(query_sqlite):
    answer = query_sqlite(
        "-- a\nCREATE TABLE t (a int);\n/* b */\n\nSELECT sql FROM sqlite_master WHERE name = 't' -- c"
    )
    assert answer.rows == [{"sql": "CREATE TABLE t (a int)"}]
    assert "statement 1 of 2 (line 2, CREATE)" in answer.log
    assert "statement 2 of 2 (line 5, SELECT)" in answer.log
    assert query_sqlite("SELECT 1;\n-- a\nATTACH 'x' AS y").failure["line"] == 3


def test_comments_in_a_view_are_kept(query_sqlite):
    view = "CREATE VIEW v AS SELECT 1 AS a -- one; two\n, 2 AS b /* three */"
    query_sqlite(f"{view};")
    assert query_sqlite("SELECT sql FROM sqlite_master WHERE name = 'v'").rows == [{"sql": view}]


def test_its_types_become_those_of_the_table_of_types(query_sqlite):
    check(SQLITE, lambda text: query_sqlite(text).found)
