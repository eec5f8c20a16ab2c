"""What a note's run needs of the cluster's session server: a statement run to its end, and what it said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from svc_jupyter.service.spark_notes.languages import Paragraph

Log = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Message:
    """A piece of a paragraph's result. `type` is TEXT, HTML or TABLE; a TABLE's data is tab-separated with headers.

    `rows` is a file with the typed rows of a TABLE, where there are such.
    """

    type: str
    data: str
    rows: Path | None = None


@dataclass(frozen=True, slots=True)
class StatementError:
    """Why a statement failed, in the engine's own words; `line` counts from 1 in what was sent."""

    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class StatementEnd:
    """How a statement ended. `forms` are those that its code declared, `calls` the paragraphs that it asked to run."""

    messages: list[Message]
    error: StatementError | None = None
    forms: Mapping[str, Any] = field(default_factory=dict)
    calls: tuple[str, ...] = ()


class Interpreter(Protocol):
    """Runs programs of one or more languages for a note."""

    def run(self, paragraph: Paragraph, code: str, values: Mapping[str, Any], log: Log) -> StatementEnd:
        """Run a paragraph's program, its forms filled in, to its end.

        `values` are what forms made by code take; `log` gets text as it comes.

        Raises `RunFailure` when the engine itself is gone.
        """
        ...


class RunFailure(Exception):
    """A run ended before its end; the text is for the user."""

    def __init__(self, message: str, *, may_retry: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.may_retry = may_retry
