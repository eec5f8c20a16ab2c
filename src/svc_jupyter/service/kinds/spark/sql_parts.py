"""The statements of an SQL script for the driver."""

from __future__ import annotations

from svc_jupyter.service.db_taps.statements import split
from svc_jupyter.service.runtimes.spark.driver.statement import SqlPart
from svc_jupyter.sql_tokens import Dialect


def sql_parts(code: str) -> list[SqlPart]:
    """Return the statements of a script, each with its line. Raises `NotSeparable`."""
    return [
        SqlPart(code.count("\n", 0, one.first) + 1, one.text, one.text.count("\n", 0, one.lead))
        for one in split(code, Dialect.SPARK)
    ]
