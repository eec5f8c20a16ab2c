"""What a statement that is being written consists of, as far as completion needs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from svc_jupyter.magics.completion.sql_words import is_syntax


class Clause(Enum):
    """What the next name is."""

    START = auto()
    """The first word of a statement."""
    TABLE = auto()
    SCHEMA = auto()
    AFTER_TABLE = auto()
    """An alias, or a word of syntax."""
    SELECT = auto()
    """A column, in the list behind SELECT."""
    COLUMN = auto()
    SORT = auto()
    """A column, or a name that the list behind SELECT gives."""
    NEW = auto()
    """A name that there is not yet, or a value."""
    SYNTAX = auto()
    """A word of syntax."""


@dataclass(frozen=True, slots=True)
class Part:
    """A token. `kind` is word, name (in quotes), value (a string or a number), mark, cursor, or end."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """The word in capitals; empty for anything else."""
        return self.text.upper() if self.kind == "word" else ""

    @property
    def is_name(self) -> bool:
        """Whether it can be the name of a thing."""
        return self.kind == "name" or (self.kind == "word" and not is_syntax(self.word))

    def is_mark(self, mark: str) -> bool:
        """Return whether it is this mark."""
        return self.kind == "mark" and self.text == mark


END = Part("end", "")


@dataclass(frozen=True, slots=True)
class Output:
    """A column that a query returns. Without a name: all columns of the source `of`, or of all sources."""

    name: str | None
    of: str | None = None


@dataclass(slots=True)
class Source:
    """A table of a query, or a subquery, with its alias."""

    table: tuple[str, ...] = ()
    query: Query | None = None
    alias: str | None = None
    columns: tuple[str, ...] = ()
    """The names of its columns, where the statement gives them."""

    @property
    def name(self) -> str:
        """What stands before a column of it; empty without a name."""
        return self.alias or (self.table[-1] if self.table else "")


@dataclass(slots=True)
class Query:
    """One SELECT, or another statement."""

    outer: Query | None = None
    ctes: dict[str, Source] = field(default_factory=dict)
    """Common table expressions by name in lower case."""
    sources: list[Source] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    is_source: bool = False
    """Whether it stands in FROM or WITH, where the sources of the query around it cannot be used."""
    is_select: bool = False
    """Whether it has a SELECT, so that what returns rows can stand for a table."""

    def around(self) -> Query | None:
        """Return the next query outwards whose sources can be used here."""
        return self.outer.around() if self.outer and self.is_source else self.outer

    def all_ctes(self) -> dict[str, Source]:
        """Return the common table expressions that can be used here."""
        return {**(self.outer.all_ctes() if self.outer else {}), **self.ctes}


@dataclass(frozen=True, slots=True)
class Position:
    """Where the cursor is."""

    query: Query
    clause: Clause
    is_after_operand: bool
    """Whether a value or a name is directly before, so that no other can follow."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A parenthesis: the clause that goes on behind it, and whether it holds joined tables."""

    clause: Clause
    is_join: bool


@dataclass(slots=True)
class State:
    """What is known of a query while it is read."""

    query: Query
    clause: Clause = Clause.START
    is_after_operand: bool = False
    previous: Part = END
    opened: list[Opened] = field(default_factory=list)
    is_from_first: bool = False
    """Whether the query begins with FROM, as Hive's may."""
    _is_plain: bool = True
    """Whether the column of the list behind SELECT is only a name so far."""
    _is_star: bool = False
    _name: str | None = None

    def begin(self, clause: Clause) -> None:
        """Begin a clause."""
        self.end_output()
        self.clause, self.is_after_operand = clause, False

    def select(self) -> None:
        """Begin a SELECT; one that follows another, or a target, is a query of its own."""
        self.end_output()
        if self.query.outputs or (self.query.sources and not self.is_from_first):
            self.query = Query(self.query.outer, dict(self.query.ctes), is_source=self.query.is_source)
        self.query.is_select = True
        self.clause, self.is_after_operand = Clause.SELECT, False

    def position(self) -> Position:
        """Return where the cursor is, if it is here."""
        is_alias = self.previous.word == "AS" and self.clause is not Clause.START
        return Position(self.query, Clause.NEW if is_alias else self.clause, self.is_after_operand)

    def see_name(self, name: str | None) -> None:
        """Take note of a name in an expression: a column's, or its alias."""
        if self._is_listed():
            is_alias = self.is_after_operand and not self.previous.is_mark(".")
            self._name = name if self._is_plain or is_alias or self.previous.word == "AS" else None
        self.is_after_operand = True

    def see_star(self) -> None:
        """Take note of `*`: all columns, or a multiplication."""
        if self._is_listed() and self._is_plain and (self.previous.is_mark(".") or self._name is None):
            self._is_star = self.is_after_operand = True
        else:
            self.see_expression(is_operand=False)

    def see_expression(self, *, is_operand: bool) -> None:
        """Take note of something that is no name: only an alias gives such a column one."""
        if self._is_listed():
            self._is_plain, self._name = False, None
        self.is_after_operand = is_operand

    def end_output(self) -> None:
        """Keep the column that was read in the list behind SELECT."""
        if self._is_listed():
            if self._is_star:
                self.query.outputs.append(Output(None, self._name))
            elif self._name is not None:
                self.query.outputs.append(Output(self._name))
            self._is_plain, self._is_star, self._name = True, False, None

    def _is_listed(self) -> bool:
        return self.clause is Clause.SELECT and not self.opened
