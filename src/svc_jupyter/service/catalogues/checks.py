"""What is wrong with a script before it runs: statements that cannot be parsed, tables and columns that do not exist.

sqlglot parses it. What only the database can judge counts as right: statements that are no queries and change no rows,
tables of system schemas and other catalogues, and columns of tables that are not known.
Imported at its first use, as sqlglot takes 0.3 s and 40 MB.
"""

from __future__ import annotations

import logging
import re
from itertools import pairwise
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from svc_jupyter.api.catalogues import SqlProblem
from svc_jupyter.service.catalogues.unknown_names import KnownNames, names_of_tables, unknown_names
from svc_jupyter.service.db_taps.catalogue_file import CatalogueFile
from svc_jupyter.service.db_taps.lexing import sqlglot_name, tokens_of
from svc_jupyter.service.db_taps.statements import NotSeparable, Statement, split
from svc_jupyter.service.db_taps.suggestions import like
from svc_jupyter.sql_tokens import Dialect

CHECKED: Final = frozenset(
    {
        Dialect.SQLITE,
        Dialect.POSTGRESQL,
        Dialect.REDSHIFT,
        Dialect.MYSQL,
        Dialect.DUCKDB,
        Dialect.SPARK,
        Dialect.HIVE,
        Dialect.PRESTO,
    }
)
"""The dialects that are known well enough."""
_STARTS: Final = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")
"""The first words of statements that sqlglot knows well enough."""
_CLAUSES: Final = ("FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "JOIN", "UNION", "VALUES")
_CHANGING_NAMES: Final = ("CREATE", "DROP", "ALTER", "CACHE", "RENAME")
_CHANGING_NOTHING: Final = ("EXPLAIN", "SHOW", "DESCRIBE", "DESC", "BEGIN", "START", "COMMIT", "TRUNCATE", "ANALYZE")
_LONGEST: Final = 20_000
"""Characters of a statement; these take 0.6 s at worst."""
_MOST: Final = 50
"""Problems of one script."""
_MACRO: Final = re.compile(r"\$(\w+)\$")
_WORD: Final = re.compile(r"\w+")
_QUERY_OF_TABLE: Final = re.compile(r"\bas\b")
_NEW_OF_SELECT: Final = re.compile(r"\binto\b(.*?)\bfrom\b", re.DOTALL)
_QUOTES: Final = "'\"`["
_SHOWN: Final = 40
_EXPECTED: Final = re.compile(r"Expecting (\S{1,2})")

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # its warnings hold the statement


def problems(script: str, dialect: Dialect, file: CatalogueFile) -> list[SqlProblem]:
    """Return what is wrong with a script, in its order; names are checked if the catalogue was read.

    A script with a macro outside quotes is not checked, as anything may take its place.
    """
    text = _MACRO.sub(lambda macro: f"m_{macro[1]}", script)
    if dialect not in CHECKED or _has_open_macro(script, text, dialect):
        return []
    try:
        statements = split(text, dialect)
    except NotSeparable:
        return []
    parsed = [(statement, _parsed(statement, dialect)) for statement in statements]
    tables = {name for _, tree in parsed if isinstance(tree, exp.Expr) for name in names_of_tables(tree)}
    known = KnownNames.of(file, tables, dialect)
    found: list[SqlProblem] = []
    for statement, tree in parsed:
        of_statement: list[SqlProblem] = []
        if isinstance(tree, SqlProblem):
            of_statement = [tree]
        elif tree is not None and known is not None:
            of_statement = unknown_names(tree, statement.text, known)
        found += [
            problem.model_copy(update={"start": statement.start + problem.start, "end": statement.start + problem.end})
            for problem in of_statement
        ]
        if len(found) >= _MOST:
            break
        known = known and _after(known, statement)
    return found[:_MOST]


def _has_open_macro(script: str, text: str, dialect: Dialect) -> bool:
    """Return whether a macro stands outside quotes and comments."""
    places = [macro.start() for macro in _MACRO.finditer(script)]
    tokens = tokens_of(text, dialect).found if places else []
    open_tokens = [token for token in tokens if token.text[0] not in _QUOTES]
    return any(token.start <= place < token.end for token in open_tokens for place in places)


def _after(known: KnownNames, statement: Statement) -> KnownNames | None:
    """Return what is known after a statement; nothing after one that may have changed anything."""
    if statement.keyword in _CHANGING_NAMES:
        return known.without(_WORD.findall(_QUERY_OF_TABLE.split(statement.text.lower(), maxsplit=1)[0]))
    if statement.keyword in ("SELECT", "WITH"):
        return known.without(_WORD.findall(" ".join(_NEW_OF_SELECT.findall(statement.text.lower()))))
    return known if statement.keyword in (*_STARTS, *_CHANGING_NOTHING) else None


def _parsed(statement: Statement, dialect: Dialect) -> exp.Expr | SqlProblem | None:
    """Return a statement's tree, what is wrong with it, or nothing where that is uncertain."""
    if statement.keyword not in (*_STARTS, "CREATE"):
        return _misspelt(statement.text, statement.lead, statement.keyword, _STARTS)
    if len(statement.text) > _LONGEST:
        return None
    try:
        tree = sqlglot.parse_one(statement.text, dialect=sqlglot_name(dialect))
    except ParseError as error:
        return _unparsed(statement, error, dialect) if statement.keyword in _STARTS else None
    except (SqlglotError, ValueError, RecursionError):
        return None
    if isinstance(tree, exp.Create) and tree.kind not in ("TABLE", "VIEW"):  # a function has names of its own
        return None
    return _extra_comma(statement, dialect) or tree


def _extra_comma(statement: Statement, dialect: Dialect) -> SqlProblem | None:
    """Return the problem of a comma before FROM, which sqlglot reads over and only DuckDB allows."""
    tokens = tokens_of(statement.text, dialect).found if dialect is not Dialect.DUCKDB else []
    commas = (token for token, after in pairwise(tokens) if token.text == "," and after.word == "FROM")
    told = "The comma before FROM is one too many"
    return next((SqlProblem(start=comma.start, end=comma.end, message=told) for comma in commas), None)


def _unparsed(statement: Statement, error: ParseError, dialect: Dialect) -> SqlProblem | None:
    """Return the problem at the place where the parser stopped, or at a misspelt word before it."""
    [told, *_] = error.errors
    text = statement.text
    end = sum(len(line) + 1 for line in text.split("\n")[: told["line"] - 1]) + told["col"]
    tokens = tokens_of(text, dialect).found
    place = next((number for number, token in enumerate(tokens) if token.end >= end), None)
    if place is None:
        return None
    for token in tokens[max(0, place - 1) : place + 1]:
        if problem := _misspelt(text, token.start, token.word, _CLAUSES):
            return problem
    token = tokens[place]
    shown = token.text if len(token.text) <= _SHOWN else f"{token.text[:_SHOWN]} …"
    expected = _EXPECTED.match(told["description"])
    message = f"{expected[1]} is missing after {shown}" if expected else f"The statement cannot be read at {shown}"
    return SqlProblem(start=token.start, end=token.end, message=message)


def _misspelt(text: str, start: int, word: str, words: tuple[str, ...]) -> SqlProblem | None:
    """Return the problem of a word, at a place of a text, that is nearly one of some words, but none of them."""
    if not word or word in words or not (meant := like(word, words)):
        return None
    written = text[start : start + len(word)]
    offered = list(map(str.lower if written.islower() else str, meant))
    return SqlProblem(start=start, end=start + len(word), message=f"Unknown word {written}", did_you_mean=offered)
