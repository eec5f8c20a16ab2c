"""Values for the names of a query, `:origin`: where the names are, and how the values come to the database.

A driver takes them apart from the text, which then has its marks. Where rows would be slower so, as from PostgreSQL's
COPY, or where there is no such way, they are literals of the dialect, written so that no setting of the session and
nothing beside them changes what they mean.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from svc_jupyter.api.bindings import BindingType, Content, Value, Values, values_of
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.lexing import Token, tokens_of
from svc_jupyter.service.db_taps.statements import Bound, Statement
from svc_jupyter.sql_tokens import Dialect

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOTHING = Token("", 0)
_WITH_SLICES = frozenset({Dialect.POSTGRESQL, Dialect.REDSHIFT, Dialect.DUCKDB, Dialect.SNOWFLAKE, Dialect.CLICKHOUSE})
_BEFORE_OPERANDS: Final = frozenset(
    {
        *("SELECT", "DISTINCT", "ALL", "WHERE", "HAVING", "ON", "BY", "SET", "VALUES", "RETURN", "LIMIT", "OFFSET"),
        *("AND", "OR", "NOT", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "IS", "FROM", "TO", "ANY", "SOME"),
        *("CASE", "WHEN", "THEN", "ELSE", "ESCAPE", "AS", "USING", "DIV", "MOD", "GLOB", "MATCH"),
    }
)
"""Words that something must follow, also within brackets, where a `:` behind another word separates."""
_OPEN, _CLOSED = frozenset("([{"), frozenset(")]}")
_LARGEST = 2**63 - 1
_TIMES = frozenset({BindingType.TIME, BindingType.TIMESTAMP})
_MILLISECONDS, _MICROSECONDS = 3, 6
"""Digits of a second."""


class NotBound(QueryFailure):
    """Names and values do not fit together; `statement` is the one with the name, if a name is the cause."""

    def __init__(self, message: str, statement: Statement | None = None, position: int | None = None) -> None:
        super().__init__(message, position=position, may_retry=False)
        self.statement = statement


def values_given(bindings: Mapping[str, Any]) -> dict[str, Values]:
    """Return the values of a record's bindings. Raises `NotBound` for what a macro made of one."""
    try:
        return values_of(bindings)
    except ValueError as error:
        raise NotBound(f"bindings: {error}") from None


def bound(statements: Sequence[Statement], values: Mapping[str, Values], dialect: Dialect) -> list[Statement]:
    """Return the statements with the values of their names.

    Raises `NotBound` for a name without a value, a value without a name, and a text of which it is uncertain where its
    quotes and comments end.
    """
    found: list[Statement] = []
    used: set[str] = set()
    for statement in statements:
        places = []
        for name, start, is_in_list in _names(statement.text, dialect):
            if name not in values:
                raise NotBound(f":{name} has no value; there are values for {', '.join(values)}", statement, start)
            used.add(name)
            value = values[name]
            many = value if isinstance(value, tuple) else (value,)
            end = start + 1 + len(name)
            places.append(Bound(start, end, many, is_list=many is value, is_in_list=is_in_list))
        found.append(replace(statement, bound=tuple(places)))
    if unused := [name for name in values if name not in used]:
        names = ", ".join(f":{name}" for name in unused)
        raise NotBound(f"the query has no {names}, but there {'is a value' if len(unused) == 1 else 'are values'}")
    return found


def names_in(text: str, dialect: Dialect) -> list[str]:
    """Return the names in a text for which values can be given."""
    return [name for name, _, _ in _names(text, dialect)]


def _names(text: str, dialect: Dialect) -> Iterator[tuple[str, int, bool]]:
    """Yield each name, the offset of its `:`, and whether a comma or a parenthesis is on both of its sides."""
    tokens = tokens_of(text, dialect)
    if not tokens.is_whole:
        raise NotBound("a quote or a comment may be open: it is uncertain where the names of values are")
    found = tokens.found
    brackets: list[tuple[str, bool]] = []
    for place, token in enumerate(found):
        before = found[place - 1] if place else _NOTHING
        after = found[place + 1] if place + 1 < len(found) else _NOTHING
        if token.text in _OPEN:
            brackets.append((token.text, token.text == "[" and _ends_operand(before, token)))
        elif token.text in _CLOSED and brackets:
            brackets.pop()
        elif token.text == ":" and after.start == token.end and _NAME.fullmatch(after.text):
            bracket, is_subscript = brackets[-1] if brackets else ("", False)
            if _separates(before, token, bracket) or (is_subscript and dialect in _WITH_SLICES and before.text == "["):
                continue
            following = found[place + 2] if place + 2 < len(found) else _NOTHING
            yield after.text, token.start, before.text in ("(", ",") and following.text in (")", ",")


