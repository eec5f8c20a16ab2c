"""The interface of a note's run to the cluster's session server: runs a statement and returns its messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from svc_jupyter.service.ground.errors import Failure
from svc_jupyter.service.kinds.spark.notes.languages import Paragraph

Log = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Message:
    """A piece of a paragraph's result. `type` is TEXT, HTML or TABLE; a TABLE's data is tab-separated with headers.

    `rows` is a file with the typed rows of a TABLE, if any.
    """

    type: str
    data: str
    rows: Path | None = None


@dataclass(frozen=True, slots=True)
class StatementError:
    """Why a statement failed, in the engine's own words; `line` counts from 1 in the statement that was sent."""

    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class StatementEnd:
    """The end of a statement. `forms` are those that its code declared, `calls` the paragraphs that it asked to run."""

    messages: list[Message]
    error: StatementError | None = None
    forms: Mapping[str, Any] = field(default_factory=dict)
    calls: tuple[str, ...] = ()


class Interpreter(Protocol):
    """Runs programs of one or more languages for a note."""

    def run(self, paragraph: Paragraph, code: str, values: Mapping[str, Any], log: Log) -> StatementEnd:
        """Run a paragraph's program, with its forms filled in.

        `values` are those of forms made by code; `log` receives text as it arrives.

        Raises `RunFailure` when the engine itself is gone.
        """
        ...


class RunFailure(Failure):
    """A run ended early; the text is for the user."""
