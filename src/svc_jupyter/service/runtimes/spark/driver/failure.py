"""Explains to its author why code failed."""

from __future__ import annotations

from typing import Any


class CodeFailure(Exception):
    """The code failed; `line` counts from 1 within it, if known. `place` are the keys of an SQL script's failure."""

    def __init__(
        self, message: str, line: int | None = None, *, may_retry: bool = True, place: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.may_retry = may_retry
        self.place = place or {}

    def report(self) -> dict[str, Any]:
        """Return the content of `ERROR_FILE`."""
        return {"message": self.message, "line": self.line, "may_retry": self.may_retry, **self.place}


_PLAN = (";\n'", ";\n+-")


def spark_text(error: BaseException) -> str:
    """Return the message of a Spark exception, without the query's plan and Java's stack."""
    described = getattr(error, "getMessage", None)
    text = str(described() if callable(described) else error).strip() or type(error).__name__
    java = getattr(error, "java_exception", None)
    if java is not None:
        text = _cause(java)
    for beginning in _PLAN:
        text = text.partition(beginning)[0]
    text = text.partition("\n\nJVM stacktrace:")[0].partition("\n\tat ")[0].partition("\nDriver stacktrace:")[0]
    return text.strip()


def _cause(java: Any) -> str:
    """Return the innermost cause of a Java exception that has a message."""
    words = str(java.toString())
    seen = java
    while (seen := seen.getCause()) is not None:
        words = str(seen.toString())
    return words