def _ends_operand(before: Token, token: Token) -> bool:
    """Return whether a token follows something that has a value, as in `column[1]`; `ARRAY[1]` makes one."""
    return before.end == token.start and (
        (bool(before.word) and before.word != "ARRAY") or before.text[-1:] in ("]", ")", '"', "`")
    )


def _separates(before: Token, colon: Token, bracket: str) -> bool:
    """Return whether a `:` stands between two others: `a:b`, `{'key': value}`, `column[first :last]`."""
    is_operand = bool(before.word) or before.text[-1:] in ("]", ")", '"', "`", "'") or before.text[:1].isdigit()
    if not is_operand or not before.text:
        return before.text == ":" and before.end == colon.start
    return before.end == colon.start or (bracket in ("[", "{") and before.word not in _BEFORE_OPERANDS)


def with_literals(statement: Statement, dialect: Dialect) -> Statement:
    """Return the statement with its values as literals. Raises `QueryFailure` for one that the dialect cannot write."""
    digits = _MILLISECONDS if dialect is Dialect.PRESTO else _MICROSECONDS

    def literal(value: Value) -> str:
        _check_digits(value, digits)
        return "NULL" if value.content is None else _WRITERS[dialect](value)

    return _replaced(statement, literal)


def with_marks(statement: Statement, mark: str, *, percent: str = "%") -> tuple[Statement, list[Value]]:
    """Return the statement with a driver's marks, `?` or `:p{}` with the value's number, and the values in order.

    `percent` is what the driver takes for a percent sign in a text with marks.
    """
    values: list[Value] = []

    def marked(value: Value) -> str:
        values.append(value)
        return mark.format(len(values))

    return _replaced(statement, marked, percent), values


def _replaced(statement: Statement, write: Callable[[Value], str], percent: str = "%") -> Statement:
    if not statement.bound:
        return statement
    parts = [(one.start, one.end, _text(one, write)) for one in statement.bound]
    if percent != "%":
        parts += [(found.start(), found.end(), percent) for found in re.finditer("%", statement.text)]
    texts: list[str] = []
    moves: list[tuple[int, int]] = []
    done = length = 0
    for start, end, text in sorted(parts):
        texts += [statement.text[done:start], text]
        length += start - done
        moves += [(length, start), (length + len(text), end)]
        length += len(text)
        done = end
    return replace(statement, text="".join([*texts, statement.text[done:]]), moves=tuple(moves))


def _text(one: Bound, write: Callable[[Value], str]) -> str:
    texts = ", ".join(map(write, one.values))
    return f"({texts})" if one.is_list and not one.is_in_list else texts


def python_value(value: Value, *, has_zones: bool = True) -> Any:
    """Return a value as Python's drivers take it. Raises `QueryFailure` for digits or a zone that they would drop."""
    content = value.content
    if not isinstance(content, str) or value.type is BindingType.STRING:
        return content
    _check_digits(value, _MICROSECONDS)
    if value.has_zone and not has_zones:
        raise QueryFailure(
            f"{content}: this database's times have no zone; give it in the zone of its column, without one",
            may_retry=False,
        )
    read: Callable[[str], Any] = {BindingType.DATE: date.fromisoformat, BindingType.TIME: time.fromisoformat}.get(
        value.type, datetime.fromisoformat
    )
    return read(content)


def _check_digits(value: Value, most: int) -> None:
    """Raise `QueryFailure` for a time with more digits of a second than the database keeps."""
    content = value.content
    if value.type not in _TIMES or not isinstance(content, str):
        return
    if re.search(rf"\.\d{{{most}}}\d*[1-9]", content):
        unit = "millisecond" if most == _MILLISECONDS else "microsecond"
        raise QueryFailure(
            f"{content}: this database has times to the {unit}; round it, or give it as a text", may_retry=False
        )


