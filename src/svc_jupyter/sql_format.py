"""The layout of SQL in cells: line breaks, indentation and spaces change, and nothing else.

shandy-sqlfmt makes it, as in projects of dbt. It knows no dialect whole and writes words in small letters. So it gets
names in place of what it may misread (texts, `:name`, `$macro$`), and its answer counts only where the tokens are the
same ones; they are the author's again then. Front ends import this module; the library is loaded at its first use
(0.3 s).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from svc_jupyter.sql_cells import sections
from svc_jupyter.sql_tokens import Dialect, Token, tokens_of

_WIDTH: Final = 88
_LONGEST: Final = 20_000
"""Characters of a statement; a longer one would take more than a second."""
_LONGEST_CELL: Final = 200_000
_DEEPEST: Final = 50
"""Parentheses within each other."""
_ON_ANY_DATABASE: Final = (Dialect.POSTGRESQL, Dialect.MYSQL, Dialect.SQLITE)
_DIALECTS: Final = {
    "svc_db": _ON_ANY_DATABASE,
    "svc_hive": (Dialect.HIVE,),
    "svc_presto": (Dialect.PRESTO,),
    "svc_sql": (Dialect.SPARK,),
    "sql": (Dialect.SPARK, *_ON_ANY_DATABASE),  # also that of other extensions
    "spark.sql": (Dialect.SPARK,),
}
"""The dialects of each magic's cell: what differs between them stays as it is."""
_MACRO: Final = re.compile(r"\$(\w+)\$")
_HINT: Final = ("/*+", "/*!")
_APART: Final = frozenset("()[]{},.")


class NotFormatted(ValueError):
    """A cell without SQL, or a very long one."""


@dataclass(frozen=True, slots=True)
class Formatted:
    """A cell's text, and the lines of the original, from 1, with statements whose layout stays."""

    text: str
    kept: tuple[int, ...] = ()

    @property
    def note(self) -> str | None:
        """What is said of them."""
        if not self.kept:
            return None
        *others, last = map(str, self.kept)
        lines = f"lines {', '.join(others)} and {last} stay" if others else f"line {last} stays"
        return f"The SQL at {lines} as written: with another layout it might mean something else"


def formatted_cell(cell: str) -> Formatted:
    """Return a cell with its SQL in a readable layout; its magics and other parts stay. Raises `NotFormatted`."""
    if len(cell) > _LONGEST_CELL:
        raise NotFormatted(f"the cell is longer than {_LONGEST_CELL:,} characters; its layout stays as it is")
    parts: list[str] = []
    kept: list[int] = []
    has_sql = False
    for section in sections(cell):
        body, dialects = section.body, _DIALECTS.get(section.magic, ())
        parts.append(section.head)
        if not dialects or not body.strip():
            parts += [body] if body else []
            continue
        has_sql = True
        found = formatted(body, dialects)
        first = cell.count("\n", 0, section.start) + 1
        parts.append(found.text)
        kept += [first + line - 1 for line in found.kept]
    if not has_sql:
        raise NotFormatted("the cell has no SQL: no query below %%svc_db, %%svc_hive, %%svc_presto or %%svc_sql")
    return Formatted("\n".join(parts), tuple(kept))


def formatted(script: str, dialects: Sequence[Dialect]) -> Formatted:
    """Return a script with each of its statements in a readable layout; one with an uncertain layout stays as it is."""
    ends, *others = (_ends(script, dialect) for dialect in dialects)
    if any(other != ends for other in others):
        return Formatted(script.strip("\n"), (_line(script, 0),))
    parts: list[str] = []
    kept: list[int] = []
    for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(script)], strict=True):
        text = script[start:end].strip()
        laid_out = _statement(text, dialects) if text else ""
        if laid_out is None:
            kept.append(_line(script, start))
        mark = ";" if end < len(script) else ""
        parts += [(laid_out or text) + mark] if text or mark else []
    return Formatted("\n\n".join(parts), tuple(kept))


def _ends(script: str, dialect: Dialect) -> list[int]:
    return [token.start for token in tokens_of(_without_macros(script), dialect) if token.kind == "semicolon"]


def _without_macros(text: str) -> str:
    """Return a text with a name of the same length in place of each `$macro$`, which PostgreSQL reads as a quote."""
    return _MACRO.sub(lambda macro: f"m_{macro[1]}", text)


def _line(script: str, start: int) -> int:
    """Return the line of the first character that is no space."""
    return script.count("\n", 0, len(script) - len(script[start:].lstrip())) + 1


