"""What a text in Scala is: a script for Spark's shell, or a program for Scala's compiler; and what the compiler says.

https://spark.apache.org/docs/latest/quick-start.html#self-contained-applications
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from itertools import pairwise
from typing import Final

from svc_jupyter.api.notebook_statements import statements_of

SOURCE: Final = "program.scala"
"""The name under which a program is compiled."""
ENDS_ALL: Final = "sys.exit would end Spark for all sessions of the cluster: leave it out"
_DEFINING: Final = frozenset({"package", "import", "object", "class", "trait"})
_MODIFIERS: Final = frozenset({"abstract", "case", "final", "private", "sealed"})
_GOING_ON: Final = frozenset({"extends", "with", "{"})
"""How a definition goes on in its next line."""
_ENDING: Final = frozenset({"stop", "exit", "halt"})
_EXITS: Final = frozenset({("sys", "exit"), ("System", "exit")})
_ERROR: Final = re.compile(rf"^\S*/{re.escape(SOURCE)}:(\d+): error: (.*)")


class ScalaForm(Enum):
    """How a text in Scala has to run."""

    SCRIPT = auto()
    """By Spark's shell, in a session."""
    ENDS_SPARK = auto()
    """By Spark's shell, but it may end the Spark that it runs in."""
    PROGRAM = auto()
    """By its `main`, once it is compiled: it has no statement outside of its definitions, which nobody else calls."""


def form_of(code: str) -> ScalaForm:
    """Return how a text has to run."""
    statements = [_words(tokens) for tokens, _ in statements_of(code, "scala")]
    begun = {word for words in statements if (word := _first(words)) is not None}
    words = [word for statement in statements for word in statement]
    if begun <= _DEFINING | _GOING_ON and ("package" in begun or _has_main(words)):
        return ScalaForm.PROGRAM
    return ScalaForm.SCRIPT if _ENDING.isdisjoint(words) else ScalaForm.ENDS_SPARK


def exits(code: str) -> bool:
    """Return whether a text ends the process that runs it."""
    words = [word for tokens, _ in statements_of(code, "scala") for word in _words(tokens) if word != "."]
    return not _EXITS.isdisjoint(pairwise(words))


def compile_error(said: Sequence[str]) -> str | None:
    """Return the compiler's first error, with its line, among the lines of a log; None without one.

    Its text ends with the source and a caret below it.
    """
    for number, line in enumerate(said):
        if found := _ERROR.match(line):
            below = said[number + 1 :]
            end = next((n for n, each in enumerate(below) if each.strip() == "^"), len(below))
            return "\n".join([f"line {found[1]}: {found[2]}", *below[: max(0, end - 1)]])
    return None


def _words(tokens: Sequence[tuple[str, str]]) -> list[str]:
    """Return what is not a space, a text or a number."""
    return [text for kind, text in tokens if text.strip() and not kind.startswith("Token.Literal")]


def _first(words: Sequence[str]) -> str | None:
    """Return the first word after annotations and modifiers, with what is in their brackets."""
    depth = 0
    for word in words:
        depth += word.count("(") + word.count("[") - word.count(")") - word.count("]")
        if depth == 0 and word not in _MODIFIERS and word not in {")", "]"} and not word.startswith("@"):
            return word
    return None


def _has_main(words: Sequence[str]) -> bool:
    calls = {("def", "main"), ("extends", "App"), ("with", "App"), (".", "App")}
    return not calls.isdisjoint(pairwise(words))
