"""The body of a submission, for the OpenAPI document: one form per command type."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import create_model

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
from svc_jupyter.api.fields import Request
from svc_jupyter.api.spark_commands import SparkSubmission, SqlSubmission

_FORMS: dict[CommandType, tuple[type[Request], str]] = {
    CommandType.SHELL: (ShellSubmission, "Submit a shell command."),
    CommandType.PIG: (PigSubmission, "Submit a Pig command."),
    CommandType.HIVE: (HiveSubmission, "Run Hive's SQL."),
    CommandType.PRESTO: (PrestoSubmission, "Run SQL on a Presto cluster."),
    CommandType.SPARK: (SparkSubmission, "Run a Spark notebook, or a program on a Spark cluster."),
    CommandType.SQL: (SqlSubmission, "Run statements of Spark SQL."),
    CommandType.HADOOP: (HadoopSubmission, "Run a program of Hadoop."),
    CommandType.DB_EXPORT: (DbExportSubmission, "Move rows from a Hive table into a table of a DB tap."),
    CommandType.DB_IMPORT: (DbImportSubmission, "Move rows of a DB tap into a Hive table."),
    CommandType.DB_TAP_QUERY: (DbTapQuerySubmission, "Submit a DB query command."),
    CommandType.JUPYTER_NOTEBOOK: (JupyterNotebookSubmission, "Run a Jupyter notebook."),
    CommandType.COMPOSITE: (CompositeSubmission, "Submit commands that run one after the other."),
}
"""The fields of each type that users submit, and what such a command does."""


def _form(command_type: CommandType, own: type[Request], summary: str) -> dict[str, Any]:
    of_this_type: Any = (Literal[command_type], ...)
    body = create_model(
        f"{command_type}Body", __base__=(own, CommandSubmission), __doc__=summary, command_type=of_this_type
    )
    return body.model_json_schema(by_alias=True)


_SCHEMA = {"oneOf": [_form(command_type, own, summary) for command_type, (own, summary) in _FORMS.items()]}
SUBMISSION_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": _SCHEMA}}}
}
