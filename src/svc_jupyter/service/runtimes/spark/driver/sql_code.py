"""Runs an SQL script: its statements in order; the rows are those of the last one that has any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from .failure import CodeFailure, spark_text
from .statement import SqlPart


def run_sql(
    spark: SparkSession, parts: Sequence[SqlPart], take: Callable[[DataFrame], dict[str, Any]]
) -> dict[str, Any]:
    """Run the statements; `take` receives each table. Return its result for the last one, or the number of statements.

    Raises `CodeFailure` with the line of the statement.
    """
    summary: dict[str, Any] | None = None
    for part in parts:
        try:
            frame = spark.sql(part.text)
            if frame.columns:
                summary = take(frame)
        except PySparkException as error:
            raise CodeFailure(spark_text(error), _line(part, error)) from None
        except Py4JError as error:
            raise CodeFailure(spark_text(error), part.line) from None
        except CodeFailure as failure:
            raise CodeFailure(failure.message, part.line, may_retry=failure.may_retry) from None
    count = "1 statement" if len(parts) == 1 else f"{len(parts)} statements"
    return summary or {"rows": None, "message": f"{count} done, no table returned"}


def _line(part: SqlPart, error: PySparkException) -> int:
    """Return the script's line of a Spark error, whose own line is relative to its statement."""
    for context in error.getQueryContext() or ():
        start = context.startIndex()
        if 0 <= start < len(part.text):
            return part.line + part.text.count("\n", 0, start)
    return part.line
