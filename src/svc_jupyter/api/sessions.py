"""Messages of a cell, and questions to the session in which it ran (extensions)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from svc_jupyter.api.fields import Record, Request


class CellMessage(Record):
    """A piece of what a cell printed or showed.

    `type` is TEXT, HTML, TABLE (tab-separated text with headers) or SESSION, whose data changes when the names that
    earlier cells defined are gone.
    """

    type: str
    data: str


class CellMessages(Record):
    """The messages from byte `offset` of a cell's output on; `end` is the next offset."""

    messages: list[CellMessage]
    offset: int
    end: int


class SessionQuestion(Request):
    """A question about a text that is being written: `cursor` counts characters, `language` is python or sql."""

    code: Annotated[str, Field(max_length=1_000_000)]
    cursor: Annotated[int, Field(ge=0)]
    language: str = "python"


class Completions(Record):
    """What may stand from `start` to `end` of the text, in characters; empty while the session runs a program."""

    matches: list[str]
    start: int
    end: int


class Inspection(Record):
    """The description of the name at the cursor; None where the session has no such name, or runs a program."""

    text: str | None = None


class SessionEnd(Record):
    """Whether there was a session to end."""

    ended: bool
