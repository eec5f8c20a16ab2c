from __future__ import annotations

import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc_jupyter.service.db_taps.statements import Statement, split, words_of
from svc_jupyter.sql_tokens import Dialect

ALL = list(Dialect)
SPLITTING = [dialect for dialect in Dialect if dialect is not Dialect.SQLSERVER]


def texts(script: str, dialect: Dialect) -> list[str]:
    return [statement.text for statement in split(script, dialect)]


@pytest.mark.parametrize("dialect", SPLITTING)
def test_semicolons_separate_statements(dialect):
    assert texts("select 1;\n select 2 ;; ", dialect) == ["select 1", "select 2"]


@pytest.mark.parametrize("dialect", SPLITTING)
@pytest.mark.parametrize(
    "statement", ["select ';'", "select 'it''s; fine'", 'select ";"', "select 1 /* ; */ + 2", "select 1 -- ;\n + 2"]
)
def test_semicolons_in_quotes_and_comments_do_not(dialect, statement):
    assert texts(f"{statement}; select 3", dialect) == [statement, "select 3"]


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        (Dialect.SQLITE, "select [a;b], `c;d`"),
        (Dialect.MYSQL, "select `a;b`, 'c\\';d', \"e\\\";f\""),
        (Dialect.MYSQL, "select 1 # ;\n + 2"),
        (Dialect.POSTGRESQL, "select $$;$$, $x$ ; $$ ; $x$"),
        (Dialect.POSTGRESQL, "select E'a\\';b'"),
        (Dialect.POSTGRESQL, "select 1 /* /* ; */ ; */ + 2"),
        (Dialect.POSTGRESQL, "do $body$ begin perform 1; end $body$"),
        (Dialect.POSTGRESQL, "create function f() returns int begin atomic select case 1 when 1 then 2 end; end"),
        (Dialect.SQLITE, "create trigger t after insert on a begin insert into b values (1); end"),
        (
            Dialect.SQLITE,
            "CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM b; END",
        ),
        (
            Dialect.MYSQL,
            "create procedure p() begin if a then select 1; end if; case b when 1 then set c=1; end case; end",
        ),
        (Dialect.MYSQL, "create trigger t before insert on a for each row begin set new.x = 1; end"),
        (Dialect.OTHER, "create or replace procedure p as begin loop null; end loop; end"),
    ],
)
def test_each_dialects_own_quotes_and_bodies_stay_whole(dialect, statement):
    assert texts(f"{statement};\nselect 3", dialect) == [statement, "select 3"]


@pytest.mark.parametrize(
    ("dialect", "script", "expected"),
    [
        (Dialect.SQLITE, "select 'a\\'; select 2", ["select 'a\\'", "select 2"]),
        (Dialect.POSTGRESQL, "select 'a\\'; select 2", ["select 'a\\'", "select 2"]),
        (Dialect.SQLITE, "select 1 /* /* ; */; select 2", ["select 1", "select 2"]),
        (Dialect.POSTGRESQL, "select a$b$c; select $1", ["select a$b$c", "select $1"]),
        (Dialect.POSTGRESQL, "begin; select 1; end", ["begin", "select 1", "end"]),
        (Dialect.MYSQL, "begin; select 1; commit", ["begin", "select 1", "commit"]),
    ],
)
def test_text_that_resembles_a_quote_or_a_body_does_not_join_statements(dialect, script, expected):
    assert texts(script, dialect) == expected


def test_a_batch_for_sql_server_stays_whole():
    assert texts("declare @a int; begin select 1; end;", Dialect.SQLSERVER) == ["declare @a int; begin select 1; end"]


@pytest.mark.parametrize("dialect", ALL)
@pytest.mark.parametrize("script", ["", " \n;", "-- only a comment", "/* ; */", "/* open"])
def test_nothing_but_comments_is_no_statement(dialect, script):
    assert split(script, dialect) == []


@pytest.mark.parametrize("script", ["select 'open; ", 'select "open; ', "select $$open; ", "select 1 /* open; "])
def test_an_open_quote_or_comment_reaches_to_the_end(script):
    assert len(split(script, Dialect.POSTGRESQL)) == 1


def test_a_statement_knows_where_it_starts_and_its_first_words():
    script = "select 1;\n -- next\n  Create Temp Table t (a int)"
    assert split(script, Dialect.SQLITE)[1] == Statement(
        "Create Temp Table t (a int)", script.index("Create"), ("CREATE", "TEMP", "TABLE", "T")
    )


def test_a_byte_order_mark_does_not_hide_the_first_word():
    assert split("\ufeffattach 'x' as y", Dialect.SQLITE)[0].keyword == "ATTACH"


def test_words_are_those_outside_of_quotes_and_comments():
    assert words_of("vacuum 'into' /* into */ main", Dialect.SQLITE) == ["VACUUM", "MAIN"]


@pytest.mark.parametrize("dialect", ALL)
@given(script=st.text())
def test_any_text_is_split_into_parts_of_itself_in_order(dialect, script):
    position = 0
    for statement in split(script, dialect):
        assert statement.start >= position
        assert script[statement.start : statement.start + len(statement.text)] == statement.text
        position = statement.start + len(statement.text)


PIECES = [
    "select 1",
    "'a;b'",
    "''",
    '"c;"',
    "[d;]",
    "`e`",
    "-- x;\n",
    "/* ; */",
    ";",
    " ",
    "\n",
    "begin",
    "end",
    "case",
]
TRIGGER = ["create", " ", "temp", "trigger", "explain", "table"]


@given(st.lists(st.sampled_from(PIECES + TRIGGER), max_size=12))
@example(["create", " ", "trigger", " ", "begin", ";", "end", ";", "select 1"])
def test_sqlite_agrees_that_each_part_is_complete_and_not_sooner(pieces):
    script = " ".join(pieces)
    for statement in split(script, Dialect.SQLITE)[:-1]:
        assert sqlite3.complete_statement(statement.text + ";")
        first = statement.text.find(";")
        while first >= 0:
            assert not sqlite3.complete_statement(statement.text[: first + 1])
            first = statement.text.find(";", first + 1)
