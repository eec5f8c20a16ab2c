"""Names that the author of a failed statement may have meant: "Did you mean dep_delay?"."""

from __future__ import annotations

import difflib
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from svc_jupyter.service.db_taps.statements import Statement, TableParts, tables_of
from svc_jupyter.sql_tokens import Dialect

SECONDS = 2
"""How long the names are looked up: the failure itself must not wait for longer."""
_MOST = 3
_LIKENESS = 0.7
_MOST_NAMES = 20_000
_COLUMN = (
    r"insert column name does not exist in target table: (?P<name>.+)",
    r"no such column: (?P<name>.+)",
    r"has no column named (?P<name>.+)$",
    r'column "(?P<name>[^"]+)"(?: of relation "[^"]+")? does not exist',
    r"column (?P<name>\S+) does not exist",
    r"unknown column '(?P<name>[^']+)'",
    r"invalid column name '(?P<name>[^']+)'",
    r"(?:column )?'(?P<name>[^']+)' cannot be resolved",
    r"with name (?P<name>`.+?`) cannot be resolved",
    r"cannot resolve '(?P<name>[^']+)' given input columns",
    r'referenced column "(?P<name>[^"]+)" not found',
    r'ORA-00904: (?P<name>"[^"]+"): invalid identifier',
)
_TABLE = (
    r"no such table: (?P<name>.+)",
    r'relation "(?P<name>[^"]+)" does not exist',
    r"table '(?P<name>[^']+)' doesn't exist",
    r"invalid object name '(?P<name>[^']+)'",
    r"table '?(?P<name>[^\s']+)'? does not exist",
    r"the table or view (?P<name>`.+?`) cannot be found",
    r"table or view not found: (?P<name>[^\s;]+)",
    r"table with name (?P<name>\S+) does not exist",
)
_PART = re.compile(r"`(?:[^`]|``)+`|\"(?:[^\"]|\"\")+\"|[^.`\"]+")
_SQLSTATE = re.compile(r"\s+SQLSTATE: \w{5}$")
_ADVICE = re.compile(r"(?<= cannot be found\.) Verify the spelling and correctness .*", re.DOTALL)
"""What Spark adds to every table that it does not know."""
_OFFERED = re.compile(r"Did you mean (?:one of the following\? \[(?P<names>[^\]]*)\]\.?|\"(?P<name>[^\"]+)\"\?)")
"""What Spark offers, and DuckDB."""
_QUOTES = "\"`'[]"

Known = Callable[[Sequence[TableParts], TableParts], Iterable[str]]
"""Returns the columns of some tables, or, without any, the names of the tables of a schema that the user can see.

An empty schema stands for all, or for the session's own.
"""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name that the database does not know, as the statement has it."""

    name: str
    is_column: bool

    @property
    def last(self) -> str:
        """The name without the schema, table or alias before it."""
        return self._parts[-1]

    @property
    def schema(self) -> TableParts:
        """What is before it, in parts."""
        return self._parts[:-1]

    @property
    def _parts(self) -> TableParts:
        return tuple(part.strip(_QUOTES) for part in _PART.findall(self.name)) or (self.name,)


def unknown_name(message: str) -> Unknown | None:
    """Return the unknown column or table that an engine's message reports."""
    for is_column, patterns in ((True, _COLUMN), (False, _TABLE)):
        for pattern in patterns:
            if found := re.search(pattern, message, re.IGNORECASE):
                return Unknown(found["name"].strip(), is_column)
    return None


def without_offer(message: str) -> tuple[str, list[str]]:
    """Return a message without the names that the engine itself offers and what goes with an offer, and these names."""
    message = _ADVICE.sub("", _SQLSTATE.sub("", message))
    found = _OFFERED.search(message)
    if found is None:
        return message, []
    names = [name.strip().rpartition(".")[2].strip(_QUOTES) for name in (found["names"] or found["name"]).split(",")]
    return (message[: found.start()] + message[found.end() :]).strip(), [name for name in names if name]


def suggestions(
    message: str, offered: Sequence[str], statement: Statement, dialect: Dialect, known: Known
) -> list[str]:
    """Return known names that are like the unknown one in a message, the likeliest first; often none.

    `known` is called in another thread and given up after `SECONDS`. Its failures are none of the statement's.
    """
    unknown = unknown_name(message)
    if unknown is None:
        return []
    names = list(offered)
    if not names:
        tables = tables_of(statement.text, dialect) if unknown.is_column else []
        if unknown.is_column and not tables:
            return []
        schema = () if unknown.is_column else unknown.schema
        names = _within(SECONDS, lambda: list(_first(known(tables, schema))))
    return like(unknown.last, names)


def like(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that are most like a name, in upper or lower case."""
    by_lower = {known.lower(): known for known in names}
    found = difflib.get_close_matches(name.lower(), by_lower, n=_MOST, cutoff=_LIKENESS)
    return [by_lower[lower] for lower in found if by_lower[lower] != name]


def question(names: Sequence[str]) -> str:
    """Return `Did you mean a, b or c?`."""
    *others, last = names
    return f"Did you mean {', '.join(others)} or {last}?" if others else f"Did you mean {last}?"


def occurrences(token: str, text: str) -> list[int]:
    """Return the positions of a token in a statement as a whole word, outside string literals and comments."""
    if not token:
        return []
    edge = r"(?<![\w$])" if token[0].isalnum() or token[0] == "_" else ""
    end = r"(?![\w$])" if token[-1].isalnum() or token[-1] == "_" else ""
    hidden = r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/" if not token.startswith("'") else r"--[^\n]*|/\*.*?\*/"
    wanted = re.compile(f"{hidden}|(?P<found>{edge}{re.escape(token)}{end})", re.DOTALL | re.IGNORECASE)
    return [match.start() for match in wanted.finditer(text) if match["found"] is not None]


def place_of(message: str, text: str) -> int | None:
    """Return the position in a statement of the unknown name that a message reports."""
    unknown = unknown_name(message)
    if unknown is None:
        return None
    places = occurrences(unknown.name, text) or occurrences(unknown.last, text)
    return places[0] if places else None


def _first(names: Iterable[str]) -> Iterable[str]:
    for number, name in enumerate(names):
        if number >= _MOST_NAMES:
            return
        yield name


def _within(seconds: float, look: Callable[[], list[str]]) -> list[str]:
    """Return what `look` returns in time; nothing when it fails or takes longer."""
    found: list[str] = []

    def run() -> None:
        try:
            found.extend(look())
        except Exception:  # noqa: BLE001  a driver may raise anything, and the statement's own failure matters more
            return

    thread = threading.Thread(target=run, name="names", daemon=True)
    thread.start()
    thread.join(seconds)
    return [] if thread.is_alive() else found
