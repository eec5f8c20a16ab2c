"""The statements of a cell of R, Julia, Scala or Bash, by the lexers of Pygments.

https://pygments.org/docs/lexerdevelopment/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, inherit
from pygments.lexers.julia import JuliaLexer
from pygments.lexers.jvm import ScalaLexer
from pygments.lexers.r import SLexer
from pygments.lexers.shell import BashLexer
from pygments.token import String

OPERATOR = "Token.Operator"
"""The kind of a token."""
_IN_DOUBLE_QUOTES = r'"(?!"")(?:\\.|[^"\\])*(?:"|\\?\Z)'


class _Scala(ScalaLexer):
    """Without patterns whose time doubles with each escape of a text that has no end, as below."""

    tokens: ClassVar[dict[str, Any]] = {
        "constants": [(r'""".*?"""(?!")', String), (_IN_DOUBLE_QUOTES, String), inherit],
        "strings": [(f"raw{_IN_DOUBLE_QUOTES}", String), inherit],
    }


class _Bash(BashLexer):
    tokens: ClassVar[dict[str, Any]] = {"data": [(r"(?s)\$'(?:\\.|[^'\\])*(?:'|\\?\Z)", String.Single), inherit]}


_LEXERS: Mapping[str, type[RegexLexer]] = {"r": SLexer, "julia": JuliaLexer, "scala": _Scala, "bash": _Bash}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BLOCKS: Mapping[str, frozenset[str]] = {
    "r": _words("if else for while repeat function"),
    "julia": _words("function macro if for while let module baremodule begin do try struct quote"),
    "scala": _words("def class object trait if else for while do match try enum given extension"),
    "bash": _words("if for while until case select"),
}
"""What begins a block of lines."""
_ENDS: Mapping[str, frozenset[str]] = {"julia": _words("end"), "bash": _words("fi done esac")}
"""What ends a block; elsewhere it is one bracket, or one line, or what is indented."""
_BEFORE_A_COMMAND = _words("then do else elif | || && ! { (")
_BEFORE_A_BODY = _words(") then else do repeat yield try")


def statements_of(source: str, language: str) -> Iterator[tuple[Sequence[tuple[str, str]], bool]]:
    """Yield the statements outside brackets, each as kinds and texts of its tokens, and whether it is in a block."""
    blocks = _Blocks(language)
    for statement, is_indented in _lines_of(source, language):
        texts = [text for kind, text in statement if text.strip() and not kind.startswith("Token.Literal")]
        yield statement, blocks.hold(texts, is_indented=is_indented)


def _lines_of(source: str, language: str) -> Iterator[tuple[Sequence[tuple[str, str]], bool]]:
    """Yield the statements without their comments, and whether each is indented."""
    statement: list[tuple[str, str]] = []
    is_indented = is_line_begun = False
    depth = 0
    last = ""
    for _, token, text in _LEXERS[language]().get_tokens_unprocessed(f"{source}\n"):  # keeps \r
        kind = str(token)
        ends = kind.startswith(("Token.Text", "Token.Comment.Single")) and "\n" in text
        goes_on = language != "bash" and last == OPERATOR
        is_end = depth <= 0 and ((ends and not goes_on) or (text == ";" and not kind.startswith("Token.Literal")))
        if is_end:
            yield statement, is_indented
            statement, last = [], ""
            is_indented, is_line_begun = ends and text.rpartition("\n")[2] != "", not ends
        elif not kind.startswith("Token.Comment"):
            if not is_line_begun:
                is_indented, is_line_begun = is_indented or not text.strip(), True
            statement.append((kind, text))
            last = kind if text.strip() else last
        if not kind.startswith(("Token.Literal", "Token.Comment")):
            depth += sum(text.count(bracket) for bracket in "([{") - sum(text.count(bracket) for bracket in ")]}")
    yield statement, is_indented


class _Blocks:
    """The open blocks at a place of a cell."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._ends = _ENDS.get(language)
        self._open = 0
        self._is_body_next = False

    def hold(self, texts: Sequence[str], *, is_indented: bool) -> bool:
        """Return whether the next statement, of these texts, is in a block."""
        if not texts:
            return False
        if self._ends is None:
            begins = not _BLOCKS[self._language].isdisjoint(texts)
            is_within = self._is_body_next or (self._open > 0 and is_indented)
            self._open = int(begins or is_within)
            self._is_body_next = begins and texts[-1] in _BEFORE_A_BODY
            return is_within
        is_within = self._open > 0
        for text in self._words_of(texts):
            self._open = max(0, self._open + (text in _BLOCKS[self._language]) - (text in self._ends))
        return is_within

    def _words_of(self, texts: Sequence[str]) -> Iterator[str]:
        """Yield the words that may begin or end a block: those outside brackets, and a shell's where a command is."""
        depth = 0
        for before, text in pairwise(("|", *texts)):
            depth += sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
            if depth == 0 and (self._language != "bash" or before in _BEFORE_A_COMMAND):
                yield text
