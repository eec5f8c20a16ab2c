"""Less than the whole of a query: the statement that asks a database how it would run it, or its first rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.statements import Statement, words_of
from svc_jupyter.sql_tokens import Dialect

NOTHING_RUN: Final = "dry run: this is the plan, nothing was run"
"""The note about a plan."""
_ASKING: Final = {
    Dialect.SQLITE: "EXPLAIN QUERY PLAN ",
    Dialect.POSTGRESQL: "EXPLAIN (FORMAT TEXT) ",
    Dialect.MYSQL: "EXPLAIN FORMAT=TRADITIONAL ",
    Dialect.DUCKDB: "EXPLAIN (FORMAT TEXT) ",
    Dialect.HIVE: "EXPLAIN ",
    Dialect.PRESTO: "EXPLAIN (TYPE LOGICAL) ",
    Dialect.SPARK: "EXPLAIN COST ",
}
"""With options where a database has them in brackets, so that those of `(ANALYZE) DELETE …` are an error."""
_WITH_PLAN: Final = frozenset(
    {
        *("SELECT", "WITH", "VALUES", "TABLE", "FROM", "MAP", "REDUCE", "PIVOT"),
        *("INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"),
    }
)
"""First words of statements that every database explains. Others are refused here: behind EXPLAIN a PRAGMA of SQLite
takes effect, and an ANALYZE runs the statement after it."""


class NotExplained(QueryFailure):
    """There is no plan of a query; `statement` is the one that is the cause, if it is one of several."""

    def __init__(self, message: str, statement: Statement | None = None) -> None:
        super().__init__(f"{message}; nothing was run", may_retry=False)
        self.statement = statement


def explained(statements: Sequence[Statement], dialect: Dialect, *, is_spark: bool = False) -> Statement:
    """Return the statement that asks for the plan of a query; `is_spark` says that HiveServer2 is Spark's.

    Raises `NotExplained` for several statements, for one without a plan, and for a database whose way to ask for it is
    not known here.
    """
    asking = _ASKING.get(Dialect.SPARK if is_spark else dialect)
    if asking is None:
        raise NotExplained("how this database shows its plan is not known here")
    if len(statements) > 1:
        raise NotExplained(f"a dry run is of one statement, and the query has {len(statements)}", statements[1])
    statement = statements[0]
    if not _has_plan(statement, dialect):
        raise NotExplained(f"a dry run is of a query or of a change of rows, not of {statement.keyword}", statement)
    before = len(asking)
    return replace(
        statement,
        text=asking + statement.text,
        start=statement.start - before,
        lead=statement.lead + before,
        keywords=("EXPLAIN", *statement.keywords),
        bound=tuple(replace(one, start=one.start + before, end=one.end + before) for one in statement.bound),
        asking=before,
    )


def _has_plan(statement: Statement, dialect: Dialect) -> bool:
    if statement.keyword == "CREATE":  # CREATE TABLE … AS SELECT …
        return dialect is not Dialect.MYSQL and "AS" in words_of(statement.text, dialect)
    return not statement.keyword or statement.keyword in _WITH_PLAN


def first_rows(limit: int) -> str:
    """Return the note about a result that has as many rows as were asked for."""
    return f"the first {limit:,} row{'' if limit == 1 else 's'}: there may be more"
