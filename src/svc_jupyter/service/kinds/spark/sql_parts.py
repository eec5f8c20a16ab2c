"""The statements of an SQL script for the driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_jupyter.service.db_taps.bindings import bound, values_given, with_literals
from svc_jupyter.service.db_taps.plans import explained
from svc_jupyter.service.db_taps.statements import Statement, split
from svc_jupyter.service.runtimes.spark.driver.statement import SqlPart
from svc_jupyter.sql_tokens import Dialect


def sql_parts(code: str, command: Mapping[str, Any]) -> list[SqlPart]:
    """Return the statements of a script for the driver, each with its line. Raises what `statements_of` raises."""
    is_plan = bool(command.get("dry_run"))
    return [
        SqlPart(code.count("\n", 0, one.first) + 1, one.text, one.text.count("\n", 0, one.lead), is_plan)
        for one in statements_of(code, command)
    ]


def statements_of(code: str, command: Mapping[str, Any]) -> list[Statement]:
    """Return the statements of a script, with the values of `bindings` for its names.

    For a `dry_run` of the command, this is the one that asks for its plan. Raises `NotSeparable`, and `QueryFailure`
    when names and values do not fit together, and for a query without a plan.
    """
    statements = split(code, Dialect.SPARK)
    bindings = command.get("bindings")
    if bindings and statements:
        statements = bound(statements, values_given(bindings), Dialect.SPARK)
    if command.get("dry_run") and statements:
        statements = [explained(statements, Dialect.SPARK)]
    return [with_literals(statement, Dialect.SPARK) for statement in statements]
