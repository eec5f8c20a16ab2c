"""Classifies positions in a program's text: code, string literal or comment. Functions of values.

A form's value is inserted into the text of a paragraph; its position decides how to write it (`form_texts.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from svc_jupyter.service.kinds.spark.notes.languages import Language


class ContextKind(StrEnum):
    """What surrounds a position."""

    CODE = "code"
    STRING = "string"
    NAME = "name"
    """A quoted identifier."""
    COMMENT = "comment"
    NESTED = "nested"
    """Code within a string literal, as in the braces of an f-string."""


@dataclass(frozen=True, slots=True)
class CodeContext:
    """The context of a placeholder. `quote` opened the literal, `prefix` precedes the quote (`r`, `f`, `s`)."""

    kind: ContextKind
    quote: str = ""
    prefix: str = ""
    after_backslash: bool = False
    """Whether the character before is a backslash that escapes the next one."""


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a language writes literals and comments."""

    strings: tuple[str, ...]
    """Quotes of literals, the longest first."""
    line_comment: str
    names: tuple[str, ...] = ()
    has_block_comments: bool = False
    prefixes: str = ""
    """The letters that may precede a quote and change how the literal is read."""
    verbatim_quotes: tuple[str, ...] = ()
    """Quotes between which a backslash is literal, also before the quote."""
    verbatim_prefixes: str = ""
    interpolating: str = ""
    """The prefixes of literals that hold code."""
    opens_code: str = ""
    has_character_literals: bool = False


SYNTAX: Mapping[Language, Syntax] = {
    Language.PYTHON: Syntax(
        strings=('"""', "'''", '"', "'"),
        line_comment="#",
        prefixes="rRbBuUfFtT",
        interpolating="fFtT",
        opens_code="{",
    ),
    Language.SCALA: Syntax(
        strings=('"""', '"'),
        line_comment="//",
        names=("`",),
        has_block_comments=True,
        prefixes="abcdefghijklmnopqrstuvwxyz",
        verbatim_quotes=('"""',),
        interpolating="abcdefghijklmnopqrstuvwxyz",
        opens_code="${",
        has_character_literals=True,
    ),
    Language.SQL: Syntax(
        strings=("'", '"'),
        line_comment="--",
        names=("`",),
        has_block_comments=True,
        prefixes="rRxX",
        verbatim_prefixes="rR",
    ),
    Language.R: Syntax(strings=('"', "'"), line_comment="#", names=("`",), prefixes="rR", verbatim_prefixes="rR"),
}
_CHARACTER = re.compile(r"'(?:\\u+[0-9a-fA-F]{4}|\\.|[^\\'\n])'")
_WORD = re.compile(r"(?<!\w)[A-Za-z]+\Z")
_LONGEST_PREFIX = 16


def places(text: str, spans: Sequence[tuple[int, int]], syntax: Syntax) -> Iterator[CodeContext]:
    """Yield the context of each of the `spans` (start, end; ordered, disjoint) of a program's `text`.

    The text within a span is skipped: it is not part of the program.
    """
    scanner = _Scanner(text, syntax)
    position = 0
    for start, end in spans:
        scanner.read(position, start)
        yield scanner.place()
        position = end


class _Scanner:
    """Reads a program's text and tracks the context."""

    def __init__(self, text: str, syntax: Syntax) -> None:
        self._text = text
        self._syntax = syntax
        self._kind = ContextKind.CODE
        self._quote = ""
        self._prefix = ""
        self._is_escaping = False
        self._comment_depth = 0
        """0 in a comment that ends with its line."""
        self._code_depth = 0

    def place(self) -> CodeContext:
        """Return the context of the current position."""
        kind = ContextKind.NESTED if self._code_depth else self._kind
        return CodeContext(kind, self._quote, self._prefix, self._is_escaping)

    def read(self, position: int, end: int) -> None:
        """Read the text from `position` to `end`."""
        while position < end:
            match self._kind:
                case ContextKind.CODE:
                    position += self._code(position, end)
                case ContextKind.COMMENT:
                    position += self._comment(position)
                case _:
                    position += self._literal(position)

    def _code(self, position: int, end: int) -> int:
        text, syntax = self._text, self._syntax
        if text.startswith(syntax.line_comment, position):
            self._kind, self._comment_depth = ContextKind.COMMENT, 0
            return len(syntax.line_comment)
        if syntax.has_block_comments and text.startswith("/*", position):
            self._kind, self._comment_depth = ContextKind.COMMENT, 1
            return 2
        if syntax.has_character_literals and (character := _CHARACTER.match(text, position, end)):
            return len(character[0])
        for quote in (*syntax.strings, *syntax.names):
            if text.startswith(quote, position):
                self._kind = ContextKind.NAME if quote in syntax.names else ContextKind.STRING
                self._quote, self._prefix = quote, self._prefix_before(position)
                return len(quote)
        return 1

    def _prefix_before(self, position: int) -> str:
        word = _WORD.search(self._text[max(0, position - _LONGEST_PREFIX) : position])
        return word[0] if word and all(letter in self._syntax.prefixes for letter in word[0]) else ""

    def _comment(self, position: int) -> int:
        text = self._text
        if self._comment_depth == 0:
            if text[position] == "\n":
                self._kind = ContextKind.CODE
            return 1
        if text.startswith("/*", position):
            self._comment_depth += 1
            return 2
        if text.startswith("*/", position):
            self._comment_depth -= 1
            if self._comment_depth == 0:
                self._kind = ContextKind.CODE
            return 2
        return 1

    def _literal(self, position: int) -> int:
        text, quote = self._text, self._quote
        if self._is_escaping:
            self._is_escaping = False
            return 1
        if text[position] == "\\" and self._escapes():
            self._is_escaping = True
            return 1
        if text.startswith(quote, position) and not self._code_depth:
            self._kind, self._quote, self._prefix = ContextKind.CODE, "", ""
            return len(quote)
        return self._within(position)

    def _escapes(self) -> bool:
        """Return whether a backslash escapes the next character."""
        syntax = self._syntax
        is_verbatim = self._quote in syntax.verbatim_quotes or (
            self._prefix and self._prefix in syntax.verbatim_prefixes
        )
        return self._kind is ContextKind.STRING and not is_verbatim

    def _within(self, position: int) -> int:
        """Track the depth of code within the literal."""
        syntax, text = self._syntax, self._text
        if not (self._prefix and any(letter in syntax.interpolating for letter in self._prefix)):
            return 1
        opening = "{" if self._code_depth else syntax.opens_code
        if self._code_depth == 0 and opening == "{" and text.startswith("{{", position):
            return 2  # a literal brace
        if text.startswith(opening, position):
            self._code_depth += 1
            return len(opening)
        if text[position] == "}" and self._code_depth:
            self._code_depth -= 1
        return 1
