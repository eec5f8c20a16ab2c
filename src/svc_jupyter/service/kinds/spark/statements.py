"""A command's program as a statement for the driver."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from svc_jupyter.service.commands.kind import Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.db_taps.job import Dialect
from svc_jupyter.service.db_taps.statements import split
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.runtimes.hadoop.tagged_jobs import tag_of
from svc_jupyter.service.runtimes.spark.driver.statement import (
    ERROR_FILE,
    OUT_FILE,
    RESULT_FILE,
    SUMMARY_FILE,
    Language,
    SqlPart,
    Statement,
)


def statement_of(task: Task, language: Language, code: str, arguments: list[str], min_free_bytes: int) -> Statement:
    """Return the statement of an attempt. Raises `Invalid` for SQL without a statement."""
    parts = sql_parts(code) if language is Language.SQL else []
    if language is Language.SQL and not parts:
        raise Invalid("the query holds no statement")
    return Statement(
        id=tag_of(task.id, task.attempt),
        language=language,
        code=code,
        folder=str(task.folder),
        log=str(task.log_file),
        work=str(task.working_folder),
        arguments=arguments,
        parts=parts,
        pool=task.pool,
        min_free_bytes=min_free_bytes,
    )


def sql_parts(code: str) -> list[SqlPart]:
    """Return the statements of a script, each with its line."""
    return [SqlPart(code.count("\n", 0, one.start) + 1, one.text) for one in split(code, Dialect.HIVE)]


def has_ended(folder: Path) -> bool:
    """Return whether a statement has reported its end."""
    return (folder / SUMMARY_FILE).exists() or (folder / ERROR_FILE).exists()


def outcome_of(task: Task, code: int | None = None) -> Outcome:
    """Return the outcome of an ended statement: typed rows, or else its printed lines, or else a text.

    Output printed in addition to rows goes into the log. `code` is the exit code of its process, if it had its own.
    """
    error = _content(task.folder / ERROR_FILE)
    if error is not None:
        where = "" if error.get("line") is None else f"line {error['line']}: "
        return Outcome(False, f"{where}{error['message']}", exit_code=code, may_retry=error["may_retry"])
    summary = _content(task.folder / SUMMARY_FILE) or {}
    printed = task.folder / OUT_FILE
    size = printed.stat().st_size if printed.exists() else 0
    if summary.get("rows") is None:
        lines = StoredResult(ResultForm.LINES, file=f"{task.attempt}/{OUT_FILE}", size=size) if size else None
        return Outcome(True, None if size else summary.get("message"), exit_code=code, result=lines)
    if size:
        with printed.open("rb") as source, task.log_file.open("ab") as log:
            shutil.copyfileobj(source, log)
    return Outcome(True, exit_code=code, result=StoredResult.of_rows(f"{task.attempt}/{RESULT_FILE}", summary))


def _content(file: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return None
    return content
