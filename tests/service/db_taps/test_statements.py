from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc_jupyter.service.db_taps.engines.sqlite_rules import refuse_other_files
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.lexing import tokens_of
from svc_jupyter.service.db_taps.statements import NotSeparable, Statement, split, words_of
from svc_jupyter.sql_tokens import Dialect

SPLITTING = [dialect for dialect in Dialect if dialect not in (Dialect.SQLSERVER, Dialect.OTHER)]


def texts(script: str, dialect: Dialect) -> list[str]:
    return [statement.text for statement in split(script, dialect)]


def test_semicolons_separate_statements():
    script = "select 1;\n select 2 ;; "
    found = {dialect: texts(script, dialect) for dialect in SPLITTING}
    assert found == {dialect: ["select 1", "select 2"] for dialect in SPLITTING}


def test_semicolons_in_quotes_and_comments_do_not():
    whole = ["select ';'", "select 'it''s; fine'", 'select ";"', "select 1 /* ; */ + 2", "select 1 -- ;\n + 2"]
    found = {(dialect, text): texts(f"{text}; select 3", dialect) for dialect in SPLITTING for text in whole}
    assert found == {(dialect, text): [text, "select 3"] for dialect, text in found}


def test_each_dialects_own_quotes_and_bodies_stay_whole():
    whole = [
        (Dialect.SQLITE, "select [a;b], `c;d`"),
        (Dialect.MYSQL, "select `a;b`, 'c\\';d', \"e\\\";f\""),
        (Dialect.MYSQL, "select 1 # ;\n + 2"),
        (Dialect.MYSQL, "UPDATE acc SET bal = 100--1 WHERE id = 3"),
        (Dialect.MYSQL, "select 1 --\t;\n + 2"),
        (Dialect.MYSQL, "select 1 -- ;\r; \n + 2"),
        (Dialect.MYSQL, "select 1 /*! + 2; */ + 3"),
        (Dialect.MYSQL, "/*!50003 create*/ /*!50017 definer=`a`@`b`*/ /*!50003 trigger t begin set @a = 1; end */"),
        (Dialect.MYSQL, "begin not atomic set @a = 1; end"),
        (Dialect.POSTGRESQL, "select $$;$$, $x$ ; $$ ; $x$"),
        (Dialect.POSTGRESQL, "select E'a\\';b', U&'c\\'"),
        (Dialect.POSTGRESQL, "select 1 /* /* ; */ ; */ + 2"),
        (Dialect.POSTGRESQL, "do $body$ begin perform 1; end $body$"),
        (Dialect.POSTGRESQL, "create function f() returns int begin atomic select case 1 when 1 then 2 end; end"),
        (Dialect.POSTGRESQL, "create rule r as on insert to t do also (insert into a values (1); update b set c = 2)"),
        (Dialect.POSTGRESQL, "prepare p as insert into t values ($1,$2)"),
        (Dialect.REDSHIFT, "select 'a\\';b'"),
        (Dialect.DUCKDB, "select $$;$$, $x$ ; $$ ; $x$, e'a\\';b', 'c\\'"),
        (Dialect.DUCKDB, "select 1 /* /* ; */ ; */ + $1"),
        (Dialect.SPARK, "select r'C:\\', R\"a;\\\", 'b\\';c'"),
        (Dialect.SPARK, "select 1 /* /* ; */ ; */ + 2"),
        (Dialect.HIVE, "select r'C:\\', `a;b`"),
        (Dialect.SPARK, "begin select 1; begin select case when a then 1 end; end; end"),
        (Dialect.SPARK, "l: begin if a then select 1; else select 2; end if; end l"),
        (Dialect.SPARK, "BEGIN WHILE a DO CASE b WHEN 1 THEN SET c = 1; ELSE SET c = 2; END CASE; END WHILE; END"),
        (Dialect.SPARK, "begin x: loop leave x; end loop x; repeat set a = 1; until a end repeat; end"),
        (Dialect.HIVE, "begin for r as select 1 do select r.end; end for; end"),
        (Dialect.PRESTO, "select \"a;b\", U&'\\0061;'"),
        (Dialect.SNOWFLAKE, "select $$ ; ' $$ // ;\n + 1"),
        (Dialect.BIGQUERY, 'select r\'a\\;\', """ ;" """'),
        (Dialect.ORACLE, "select q'[it's; fine]' from dual"),
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
    ]
    found = {(dialect, text): texts(f"{text};\nselect 3", dialect) for dialect, text in whole}
    assert found == {(dialect, text): [text, "select 3"] for dialect, text in whole}


