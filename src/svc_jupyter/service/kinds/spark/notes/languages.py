"""The languages of a note's paragraphs, and how a paragraph names its language. Functions of values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from svc_jupyter.service.ground.errors import Failure


class Language(StrEnum):
    """What runs a paragraph."""

    PYTHON = "python"
    SCALA = "scala"
    SQL = "sql"
    R = "r"
    SHELL = "sh"
    MARKDOWN = "md"


class UnknownLanguage(Failure):
    """A paragraph names a language that Spark notebooks do not have; the text lists the supported ones."""

    def __init__(self, word: str) -> None:
        super().__init__(
            f"%{word} is not a language of a Spark notebook; there are %pyspark, %python, %spark, %sql, %r, %sh and %md"
        )


_WORDS: Mapping[str, Language] = MappingProxyType(
    {
        "": Language.SCALA,
        "spark": Language.SCALA,
        "scala": Language.SCALA,
        "spark.spark": Language.SCALA,
        "pyspark": Language.PYTHON,
        "python": Language.PYTHON,
        "spark.pyspark": Language.PYTHON,
        "spark.python": Language.PYTHON,
        "sql": Language.SQL,
        "spark.sql": Language.SQL,
        "r": Language.R,
        "spark.r": Language.R,
        "sparkr": Language.R,
        "sh": Language.SHELL,
        "shell": Language.SHELL,
        "md": Language.MARKDOWN,
        "markdown": Language.MARKDOWN,
    }
)
"""The words after the `%`; a paragraph without one is Scala, as in the format's first program."""
_HEADER = re.compile(r"\s*%(?P<word>[\w.]+)(?P<properties>\([^)\n]*\))?[ \t]*\n?")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph's parts: its language, the properties in brackets after it, and the program.

    `first_line` is the number of the program's first line in the whole text, from 1: errors refer to it.
    """

    language: Language
    properties: Mapping[str, str]
    code: str
    first_line: int

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to run."""
        return not self.code.strip()


def default_of(document: Mapping[str, Any]) -> Language:
    """Return the language of a note's paragraphs that name none: Python if it was saved as a notebook of Python."""
    try:
        is_python = document["ipynb"]["metadata"]["kernelspec"]["language"] == "python"
    except (KeyError, TypeError):
        is_python = False
    return Language.PYTHON if is_python else Language.SCALA


def paragraph_of(text: str, default: Language = Language.SCALA) -> Paragraph:
    """Return the parts of a paragraph's text. Raises `UnknownLanguage`."""
    header = _HEADER.match(text)
    if header is None:
        return Paragraph(default, {}, text, 1)
    word = header["word"].lower()
    language = _WORDS.get(word)
    if language is None:
        raise UnknownLanguage(header["word"])
    first_line = text.count("\n", 0, header.end()) + 1
    return Paragraph(language, _properties(header["properties"]), text[header.end() :], first_line)


def _properties(brackets: str | None) -> dict[str, str]:
    """Return `(limit=10, template="x")` as names and values; a name alone is true."""
    found = {}
    for part in (brackets or "()")[1:-1].split(","):
        name, equals, value = part.partition("=")
        if name.strip():
            found[name.strip()] = value.strip().strip("\"'") if equals else "true"
    return found
