"""Runs an SQL script, one statement after the other, and says at which of its lines it failed."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from pyspark.errors import PySparkException

from .failure import CodeFailure, spark_text
from .plan_text import failure_in
from .statement import SqlPart, Statement

_NO_TABLE: Final = re.compile(r"\[TABLE_OR_VIEW_NOT_FOUND\] The table or view (?P<schema>(?:`(?:[^`]|``)+`\.)*)`")
_PLACE: Final = re.compile(r"; line (\d+) pos (\d+);?\Z")
_MOST_TABLES: Final = 20_000


def run_sql(
    statement: Statement, spark: Any, take: Callable[[Any], dict[str, Any] | None], *others: type[Exception]
) -> dict[str, Any]:
    """Run an SQL script; return the summary of its last table, or the number of statements.

    `take` returns the summary of the table of a DataFrame, None without a table. `others` are exceptions that Spark's
    client raises beside its own. Raises `CodeFailure` with its place.
    """
    summary: dict[str, Any] | None = None
    parts = statement.parts
    for number, part in enumerate(parts):
        try:
            frame = spark.sql(part.text)
            if part.is_plan:
                _check_plan(part.text, frame.first()[0])
                frame = frame.selectExpr("explode(split(rtrim('\n', plan), '\n')) AS line")
            elif statement.limit is not None and frame.columns:
                frame = frame.limit(statement.limit)
            summary = take(frame) or summary
        except PySparkException as error:
            raise _within(part, number, _failure(part.text, error), spark) from None
        except others as error:
            raise _within(part, number, CodeFailure(spark_text(error)), spark) from None
        except CodeFailure as failure:
            raise _within(part, number, failure, spark) from None
    count = "1 statement" if len(parts) == 1 else f"{len(parts)} statements"
    return summary or {"rows": None, "message": f"{count} done, no table returned"}


def _check_plan(text: str, plan: str) -> None:
    """Raise `CodeFailure` for a plan that says why there is none."""
    if (failure := failure_in(plan)) is not None:
        words, place = failure
        raise CodeFailure(words, place=None if place is None else {"position": _position(text, *place)})


def _failure(text: str, error: PySparkException) -> CodeFailure:
    """Return a Spark error with its place in the text of a part, if it has one there."""
    words = spark_text(error)
    if (found := _PLACE.search(words)) is not None:  # as Spark Connect writes it
        return CodeFailure(words[: found.start()], place={"position": _position(text, int(found[1]), int(found[2]))})
    starts = [context.startIndex() for context in error.getQueryContext() or ()]
    return CodeFailure(words, place=next(({"position": start} for start in starts if 0 <= start < len(text)), None))


def _position(text: str, line: int, column: int) -> int:
    return sum(len(each) + 1 for each in text.split("\n")[: line - 1]) + column


def _within(part: SqlPart, number: int, failure: CodeFailure, spark: Any) -> CodeFailure:
    """Return the failure of a part with its place in the script, and the tables beside one that Spark does not know."""
    position = failure.place.get("position")
    line = part.line if position is None else part.line - part.lines_above + part.text.count("\n", 0, position)
    place: dict[str, Any] = {"part": number, **failure.place}
    if (unknown := _NO_TABLE.search(failure.message)) is not None:
        place["tables"] = _tables_of(unknown["schema"].rstrip("."), spark)
    return CodeFailure(failure.message, line, may_retry=failure.may_retry, place=place)


def _tables_of(schema: str, spark: Any) -> list[str]:
    """Return the names of the tables of a schema, quoted; without any, of the current one, and of temporary views."""
    within = f" IN {schema}" if schema else ""
    with suppress(Exception):  # the statement's own failure matters more
        return [row.tableName for row in spark.sql(f"SHOW TABLES{within}").limit(_MOST_TABLES).collect()]
    return []
