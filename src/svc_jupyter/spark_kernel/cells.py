"""The first line of a cell: what runs it, and with which options. Functions of values."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from svc_jupyter.magics.display.errors import SvcUsageError


class Runner(StrEnum):
    """What runs a cell."""

    PYTHON = "python"
    SCALA = "scala"
    SQL = "sql"
    SHELL = "sh"
    MARKDOWN = "md"
    LOCAL = "local"
    SEND = "send"
    CLUSTER = "cluster"
    FORMS = "forms"
    HELP = "help"


_WORDS = {
    "pyspark": Runner.PYTHON,
    "python": Runner.PYTHON,
    "spark.pyspark": Runner.PYTHON,
    "spark": Runner.SCALA,
    "scala": Runner.SCALA,
    "spark.spark": Runner.SCALA,
    "sql": Runner.SQL,
    "spark.sql": Runner.SQL,
    "sh": Runner.SHELL,
    "shell": Runner.SHELL,
    "md": Runner.MARKDOWN,
    "markdown": Runner.MARKDOWN,
    **{each.value: each for each in (Runner.LOCAL, Runner.SEND, Runner.CLUSTER, Runner.FORMS, Runner.HELP)},
}
IN_SESSION = frozenset({Runner.PYTHON, Runner.SCALA, Runner.SQL})
LANGUAGES = "%pyspark (the default), %sql, %spark (Scala), %sh and %md"
_HEADER = re.compile(
    r"\s*%%?(?P<word>[\w.]+)(?P<properties>\([^)\n]*\))?"
    r"(?P<options>(?:[ \t]+-(?:o[ \t]*[^\s-]\S*|q)(?=\s|$))*)[ \t]*\n?"
)
_LEAVE = re.compile(r"\s*(exit|quit)(\(\))?\s*")
"""What ends a console; in the session it would end nothing."""
_LIMIT = re.compile(r"\blimit\s*=\s*(\d{1,9})\b")
_OPTION = re.compile(r"-o[ \t]*(\S+)|-q")
ROWS = 1000
"""Rows of a table, unless `(limit=…)` or `-o` says otherwise."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's parts. Its code keeps the lines of the cell, so that an error's line is the line that people see."""

    runner: Runner
    code: str
    out: str | None = None
    quiet: bool = False
    limit: int | None = ROWS


def cell_of(text: str, local_magics: Collection[str], default: Runner = Runner.PYTHON) -> Cell:
    """Return the parts of a cell; `local_magics` are the magics of the local shell, which run there.

    Raises SvcUsageError for a language that there is not, and for local magics above a program of the session.
    """
    header = _HEADER.match(text)
    if text.lstrip().startswith("!"):
        return Cell(Runner.LOCAL, text)
    if header is None:
        return Cell(Runner.LOCAL if _LEAVE.fullmatch(text) else default, text)
    word = header["word"]
    runner = _WORDS.get(word.lower())
    if runner is None:
        return _local(text, word, local_magics)
    options = header["options"]
    names = [found[1] for found in _OPTION.finditer(options) if found[1]]
    out = names[-1] if names else None
    if out is not None and not out.isidentifier():
        raise SvcUsageError(f"%%{word}: -o takes the name of a variable, not {out!r}")
    given = _LIMIT.search(header["properties"] or "")
    limit = int(given[1]) if given else None if out else ROWS
    code = "\n" * header[0].count("\n") + text[header.end() :]
    return Cell(runner, code, out, "-q" in options.split(), limit or None)


def _local(text: str, word: str, local_magics: Collection[str]) -> Cell:
    if word not in local_magics:
        raise SvcUsageError(
            f"%{word} is neither a language nor a magic. Languages are {LANGUAGES}; %%help says more, "
            "%%local runs a cell in the local kernel"
        )
    if not text.lstrip().startswith("%%"):
        mixed = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("%", "!", "#"))]
        if mixed:
            raise SvcUsageError(
                f"%{word} is a magic of the local kernel, and the lines below it would run in the cluster's session: "
                "put it into a cell of its own, or begin the cell with %%local"
            )
    return Cell(Runner.LOCAL, text)


def with_value(cell: Cell) -> str:
    """Return the code of a cell with the variable of `-o` as its value, where the code ends with no expression."""
    if cell.out is None or cell.runner is Runner.SQL:
        return cell.code
    if cell.runner is Runner.PYTHON:
        try:
            tree = ast.parse(cell.code)
        except (SyntaxError, ValueError):
            return cell.code  # the session says what is wrong with it
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            return cell.code
    return f"{cell.code.rstrip()}\n{cell.out}\n"
