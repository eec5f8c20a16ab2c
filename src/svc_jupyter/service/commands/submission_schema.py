"""The body of a submission, for the OpenAPI document: one form per command type."""

from __future__ import annotations

from typing import Any, Literal

from svc_jupyter.api.commands import CommandSubmission, CommandType, DbTapQuerySubmission, ShellSubmission


class ShellCommandBody(ShellSubmission, CommandSubmission):
    """Submit a shell command."""

    command_type: Literal[CommandType.SHELL]


class DbTapQueryCommandBody(DbTapQuerySubmission, CommandSubmission):
    """Submit a DB query command."""

    command_type: Literal[CommandType.DB_TAP_QUERY]


def _schema() -> dict[str, Any]:
    forms = [model.model_json_schema(by_alias=True) for model in (ShellCommandBody, DbTapQueryCommandBody)]
    return {"oneOf": forms}


SUBMISSION_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": _schema()}}}
}
