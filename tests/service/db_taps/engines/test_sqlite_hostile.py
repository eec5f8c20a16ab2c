"""A tap's SQL must not reach another file, nor the service's own data."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A database that is none of the tap's business."""
    file = tmp_path / "service.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE tokens AS SELECT 'geheim' AS digest")
        connection.commit()
    return file


ONE_FILE = "is not available in a tap's query: a tap is one file; make a tap of the other file"


def test_no_statement_opens_another_file(query_sqlite, other):
    attaching = [
        "ATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "attach database '{file}' as o; select * from o.tokens",
        "/* a */ -- b\n AtTaCh '{file}' AS o; SELECT * FROM o.tokens",
        "\ufeffATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "; ATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "SELECT 1; ATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "PRAGMA user_version; ATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "BEGIN; COMMIT; ATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "\x0bATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "\x0cATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "\xa0ATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "CREATE TRIGGER t AFTER INSERT ON flights BEGIN SELECT 1; END; ATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "SELECT 1 /* ; */ ; ATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "SELECT '' ; ATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "SELECT [a] FROM (SELECT 1 AS [a]); ATTACH '{file}' AS o; SELECT * FROM o.tokens",
        "SELECT 1 AS `;`; ATTACH '{file}' AS o; SELECT * FROM o.tokens",
    ]
    reasons = dict.fromkeys(attaching, f"ATTACH {ONE_FILE}") | {
        "CREATE TRIGGER u AFTER INSERT ON flights BEGIN ATTACH '{file}' AS o; END": 'near "ATTACH": syntax error',
        "SELECT $a$; ATTACH '{file}' AS o; SELECT $a$": "parameter count mismatch: expected 1 but found 0",
        "SELECT load_extension('{file}')": "not authorized",
        "SELECT readfile('{file}')": "no such function: readfile",
        "CREATE VIRTUAL TABLE v USING csv(filename = '{file}'); SELECT * FROM v": "no such module: csv",
        "DETACH main": f"DETACH {ONE_FILE}",
    }
    answers = {text: query_sqlite(text.format(file=other)) for text in reasons}
    assert {text: answer.error["failure"]["reason"] for text, answer in answers.items()} == reasons
    assert [text for text, answer in answers.items() if answer.table is not None] == []


def test_no_statement_writes_another_file(query_sqlite, tmp_path):
    target = tmp_path / "written.db"
    texts = [
        "VACUUM INTO '{file}'",
        "vacuum main into '{file}'",
        "VACUUM/**/INTO '{file}'",
        "SELECT writefile('{file}', 'x')",
    ]
    found = {text: (query_sqlite(text.format(file=target)).code, target.exists()) for text in texts}
    assert found == dict.fromkeys(texts, (1, False))


def test_a_nul_character_is_refused(query_sqlite):
    assert query_sqlite("SELECT 1\0; ATTACH 'x' AS y").message.startswith("the query holds a NUL character")


def test_an_endless_statement_text_is_split_in_flat_time(query_sqlite):
    assert query_sqlite("SELECT 1 AS a" + " /* x */" * 100_000 + ";" * 100_000).rows == [{"a": 1}]


def test_quotes_that_never_close_are_an_error_of_the_engine(query_sqlite):
    assert query_sqlite("SELECT 'open").message.startswith(
        "unrecognized token: \"'open\"\n  query, line 1: SELECT 'open"
    )


def test_names_of_columns_are_only_names(query_sqlite):
    name = 'a"; DROP TABLE flights; --'
    quoted = name.replace('"', '""')
    assert query_sqlite(f'SELECT 1 AS "{quoted}"').rows == [{name: 1}]
    assert query_sqlite("SELECT count(*) AS n FROM flights").rows == [{"n": 3}]
