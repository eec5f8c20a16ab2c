"""The tokens of a script by the lexical rules of its database, which sqlglot keeps.

Where sqlglot leaves out more than white space and comments, or reads over the beginning of a comment (as in `#--`, in
which it finds PostgreSQL's operator `#-`), its rules do not fit the script, and reading ends there.
sqlglot is imported at the first use (0.3 s, 40 MB): most processes of the service read no SQL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from svc_jupyter.sql_tokens import Dialect, comment_end

if TYPE_CHECKING:
    from sqlglot.tokens import Tokenizer

_NAMES = {
    Dialect.POSTGRESQL: "postgres",
    Dialect.SQLSERVER: "tsql",
    Dialect.HIVE: "spark",  # the service's Hive server is Spark's
    Dialect.OTHER: "",
}
"""sqlglot's names for dialects, where they are not ours."""
_PARAMETERS = frozenset({Dialect.POSTGRESQL, Dialect.REDSHIFT, Dialect.DUCKDB})
_PARAMETER = re.compile(r"(?<![\w$])\$(?=\d)")
"""`$1`: sqlglot takes `$1,$` for the beginning of a dollar quote."""
_WORD = re.compile(r"[A-Za-z_\u0080-\U0010ffff][\w$]*")
_WORDS = re.compile(rf"{_WORD.pattern}(?:\s+{_WORD.pattern})*")
_CONDITIONAL = ("/*!", "/*M!")
"""What opens a comment whose text MySQL, or only MariaDB, runs. A version may follow."""
_VERSION = re.compile(r"\d{5,6}")
_LINE_END = {
    Dialect.SPARK: re.compile(r"(?:\\\n|[^\r\n])*"),
    Dialect.HIVE: re.compile(r"(?:\\\n|[^\r\n])*"),
    Dialect.SQLITE: re.compile(r"[^\n]*"),
    Dialect.MYSQL: re.compile(r"[^\n]*"),
    Dialect.CLICKHOUSE: re.compile(r"[^\n]*"),
}
"""How far a comment with `--` reaches, where it is not the rest of the line: Spark continues a line after a `\\`."""
_REST_OF_LINE = re.compile(r"[^\r\n]*")


class Token(NamedTuple):
    """A part of a script; `word` is a word in capitals, else empty. A `;` that can end a statement has `is_end`."""

    text: str
    start: int
    word: str = ""
    is_end: bool = False

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a script, and whether they are all: `is_whole` is false after an open quote or comment."""

    found: list[Token]
    is_whole: bool


def tokens_of(script: str, dialect: Dialect) -> Tokens:
    """Return a script's tokens, without comments but those that MySQL runs."""
    from sqlglot.errors import TokenError

    lexer = _lexer(dialect)(sqlglot_name(dialect))
    # As long as the script. SQLite reads a byte order mark as a space, others refuse it.
    text = script.replace("\ufeff", " ")
    if dialect in _PARAMETERS:
        text = _PARAMETER.sub("?", text)
    try:
        lexer.tokenize(text)
        is_whole = True
    except TokenError:
        is_whole = False
    found: list[Token] = []
    position = 0
    is_conditional = False
    marks = ("/*",) if dialect is Dialect.MYSQL else ("--", "/*")
    for token in lexer.tokens:
        start = token.start
        if text[start - 1 : start + 1] in marks if start == position else not _is_gap(text, position, start, dialect):
            return Tokens(found, is_whole=False)
        position = token.end + 1
        part = script[start:position]
        if dialect is Dialect.MYSQL:
            if part in _CONDITIONAL:
                is_conditional = True
                found.append(Token(part, start))
                continue
            if is_conditional:
                is_conditional = not (part == "/" and text[start - 1] == "*")
                start, part = _without_version(found, start, part)
        if part == ";":
            found.append(Token(part, start, is_end=not is_conditional))
        else:
            found += _words(start, part)
    is_whole = is_whole and not is_conditional and _is_gap(text, position, len(text), dialect)
    return Tokens(found, is_whole)


def sqlglot_name(dialect: Dialect) -> str:
    """Return sqlglot's name for a dialect."""
    return _NAMES.get(dialect, dialect.value)


@cache
def _lexer(dialect: Dialect) -> type[Tokenizer]:
    """Return sqlglot's tokenizer, which here reads the rest of a command such as `VACUUM INTO …`, too."""
    from sqlglot.dialects.dialect import Dialect as Rules

    rules = Rules.get_or_raise(sqlglot_name(dialect)).tokenizer_class
    conditional = dict.fromkeys(_CONDITIONAL, rules.SINGLE_TOKENS["?"]) if dialect is Dialect.MYSQL else {}
    return type("Lexer", (rules,), {"COMMANDS": set(), "KEYWORDS": {**rules.KEYWORDS, **conditional}})


def _without_version(found: list[Token], start: int, part: str) -> tuple[int, str]:
    """Return a token without the version before it: `50000SELECT` directly after `/*!`."""
    if found[-1].text in _CONDITIONAL and found[-1].end == start and (version := _VERSION.match(part)) is not None:
        return start + version.end(), part[version.end() :]
    return start, part


def _words(start: int, part: str) -> list[Token]:
    """Return the tokens of a part: sqlglot takes some words together, such as `GROUP BY`."""
    if _WORDS.fullmatch(part):
        return [Token(found[0], start + found.start(), found[0].upper()) for found in _WORD.finditer(part)]
    return [Token(part, start)] if part else []


def _is_gap(text: str, position: int, end: int, dialect: Dialect) -> bool:
    """Return whether there are only white space and comments, by the database's own rules."""
    if text[position:end].isspace():
        return True
    rules = _lexer(dialect)
    lines = tuple(start for start in rules.COMMENTS if isinstance(start, str))
    line_end = _LINE_END.get(dialect, _REST_OF_LINE)
    while position < end:
        if text[position].isspace():
            position += 1
        elif text.startswith(lines, position):
            match = line_end.match(text, position)
            assert match is not None, "the rest of a line may be empty"
            position = match.end()
        elif text.startswith("/*", position):
            position, is_open = comment_end(text, position + 2, nested=rules.NESTED_COMMENTS)
            if is_open:
                return False
        else:
            return False
    return position == end