def test_text_that_resembles_a_quote_or_a_body_does_not_join_statements():
    separate = {
        (Dialect.SQLITE, "select 'a\\'; select 2"): ["select 'a\\'", "select 2"],
        (Dialect.POSTGRESQL, "select 'a\\'; select 2"): ["select 'a\\'", "select 2"],
        (Dialect.SQLITE, "select 1 /* /* ; */; select 2"): ["select 1 /* /* ; */", "select 2"],
        (Dialect.POSTGRESQL, "select a$b$c; select $1"): ["select a$b$c", "select $1"],
        (Dialect.POSTGRESQL, "begin; select 1; end"): ["begin", "select 1", "end"],
        (Dialect.MYSQL, "begin; select 1; commit"): ["begin", "select 1", "commit"],
        (Dialect.MYSQL, "select 1--;select 2"): ["select 1--", "select 2"],
        (Dialect.BIGQUERY, "begin transaction; select 1; commit"): ["begin transaction", "select 1", "commit"],
        (Dialect.SPARK, "select 1 -- a\r; select 2"): ["select 1 -- a", "select 2"],
        (Dialect.SPARK, "select t.begin; select case 1 when 1 then 2 end; select 3"): [
            "select t.begin",
            "select case 1 when 1 then 2 end",
            "select 3",
        ],
    }
    assert {(dialect, script): texts(script, dialect) for dialect, script in separate} == separate


def test_comments_belong_to_the_statement_before_whose_semicolon_they_are():
    script = "-- first\n/* a */ select /*+ hint */ 1 -- last\n; -- second\nselect 2 -- end"
    assert texts(script, Dialect.POSTGRESQL) == [
        "-- first\n/* a */ select /*+ hint */ 1 -- last",
        "-- second\nselect 2 -- end",
    ]


def test_an_open_parenthesis_reaches_to_the_end_in_postgresql():
    assert texts("select (1; select 2", Dialect.POSTGRESQL) == ["select (1; select 2"]
    assert texts("select 1); select 2", Dialect.POSTGRESQL) == ["select 1)", "select 2"]
    assert texts("select (1; select 2", Dialect.MYSQL) == ["select (1", "select 2"]


def test_a_batch_for_sql_server_stays_whole():
    script = "-- a\ndeclare @a int; begin select 1; end; merge t using s on 1 = 1 when matched then delete;\n"
    assert texts(script, Dialect.SQLSERVER) == [script.strip()]
    assert texts("select 'open; ", Dialect.SQLSERVER) == ["select 'open;"]


def test_nothing_but_comments_is_no_statement():
    empty = ["", " \n;", "-- only a comment", "/* ; */", "\ufeff", "/* a */ ; -- b"]
    found = {(dialect, script): split(script, dialect) for dialect in Dialect for script in empty}
    assert {case: statements for case, statements in found.items() if statements} == {}


def test_a_comment_that_mysql_runs_is_a_statement():
    assert texts("/*! select 1 */; /*M! select 2 */; /* 3 */", Dialect.MYSQL) == [
        "/*! select 1 */",
        "/*M! select 2 */",
    ]
    assert split("/*! select 1 */", Dialect.POSTGRESQL) == []


def test_an_open_quote_or_comment_reaches_to_the_end():
    scripts = ["select 'open; ", 'select "open; ', "select $$open; ", "select 1 /* open; "]
    assert [texts(script, Dialect.POSTGRESQL) for script in scripts] == [[script.strip()] for script in scripts]


UNCERTAIN = [
    (Dialect.POSTGRESQL, "select 'open; select 3"),
    (Dialect.POSTGRESQL, "select 1 /* open; "),
    (Dialect.POSTGRESQL, "select 1 /*/* ; */ ; */"),
    (Dialect.POSTGRESQL, "select a #-- ;\n 1"),
    (Dialect.MYSQL, "select 1 /*! open; "),
    (Dialect.SPARK, "select 1 -- C:\\\n;"),
    (Dialect.ORACLE, "begin null; end;"),
    (Dialect.SNOWFLAKE, "create procedure p() as begin return 1; end;"),
    (Dialect.BIGQUERY, "declare x int64; select 3;"),
]


def test_after_other_statements_nothing_uncertain_is_run():
    def refusal(last: str, dialect: Dialect) -> str:
        with pytest.raises(NotSeparable) as refused:
            split(f"select 1;\n{last}", dialect)
        return refused.value.message

    message = (
        "it is uncertain where the statement at line 2 ends, as a quote or a comment may be open or a block begins "
        "there; nothing was run: run the statements as separate queries"
    )
    found = {(dialect, last): refusal(last, dialect) for dialect, last in UNCERTAIN}
    assert found == dict.fromkeys(UNCERTAIN, message)


def test_alone_the_uncertain_is_passed_on():
    found = {(dialect, last): texts(last, dialect) for dialect, last in UNCERTAIN}
    assert found == {(dialect, last): [last.strip()] for dialect, last in UNCERTAIN}


def test_of_an_unknown_database_a_single_statement_is_passed_on():
    for script in ("select ';' -- one", 'select "a;b"', "-- a\nselect 1"):
        assert texts(f" {script} ;; \n", Dialect.OTHER) == [script]
    for script in ("select 1; select 2", "begin null; end"):
        with pytest.raises(NotSeparable, match="each statement as a query of its own"):
            split(script, Dialect.OTHER)