def _statement(text: str, dialects: Sequence[Dialect]) -> str | None:
    """Return a statement in another layout; None when that is uncertain."""
    pieces = _pieces(f"{text}\n", dialects[0])
    if len(text) > _LONGEST or any(piece.is_open for piece in pieces) or _depth(text, pieces) > _DEEPEST:
        return None
    laid_out = _laid_out(text, pieces, dialects[0])
    if laid_out is None or any(_content(laid_out, dialect) != _content(text, dialect) for dialect in dialects):
        return None
    return laid_out


@dataclass(frozen=True, slots=True)
class _Piece:
    """What stays together, from `start` to `end`; a name stands for it in what the library gets."""

    start: int
    end: int
    is_open: bool
    is_comment: bool = False
    is_named: bool = False


def _pieces(text: str, dialect: Dialect) -> list[_Piece]:
    """Return the tokens of a statement, `:name`, `$macro$` and `e'text'` as one piece each."""
    found: list[_Piece] = []
    for token in tokens_of(_without_macros(text), dialect, comments=True):
        piece = _Piece(token.start, token.end, token.is_open, token.kind == "comment")
        is_text = token.kind in ("quote", "dollar")
        before = found[-1] if found and found[-1].end == token.start and not piece.is_comment else None
        if before is not None and not before.is_comment:
            begun = text[before.start : before.end]
            is_value = begun in "$@" or (begun == ":" and _begins_name(text, before.start))
            if (is_value and (is_text or token.kind in ("word", "number"))) or (is_text and begun.isalnum()):
                found[-1] = _Piece(before.start, token.end, token.is_open, is_named=True)
                continue
        found.append(replace(piece, is_named=is_text or "$" in text[token.start : token.end]))
    return found


def _begins_name(text: str, colon: int) -> bool:
    """Return whether a colon is not of `::`, nor of a slice or a path."""
    before = text[colon - 1 : colon]
    return not before or not (before.isalnum() or before in "_:])\"'`$")


def _depth(text: str, pieces: Sequence[_Piece]) -> int:
    depth = deepest = 0
    for piece in pieces:
        depth += {"(": 1, ")": -1}.get(text[piece.start : piece.end], 0)
        deepest = max(deepest, depth)
    return deepest


def _laid_out(text: str, pieces: Sequence[_Piece], dialect: Dialect) -> str | None:
    """Return the text in the library's layout; None where it does not keep its pieces."""
    from sqlfmt.api import format_string
    from sqlfmt.exception import SqlfmtError
    from sqlfmt.mode import Mode

    given, at = "", 0
    for number, piece in enumerate(pieces):
        given += text[at : piece.start] + _stand_in(text[piece.start : piece.end], number, piece)
        at = piece.end
    try:
        answer = format_string(given, Mode(dialect_name="clickhouse", line_length=_WIDTH, no_jinjafmt=True))
    except (SqlfmtError, RecursionError):
        return None
    written = {
        is_comment: [text[piece.start : piece.end] for piece in pieces if piece.is_comment is is_comment]
        for is_comment in (False, True)
    }
    made, at = "", 0
    for token in tokens_of(answer, dialect, comments=True):
        left = written[token.kind == "comment"]
        if not left:
            return None
        made += answer[at : token.start] + left.pop(0).rstrip()
        at = token.end
    return None if any(written.values()) else (made + answer[at:]).strip()


def _stand_in(written: str, number: int, piece: _Piece) -> str:
    """Return what the library gets for a piece: comments are short, as it breaks long ones."""
    if piece.is_named:
        return f"q{number}_".ljust(len(written), "_")
    if piece.is_comment and not written.startswith(_HINT):
        return f"/* {number} */" if written.startswith("/*") else f"-- {number}"
    return written


def _content(text: str, dialect: Dialect) -> tuple[list[tuple[str, bool]], list[str]]:
    """Return the tokens of a statement, each with whether it must touch the one before it, and the comments."""
    tokens: list[tuple[str, bool]] = []
    comments: list[str] = []
    before = Token("other", -1, -1)
    for token in tokens_of(_without_macros(text), dialect, comments=True):
        written = text[token.start : token.end].rstrip()
        if token.kind == "comment" and not written.startswith(_HINT):
            comments.append(written)
            continue
        touches = before.end == token.start and _is_tied(text[before.end - 1 : before.end], before, written, token)
        tokens.append((written, touches))
        before = token
    return tokens, comments


def _is_tied(last: str, before: Token, written: str, token: Token) -> bool:
    """Return whether a space between two tokens might matter: within an operator, and before a text."""
    if token.kind in ("quote", "dollar"):
        return before.kind != "other" or last in "$@:"
    if last == "$":
        return True  # of a name
    is_sign = written in "+-:$" and last in "=<>*/"
    return before.kind == token.kind == "other" and not is_sign and not {last, written} & _APART