def sqlite_value(value: Value) -> Any:
    """Return a value as SQLite stores it: dates and times as text, a decimal as the float that its literal is."""
    content = value.content
    if isinstance(content, float) and math.isnan(content):
        raise QueryFailure("SQLite has no NaN: it would become NULL", may_retry=False)
    if isinstance(content, int) and not -_LARGEST - 1 <= content <= _LARGEST:
        raise QueryFailure(f"{content}: SQLite's integers have 64 bits; give it as a text", may_retry=False)
    return float(content) if isinstance(content, Decimal) else content


def _postgresql(value: Value) -> str:
    content = value.content
    if isinstance(content, bytes):
        return f"CAST(E'\\\\x{content.hex()}' AS bytea)"
    match value.type:
        case BindingType.STRING:
            return f"({postgresql_string(_without_nul(str(content)))})"
        case BindingType.DOUBLE:
            return f"CAST('{_double(content)}' AS double precision)"
        case BindingType.TIMESTAMP:
            return f"CAST('{content}' AS timestamp {'with' if value.has_zone else 'without'} time zone)"
        case BindingType.DATE | BindingType.TIME:
            return f"CAST('{content}' AS {value.type})"
    return _number(value)


def postgresql_string(text: str) -> str:
    """Return a string that has one meaning in every setting of a PostgreSQL server."""
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise QueryFailure("a string of this database cannot hold a NUL character", may_retry=False)
    return text


def _presto(value: Value) -> str:
    content = value.content
    if isinstance(content, bytes):
        return f"(X'{content.hex()}')"
    match value.type:
        case BindingType.STRING:
            doubled = str(content).replace("'", "''")
            return f"('{doubled}')"
        case BindingType.INTEGER if isinstance(content, int) and content == -_LARGEST - 1:
            return f"(BIGINT '{content}')"
        case BindingType.DOUBLE:
            return f"CAST('{_double(content)}' AS double)"
        case BindingType.DATE | BindingType.TIME | BindingType.TIMESTAMP:
            return f"CAST('{content}' AS {value.type}{' with time zone' if value.has_zone else ''})"
        case BindingType.DECIMAL:
            return f"(DECIMAL '{content:f}')"
    return _number(value)


_PLAIN: Final = re.compile(r"[^'\\$\x00-\x1f\x7f]*")
"""What has one meaning in every setting of Hive and Spark: with or without escapes, and `${variables}`."""


def _spark(value: Value) -> str:
    content = value.content
    if isinstance(content, bytes):
        return _unhex(content)
    match value.type:
        case BindingType.STRING if isinstance(content, str):
            return f"('{content}')" if _PLAIN.fullmatch(content) else f"CAST({_unhex(content.encode())} AS STRING)"
        case BindingType.DOUBLE:
            return f"CAST('{_double(content)}' AS double)"
        case BindingType.DATE | BindingType.TIMESTAMP:
            return f"CAST('{content}' AS {value.type})"
        case BindingType.DECIMAL:
            return f"({content:f}BD)"
        case BindingType.TIME:
            raise QueryFailure("this database has no type for a time of day: give it as a text", may_retry=False)
    return _number(value)


def _unhex(content: bytes) -> str:
    return f"unhex('{content.hex()}')"


def _double(content: Content) -> str:
    """Return a float in the words that Java reads, too."""
    return str(content).replace("inf", "Infinity").replace("nan", "NaN")


def _number(value: Value) -> str:
    """Return a boolean or a number; a sign would make a comment of the one before it."""
    if value.type is BindingType.BOOLEAN:
        return str(value.content).upper()
    text = f"{value.content:f}" if isinstance(value.content, Decimal) else str(value.content)
    return f"({text})" if text.startswith("-") else text


_WRITERS: Final[Mapping[Dialect, Callable[[Value], str]]] = {
    Dialect.POSTGRESQL: _postgresql,
    Dialect.REDSHIFT: _postgresql,
    Dialect.PRESTO: _presto,
    Dialect.HIVE: _spark,
    Dialect.SPARK: _spark,
}


def hint_for(message: str, text: str, dialect: Dialect) -> str | None:
    """Return how to give values, for a database's complaint about a name that has none."""
    if ":" not in message and "param" not in message.lower():
        return None
    try:
        names = names_in(text, dialect)
    except NotBound:
        return None
    if not names:
        return None
    shown = ", ".join(f":{name}" for name in dict.fromkeys(names))
    return (
        f"give {shown} a value by bindings; in a notebook: --bind {names[0]} (its variable) or --bind {names[0]}=TEXT"
    )
