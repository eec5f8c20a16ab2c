"""The error envelope."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ErrorBody(BaseModel):
    """What went wrong: `error_code` equals the HTTP status."""

    model_config = ConfigDict(extra="allow")

    error_code: int
    error_message: str
    trace_id: str | None = None
    fields: dict[str, str] | None = None
    """With a 422: what is wrong with each field, in words for people, by its path, as in `command.inline`."""


class ErrorEnvelope(BaseModel):
    """The body of every answer that is not a success."""

    model_config = ConfigDict(extra="allow")

    error: ErrorBody
