"""Reads a statement that is being written: its tables, aliases and subqueries, and what the cursor's clause expects.

It is no parser: it follows the words that begin clauses, and parentheses, so nothing that is missing stops it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from svc_jupyter.magics.completion.sql_query import END, Clause, Opened, Part, Position, Query, Source, State
from svc_jupyter.magics.completion.sql_words import words

_CLAUSES = {
    **dict.fromkeys(words("JOIN INTO DESCRIBE DESC TRUNCATE"), Clause.TABLE),
    **dict.fromkeys(words("USE SCHEMA DATABASE"), Clause.SCHEMA),
    **dict.fromkeys(words("LIMIT OFFSET FETCH VALUES"), Clause.NEW),
    **dict.fromkeys(
        words("GROUP ORDER SORT DISTRIBUTE CLUSTER DELETE INSERT MERGE CREATE ALTER DROP UNION EXCEPT MINUS INTERSECT"),
        Clause.SYNTAX,
    ),
    **dict.fromkeys(words("WHERE HAVING QUALIFY RETURNING"), Clause.COLUMN),
    "BY": Clause.SORT,
}
"""Words that always begin the same clause."""
_IN_EXPRESSIONS = words("ON AND OR WHEN THEN ELSE CASE")
"""Words with an operand behind them."""
_ONLY_IN_COMMANDS = words("USE SCHEMA DATABASE DESC COLUMN IF ONLY OVERWRITE FORMATTED EXTENDED TABLES COLUMNS")
"""Words that are names anywhere but in the beginning of a command."""
_OPERANDS = words("END NULL")
_PLAIN = words("DISTINCT ALL AS")
_SUBQUERY = words("SELECT WITH VALUES FROM")
_NAMES_A_TABLE_BY_ON = words("CREATE GRANT REVOKE")
_DEEPEST = 100
"""Subqueries in subqueries that are followed."""


class Reader:
    """Reads the parts of one statement; `position` is where the part of kind cursor was."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._at = 0
        self._depth = 0
        self._head = next((part.word for part in parts if part.word not in ("EXPLAIN", "")), "")
        self._words: dict[str, Callable[[State], None]] = {
            "SELECT": State.select,
            "WITH": self._with,
            "FROM": self._from,
            "USING": self._using,
            "UPDATE": self._update,
            "TABLE": self._table,
            "VIEW": self._table,
            "ON": self._on,
            "IN": self._in,
            "SET": self._set,
            "LIKE": self._like,
            "COLUMN": self._column,
            "AS": self._as,
        }
        self.position: Position | None = None
        self._read(None)

    def _peek(self, ahead: int = 0) -> Part:
        at = self._at + ahead
        return self._parts[at] if 0 <= at < len(self._parts) else END

    def _read(self, outer: Query | None, *, is_source: bool = False) -> Query:
        """Read a query up to the parenthesis that closes it, and return its first SELECT."""
        self._depth += 1
        state = State(Query(outer, is_source=is_source))
        first = state.query
        while self._at < len(self._parts):
            part = self._peek()
            self._at += 1
            if part.is_mark(")") and not state.opened:
                if outer is None:
                    continue  # one too many
                break
            self._follow(state, part)
            state.previous = self._peek(-1)
        state.end_output()
        self._depth -= 1
        return first

    def _follow(self, state: State, part: Part) -> None:
        if part.kind == "cursor":
            self.position = state.position()
            self._name(state, part)
        elif part.kind == "mark":
            self._mark(state, part.text)
        elif part.kind == "value":
            state.see_expression(is_operand=True)
        elif part.is_name and not self._is_of_command(state, part):
            self._name(state, part)
        else:
            self._word(state, part.word)

    def _is_of_command(self, state: State, part: Part) -> bool:
        """Return whether a word that is a name elsewhere is a part of the command here."""
        if part.word not in _ONLY_IN_COMMANDS or self._peek().is_mark("."):
            return False
        clauses = [Clause.START, Clause.SYNTAX, Clause.TABLE, Clause.NEW]
        return state.clause in ([*clauses, Clause.AFTER_TABLE] if self._head == "ALTER" else clauses)

    def _word(self, state: State, word: str) -> None:
        if follow := self._words.get(word):
            follow(state)
        elif clause := _CLAUSES.get(word):
            state.begin(clause)
        elif word in _IN_EXPRESSIONS:
            self._expression(state)
        elif word in _PLAIN:
            state.is_after_operand = False
        else:
            state.see_expression(is_operand=word in _OPERANDS)

    def _expression(self, state: State) -> None:
        """Go on with an expression; behind SELECT it is a part of the list."""
        if state.clause is Clause.SELECT:
            state.see_expression(is_operand=False)
        else:
            state.begin(Clause.COLUMN)

    def _from(self, state: State) -> None:
        is_call = bool(state.opened) and not state.opened[-1].is_join
        if is_call or state.previous.word == "DISTINCT":  # EXTRACT(… FROM …), IS DISTINCT FROM
            state.is_after_operand = False
            return
        state.is_from_first = state.clause is Clause.START
        state.begin(Clause.TABLE)

    def _using(self, state: State) -> None:
        names_columns = self._peek().is_mark("(") and self._peek(1).word not in _SUBQUERY
        state.begin(Clause.COLUMN if names_columns else Clause.TABLE)

    def _update(self, state: State) -> None:
        state.begin(Clause.TABLE if state.clause is Clause.START else Clause.COLUMN)

    def _table(self, state: State) -> None:
        if state.previous.word == "LATERAL":  # LATERAL VIEW explode(…)
            state.begin(Clause.COLUMN)
        else:
            is_made = self._head == "CREATE" and state.clause is Clause.SYNTAX
            state.begin(Clause.NEW if is_made else Clause.TABLE)

    def _on(self, state: State) -> None:
        if self._head in _NAMES_A_TABLE_BY_ON and not state.query.sources:
            state.begin(Clause.TABLE)
        else:
            self._expression(state)

    def _in(self, state: State) -> None:
        if self._head == "SHOW":
            state.begin(Clause.SCHEMA)
        else:
            state.see_expression(is_operand=False)

    def _set(self, state: State) -> None:
        state.begin(Clause.NEW if state.clause is Clause.START else Clause.COLUMN)

    def _like(self, state: State) -> None:
        if self._head == "CREATE" and state.clause is Clause.NEW:
            state.begin(Clause.TABLE)
        else:
            state.see_expression(is_operand=False)

    def _column(self, state: State) -> None:
        state.begin(Clause.NEW if state.previous.word == "ADD" else Clause.COLUMN)

    def _as(self, state: State) -> None:
        """Follow AS, which stands before an alias, or before the query of a new table."""
        if state.clause in (Clause.NEW, Clause.SYNTAX) and not state.opened:
            state.begin(Clause.START)
        state.is_after_operand = False

    def _name(self, state: State, part: Part) -> None:
        """Follow a name: of a table, of an alias, or of a column; the cursor is one that is being written."""
        name = None if part.kind == "cursor" else part.text
        if state.clause is Clause.TABLE:
            names = [] if name is None else [name]
            while names and self._peek().is_mark(".") and self._peek(1).is_name:
                names.append(self._peek(1).text)
                self._at += 2
            state.query.sources.append(Source(tuple(names)))
            state.begin(Clause.AFTER_TABLE)
        elif state.clause is Clause.AFTER_TABLE:
            source = state.query.sources[-1] if state.query.sources else Source()
            source.alias = source.alias or name
        else:
            if state.clause is Clause.START:
                state.begin(Clause.SYNTAX)
            state.see_name(name)

    def _mark(self, state: State, mark: str) -> None:
        if mark == "(":
            self._open(state)
        elif mark == ")":
            state.clause = state.opened.pop().clause
            state.see_expression(is_operand=True)
        elif mark == "*":
            state.see_star()
        elif mark == "," and state.clause is Clause.AFTER_TABLE:
            state.begin(Clause.TABLE)
        elif mark == ",":
            state.end_output()
            state.is_after_operand = False
        elif mark != ".":
            state.see_expression(is_operand=False)

    def _open(self, state: State) -> None:
        """Follow an opening parenthesis: of a subquery, of joined tables, of a list, or of a call."""
        is_subquery = self._peek().word in _SUBQUERY and self._depth < _DEEPEST
        if is_subquery and state.clause is Clause.TABLE:
            is_lateral = state.previous.word == "LATERAL"
            state.query.sources.append(Source(query=self._read(state.query, is_source=not is_lateral)))
            state.begin(Clause.AFTER_TABLE)
        elif is_subquery:
            self._read(state.query)
            state.see_expression(is_operand=True)
        elif state.clause is Clause.TABLE:
            state.opened.append(Opened(Clause.AFTER_TABLE, is_join=True))
        elif state.clause is Clause.AFTER_TABLE and state.query.sources and state.query.sources[-1].alias:
            state.query.sources[-1].columns = self._listed()
        else:
            state.opened.append(Opened(state.clause, is_join=False))
            stays = state.clause in (Clause.NEW, Clause.START, Clause.SORT)
            state.begin(state.clause if stays else Clause.COLUMN)

    def _with(self, state: State) -> None:
        """Follow `WITH name (columns) AS (query), …`; elsewhere WITH is a word like others."""
        is_recursive = self._peek().word == "RECURSIVE"
        name, after = self._peek(is_recursive), self._peek(is_recursive + 1)
        if not (name.kind == "cursor" or (name.is_name and (after.word == "AS" or after.is_mark("(")))):
            return
        self._at += is_recursive
        state.begin(Clause.NEW)
        while self._peek().is_name:
            self._cte(state, is_recursive=is_recursive)
            if not self._peek().is_mark(","):
                state.begin(Clause.START)
                return
            self._at += 1

    def _cte(self, state: State, *, is_recursive: bool) -> None:
        alias = self._peek().text
        source = Source(alias=alias)
        self._at += 1
        if self._peek().is_mark("("):
            self._at += 1
            source.columns = self._listed()
        while self._peek().word in ("AS", "NOT", "MATERIALIZED"):
            self._at += 1
        if is_recursive:
            state.query.ctes[alias.lower()] = source
        if self._peek().is_mark("(") and self._depth < _DEEPEST:
            self._at += 1
            source.query = self._read(state.query, is_source=True)
        state.query.ctes[alias.lower()] = source

    def _listed(self) -> tuple[str, ...]:
        """Return the names up to the closing parenthesis, and go behind it."""
        names = []
        while self._peek().is_name or self._peek().is_mark(","):
            names += [self._peek().text] if self._peek().is_name else []
            self._at += 1
        self._at += self._peek().is_mark(")")
        return tuple(names)
