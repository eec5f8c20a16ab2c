"""A command's program as a statement for the driver."""

from __future__ import annotations

from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.db_taps.job import Dialect
from svc_jupyter.service.db_taps.statements import split
from svc_jupyter.service.engines.hadoop.tagged_jobs import tag_of
from svc_jupyter.service.errors import Invalid
from svc_jupyter.service.spark.driver.statement import Language, SqlPart, Statement


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
