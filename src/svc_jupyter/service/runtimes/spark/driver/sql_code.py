"""Runs an SQL script, one statement after the other, and says at which of its lines it failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.errors import PySparkException

from .failure import CodeFailure, spark_text
from .plan_text import failure_in
from .statement import SqlPart, Statement


def run_sql(
    statement: Statement, spark: Any, take: Callable[[Any], dict[str, Any] | None], *others: type[Exception]
) -> dict[str, Any]:
    """Run an SQL script; return the summary of its last table, or the number of statements.

    `take` returns the summary of the table of a DataFrame, None without a table. `others` are exceptions that Spark's
    client raises beside its own. Raises `CodeFailure` with the line of the statement.
    """
    summary: dict[str, Any] | None = None
    parts = statement.parts
    for part in parts:
        try:
            frame = spark.sql(part.text)
            if part.is_plan:
                _check_plan(part, frame.first()[0])
                frame = frame.selectExpr("explode(split(rtrim('\n', plan), '\n')) AS line")
            elif statement.limit is not None and frame.columns:
                frame = frame.limit(statement.limit)
            summary = take(frame) or summary
        except PySparkException as error:
            raise CodeFailure(spark_text(error), _line_of(part, error)) from None
        except others as error:
            raise CodeFailure(spark_text(error), part.line) from None
        except CodeFailure as failure:
            raise CodeFailure(failure.message, failure.line or part.line, may_retry=failure.may_retry) from None
    count = "1 statement" if len(parts) == 1 else f"{len(parts)} statements"
    return summary or {"rows": None, "message": f"{count} done, no table returned"}


def _check_plan(part: SqlPart, plan: str) -> None:
    """Raise `CodeFailure` for a plan that says why there is none."""
    if (failure := failure_in(plan)) is not None:
        words, line = failure
        raise CodeFailure(words, part.line if line is None else part.line - part.lines_above + line - 1)


def _line_of(part: SqlPart, error: PySparkException) -> int:
    """Return the script's line of a Spark error, whose own line is relative to its statement."""
    for context in error.getQueryContext() or ():
        start = context.startIndex()
        if 0 <= start < len(part.text):
            return part.line - part.lines_above + part.text.count("\n", 0, start)
    return part.line