def test_a_statement_knows_where_it_starts_and_its_first_words():
    script = "select 1;\n -- next\n  Create Temp Table t (a int)"
    [_, second] = split(script, Dialect.SQLITE)
    assert second == Statement(
        "-- next\n  Create Temp Table t (a int)", script.index("--"), ("CREATE", "TEMP", "TABLE", "T"), lead=10
    )
    assert second.first == script.index("Create")


def test_the_first_words_are_found_in_comments_that_mysql_runs():
    words = {
        "/*!50000SELECT*/ 1": ("SELECT",),
        "/*!40101 SET @a = 1 */": ("SET",),
        "/* a */ # b\n/*! insert into t */": ("INSERT", "INTO", "T"),
        "/*!50003 create*/ trigger": ("CREATE",),
    }
    assert {script: split(script, Dialect.MYSQL)[0].keywords for script in words} == words


def test_nothing_hides_the_first_word_from_the_check_of_files():
    def refusal(statement: Statement) -> str:
        with pytest.raises(QueryFailure) as refused:
            refuse_other_files(statement)
        return refused.value.message

    scripts = [
        "\ufeffattach 'x' as y",
        "\ufeff\ufeff attach 'x' as y",
        "/**/\ufeffattach 'x' as y",
        "/* /* */attach 'x' as y; -- */ select 1",
        "-- a\r select 1\nattach 'x' as y",
        "--\nAttach/**/'x' as y",
    ]
    message = "ATTACH is not available in a tap's query: a tap is one file; make a tap of the other file"
    first = {script: split(script, Dialect.SQLITE)[0] for script in scripts}
    found = {script: (statement.keyword, refusal(statement)) for script, statement in first.items()}
    assert found == dict.fromkeys(scripts, ("ATTACH", message))


def test_a_comment_hides_no_target_of_vacuum():
    for script in ("/* a */ vacuum into 'x'", "vacuum /* b */ into 'x'", "-- c\nvacuum main -- d\ninto 'x'"):
        with pytest.raises(QueryFailure, match="VACUUM INTO is not available"):
            refuse_other_files(split(script, Dialect.SQLITE)[0])


def test_a_byte_order_mark_belongs_to_the_file():
    assert texts("\ufeffselect 1", Dialect.POSTGRESQL) == ["select 1"]


def test_words_are_those_outside_of_quotes_and_comments():
    assert words_of("vacuum 'into' /* into */ main", Dialect.SQLITE) == ["VACUUM", "MAIN"]


FRAGMENTS = [
    "select 1",
    "'a;b'",
    "''",
    '";"',
    "`c`",
    "[d;]",
    "-- x;\n",
    "-- y\r",
    "/* ; */",
    "/*! 2 */",
    ";",
    " ",
    "\n",
]
FRAGMENTS += ["begin", "end", "(", ")", "$$;$$", "E'", "\\", "#", "--", "\ufeff"]
SQL = st.lists(st.sampled_from(FRAGMENTS)).map("".join)


@given(script=st.text() | SQL)
def test_nothing_of_a_script_is_lost_but_semicolons_white_space_and_comments(script):
    for dialect in Dialect:
        with suppress(NotSeparable):
            check_nothing_is_lost(script, split(script, dialect), dialect)


def check_nothing_is_lost(script: str, statements: list[Statement], dialect: Dialect) -> None:
    position = 0
    for statement in statements:
        assert script[statement.start : statement.start + len(statement.text)] == statement.text, dialect
        assert statement.start <= statement.first <= statement.start + len(statement.text), dialect
        assert tokens_of(script[position : statement.start].replace(";", " "), dialect).found == [], dialect
        position = statement.start + len(statement.text)
    assert tokens_of(script[position:].replace(";", " "), dialect).found == [], dialect


PARTS = ["attach", "'x' as y", "select 1", "explain", " ", "\n", "\r", "\ufeff", "/*", "*/", "--", ";", "'", '"', "["]


@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
@example("-- a\r select 1\nattach 'x' as y")
@example("/*/ select 1 */attach 'x' as y")
def test_statements_that_open_another_file_for_sqlite_are_refused(script):
    try:
        statements = split(script, Dialect.SQLITE)
    except NotSeparable:
        return
    for statement in statements:
        if names_a_file(statement.text):
            with pytest.raises(QueryFailure):
                refuse_other_files(statement)


def names_a_file(text: str) -> bool:
    """Return whether SQLite's own parser sees an ATTACH."""
    seen: list[int] = []

    def note(action: int, *_: object) -> int:
        seen.append(action)
        return sqlite3.SQLITE_DENY

    with closing(sqlite3.connect(":memory:")) as scratch:
        scratch.set_authorizer(note)
        with suppress(sqlite3.Error, sqlite3.Warning, ValueError):
            scratch.execute(text)
    return sqlite3.SQLITE_ATTACH in seen


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
    try:
        statements = split(script, Dialect.SQLITE)
    except NotSeparable:
        return
    for statement in statements[:-1]:
        assert sqlite3.complete_statement(statement.text + "\n;")
        first = statement.text.find(";")
        while first >= 0:
            assert not sqlite3.complete_statement(statement.text[: first + 1])
            first = statement.text.find(";", first + 1)
