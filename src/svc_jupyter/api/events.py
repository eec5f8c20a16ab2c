"""Kinds of server-sent events of `GET commands/ID/events` (an extension)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel


class EventKind(StrEnum):
    """The `event` field of a server-sent event."""

    STATUS = "status"
    PROGRESS = "progress"
    LOG = "log"
    END = "end"


class Progress(BaseModel):
    """Data of a `progress` event: percent, and rows where the engine counts them."""

    progress: int
    rows: int | None = None


class LogPart(BaseModel):
    """Data of a `log` event: text of the log from byte `offset` up to byte `end`."""

    offset: int
    end: int
    text: str
