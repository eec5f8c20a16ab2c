"""The body of a submission, for the OpenAPI document: one form per command type."""

from __future__ import annotations

from typing import Any, Literal

from svc_jupyter.api.commands import (
    CommandSubmission,
    CommandType,
    CompositeSubmission,
    DbTapQuerySubmission,
    HadoopSubmission,
    HiveSubmission,
    JupyterNotebookSubmission,
    PigSubmission,
    PrestoSubmission,
    ShellSubmission,
)
from svc_jupyter.api.db_transfers import DbExportSubmission, DbImportSubmission
from svc_jupyter.api.spark_commands import SparkSubmission, SqlSubmission


class ShellCommandBody(ShellSubmission, CommandSubmission):
    """Submit a shell command."""

    command_type: Literal[CommandType.SHELL]


class PigCommandBody(PigSubmission, CommandSubmission):
    """Submit a Pig command."""

    command_type: Literal[CommandType.PIG]


class HiveCommandBody(HiveSubmission, CommandSubmission):
    """Run Hive's SQL."""

    command_type: Literal[CommandType.HIVE]


class PrestoCommandBody(PrestoSubmission, CommandSubmission):
    """Run SQL on a Presto cluster."""

    command_type: Literal[CommandType.PRESTO]


class SparkCommandBody(SparkSubmission, CommandSubmission):
    """Run a Spark notebook, or a program on a Spark cluster."""

    command_type: Literal[CommandType.SPARK]


class SqlCommandBody(SqlSubmission, CommandSubmission):
    """Run statements of Spark SQL."""

    command_type: Literal[CommandType.SQL]


class HadoopCommandBody(HadoopSubmission, CommandSubmission):
    """Run a program of Hadoop."""

    command_type: Literal[CommandType.HADOOP]


class DbExportCommandBody(DbExportSubmission, CommandSubmission):
    """Move rows from a Hive table into a table of a DB tap."""

    command_type: Literal[CommandType.DB_EXPORT]


class DbImportCommandBody(DbImportSubmission, CommandSubmission):
    """Move rows of a DB tap into a Hive table."""

    command_type: Literal[CommandType.DB_IMPORT]


class DbTapQueryCommandBody(DbTapQuerySubmission, CommandSubmission):
    """Submit a DB query command."""

    command_type: Literal[CommandType.DB_TAP_QUERY]


class JupyterNotebookCommandBody(JupyterNotebookSubmission, CommandSubmission):
    """Run a Jupyter notebook."""

    command_type: Literal[CommandType.JUPYTER_NOTEBOOK]


class CompositeCommandBody(CompositeSubmission, CommandSubmission):
    """Submit commands that run one after the other."""

    command_type: Literal[CommandType.COMPOSITE]


def _schema() -> dict[str, Any]:
    bodies = (
        ShellCommandBody,
        PigCommandBody,
        HiveCommandBody,
        PrestoCommandBody,
        SparkCommandBody,
        SqlCommandBody,
        HadoopCommandBody,
        DbExportCommandBody,
        DbImportCommandBody,
        DbTapQueryCommandBody,
        JupyterNotebookCommandBody,
        CompositeCommandBody,
    )
    return {"oneOf": [body.model_json_schema(by_alias=True) for body in bodies]}


SUBMISSION_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": _schema()}}}
}
