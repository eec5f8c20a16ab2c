"""The statements of an SQL script for the driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_jupyter.service.db_taps.bindings import bound, values_given, with_literals
from svc_jupyter.service.db_taps.statements import split
from svc_jupyter.service.runtimes.spark.driver.statement import SqlPart
from svc_jupyter.sql_tokens import Dialect


def sql_parts(code: str, bindings: Mapping[str, Any] | None = None) -> list[SqlPart]:
    """Return the statements of a script, each with its line, and with the values of `bindings` for its names.

    Raises `NotSeparable`, and `QueryFailure` when names and values do not fit together.
    """
    statements = split(code, Dialect.SPARK)
    if bindings and statements:
        statements = [
            with_literals(one, Dialect.SPARK) for one in bound(statements, values_given(bindings), Dialect.SPARK)
        ]
    return [
        SqlPart(code.count("\n", 0, one.first) + 1, one.text, one.text.count("\n", 0, one.lead)) for one in statements
    ]
