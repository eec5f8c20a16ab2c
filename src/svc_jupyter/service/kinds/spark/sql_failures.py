"""Why SQL on Spark failed, for its author, from what the driver writes into `ERROR_FILE`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from svc_jupyter.service.commands.kind import Outcome, Task
from svc_jupyter.service.db_taps.bindings import hint_for
from svc_jupyter.service.db_taps.failures import QueryFailure, report_of
from svc_jupyter.service.db_taps.suggestions import like, question, unknown_name, without_offer
from svc_jupyter.service.kinds.script_source import Script
from svc_jupyter.service.kinds.spark.sql_parts import statements_of
from svc_jupyter.service.runtimes.spark.driver.statement import ERROR_FILE
from svc_jupyter.sql_tokens import Dialect


def names_meant(error: Mapping[str, Any]) -> list[str]:
    """Return the columns or tables that the author of SQL may have meant by an unknown one, the likeliest first."""
    if error.get("part") is None:  # of a program: its text goes on
        return []
    message, offered = without_offer(error["message"])
    unknown = unknown_name(message)
    return [] if unknown is None else like(unknown.last, offered or error.get("tables") or ())


def reason_of(error: Mapping[str, Any]) -> str:
    """Return Spark's words, with a question after the name that was meant."""
    meant = names_meant(error)
    return f"{without_offer(error['message'])[0]} {question(meant)}" if meant else str(error["message"])


def reported(outcome: Outcome, task: Task, script: Script) -> Outcome:
    """Return the outcome of a `SqlCommand` with the report of the statement that failed, if one did."""
    file = task.folder / ERROR_FILE
    if outcome.succeeded or not file.exists():
        return outcome
    error = json.loads(file.read_text("utf-8"))
    statements = statements_of(script.text, task.command)
    number = error.get("part")
    if number is None or number >= len(statements):  # a driver of an earlier version; a file that was changed meanwhile
        return outcome
    statement = statements[number]
    hint = None if task.command.get("bindings") else hint_for(error["message"], statement.text, Dialect.SPARK)
    report = report_of(
        QueryFailure(error["message"], position=error.get("position"), hint=hint, shows_column=True),
        script=script.text,
        source=script.source,
        statement=statement,
        only_one=len(statements) == 1,
        target=f"cluster {task.label or task.cluster_id} (Spark)",
        did_you_mean=names_meant(error),
    )
    return replace(outcome, message=report.message, outputs={"failure": asdict(report)})
