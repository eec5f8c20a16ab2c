"""Tables and columns of a parsed statement that a catalogue does not have."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, Self, TypeAlias

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from svc_jupyter.api.catalogues import SqlProblem
from svc_jupyter.service.db_taps.catalogue_file import CatalogueFile
from svc_jupyter.service.db_taps.lexing import sqlglot_name
from svc_jupyter.service.db_taps.suggestions import like
from svc_jupyter.sql_tokens import Dialect

_OF_SYSTEMS: Final = re.compile(r"(?:pg_|sqlite_|duckdb_|pragma_|svv_|svl_|stl_|stv_)|dual$", re.IGNORECASE)
"""Tables that a catalogue leaves out, though they need no schema."""
_FILE: Final = re.compile(r"[/.*\\]")
"""Part of the name of a file, which DuckDB and Spark read as a table."""
_EVERYWHERE: Final = re.compile(
    r"[$@].*|_?rowid_?|oid|ctid|[xc]m(?:in|ax)|tableoid|filename|input__file__name|block__offset__inside__file|_metadata"
    r"|(?:current_|session_|system_)?user|current_\w+|local(?:time|timestamp)|default",
    re.IGNORECASE,
)
"""Names in expressions that no catalogue has."""
_WORD: Final = re.compile(r"\w+")
_MOST_COMPARED: Final = 100_000
"""Names that are compared for the offers of one script, which takes half a second."""
_HIVE: Final = "hive"
"""The catalogue of Presto that is Hive's."""
_FOLDS_TO_SMALL: Final = (Dialect.POSTGRESQL, Dialect.REDSHIFT)

Columns: TypeAlias = Mapping[str, str]
"""Names of columns as they are spelled, by the same in small letters."""


class Offers:
    """Looks for names that were meant, until a script has cost too many comparisons."""

    def __init__(self, file: CatalogueFile) -> None:
        self._file = file
        self._left = _MOST_COMPARED
        self._tables: list[tuple[str, str]] | None = None

    def tables(self, name: str, schema: str) -> list[str]:
        """Return the tables of a schema that are like a name."""
        if self._tables is None:
            self._tables = []
            with suppress(FileNotFoundError):  # another catalogue has taken its place
                rows, _ = self._file.tables(None, None, 0, _MOST_COMPARED)
                self._tables = [(schema, table) for schema, table, *_ in rows]
        return self.among(name, [table for of, table in self._tables if of.lower() == schema] if self._left > 0 else [])

    def among(self, name: str, names: Collection[str]) -> list[str]:
        """Return the names that are like a name."""
        if self._left <= 0:
            return []
        self._left -= len(names)
        return like(name, names)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """What a catalogue has of the tables that a script names; names are looked up in any case."""

    offers: Offers
    dialect: Dialect
    default_schema: str
    schemas: frozenset[str]
    tables: Mapping[str, Mapping[str, Columns]]
    """Columns by the table's name and its schema."""
    changed: frozenset[str] = frozenset()
    """Names that are no longer certain."""

    @classmethod
    def of(cls, file: CatalogueFile, names: Iterable[str], dialect: Dialect) -> Self | None:
        """Return what is known of the tables with these names; None where there is nothing to compare with."""
        try:
            schemas = frozenset(name.lower() for name, _ in file.schemas())
            default_schema = file.facts().default_schema or ""
            found = file.columns_of_all(names)
        except FileNotFoundError:
            return None
        tables: dict[str, dict[str, dict[str, str]]] = {}
        for schema, name, columns in found:
            of_table = tables.setdefault(name.lower(), {}).setdefault(schema.lower(), {})
            of_table.update({column.lower(): column for column in columns})
        return cls(Offers(file), dialect, default_schema.lower(), schemas, tables) if schemas else None

    def without(self, names: Iterable[str]) -> Self:
        """Return the same without names that a statement may have made or removed."""
        return replace(self, changed=self.changed | frozenset(names))

    def is_changed(self, name: str) -> bool:
        """Return whether a statement may have made or removed a table with this name."""
        words = set(_WORD.findall(name.lower()))
        return bool(words) and words <= self.changed


def names_of_tables(tree: exp.Expr) -> Iterator[str]:
    """Yield the names of all tables in a statement, without their schemas."""
    return (table.name for table in tree.find_all(exp.Table))


def unknown_names(tree: exp.Expr, text: str, known: KnownNames) -> list[SqlProblem]:
    """Return the unknown tables and columns of a statement, in its order."""
    names = _Names(tree, text, known)
    found = {problem.start: problem for problem in names.tables()}
    with suppress(SqlglotError, RecursionError):  # as where two subqueries of a query have no name
        found |= {problem.start: problem for problem in list(names.columns())}
    return [found[start] for start in sorted(found)]


@dataclass(slots=True)
class _Visible:
    """What the expressions of a query can use; other names are unknown only if it is certain that this is all."""

    is_certain: bool
    sources: dict[str, exp.Expr | Scope] = field(default_factory=dict)
    """Tables and subqueries by alias."""
    columns: dict[str, str] = field(default_factory=dict)


class _Names:
    """The names of one statement."""

    def __init__(self, tree: exp.Expr, text: str, known: KnownNames) -> None:
        self._tree = tree
        self._text = text
        self._known = known
        new = tree.this if isinstance(tree, exp.Create) else None
        self._new = {id(table) for table in new.find_all(exp.Table)} if new else set()
        self._new |= {id(table) for into in tree.find_all(exp.Into) for table in into.find_all(exp.Table)}
        named = [node.alias for kind in (exp.CTE, exp.Table, exp.Subquery, exp.UDTF) for node in tree.find_all(kind)]
        self._aliases = {name.lower() for name in named if name}
        is_change = isinstance(tree, (exp.Insert, exp.Update, exp.Delete))
        self._of_change = list(tree.walk(prune=lambda node: isinstance(node, exp.Query))) if is_change else []
        """The parts of a change that are in none of its queries."""
        within = [
            node for comprehension in tree.find_all(exp.Comprehension) for node in comprehension.find_all(exp.Column)
        ]
        self._in_comprehensions = {id(column) for column in within}
        self._outputs: dict[int, Columns | None] = {}

    def tables(self) -> Iterator[SqlProblem]:
        """Yield the unknown tables."""
        for table in self._tree.find_all(exp.Table):
            if self._is_unknown(table):
                meant = self._known.offers.tables(table.name, table.db.lower() or self._known.default_schema)
                yield self._problem(table.this, f"There is no table {table.name}", meant)

    def columns(self) -> Iterator[SqlProblem]:
        """Yield the unknown columns."""
        for scope in traverse_scope(self._tree):
            if isinstance(scope.expression, exp.Select):
                yield from self._columns_of_query(scope)
        yield from self._columns_of_change()

    def _found(self, table: exp.Table) -> Mapping[str, Columns] | None:
        """Return the tables that a name may mean, by schema; None where it may mean something else."""
        name, schema, catalogue = table.name.lower(), table.db.lower(), table.catalog.lower()
        if not isinstance(table.this, exp.Identifier) or id(table) in self._new or self._known.is_changed(name):
            return None
        if catalogue and (self._known.dialect, catalogue) != (Dialect.PRESTO, _HIVE):
            return None
        if schema:
            return self._known.tables.get(name, {}) if schema in self._known.schemas else None
        if name in self._aliases or _OF_SYSTEMS.match(name) or _FILE.search(name):
            return None
        return self._known.tables.get(name, {})

    def _is_unknown(self, table: exp.Table) -> bool:
        found = self._found(table)
        return found is not None and (table.db.lower() not in found if table.db else not found)

    def _columns_of_table(self, table: exp.Table) -> Columns | None:
        found = self._found(table)
        schema = table.db.lower() or self._known.default_schema
        if found is None or schema not in found or table.args.get("pivots"):
            return None
        return {**found[schema], **{name.lower(): name for name in table.alias_column_names}}

    def _columns_of(self, source: exp.Expr | Scope) -> Columns | None:
        """Return the columns of a source of a query; None where they are not known."""
        if isinstance(source, exp.Table):
            return self._columns_of_table(source)
        if not isinstance(source, Scope):
            return None
        if id(source) not in self._outputs:
            self._outputs[id(source)] = None  # a query that reads itself
            self._outputs[id(source)] = self._outputs_of(source)
        return self._outputs[id(source)]

    def _outputs_of(self, scope: Scope) -> Columns | None:
        query, around = scope.expression, scope.expression.parent
        while isinstance(around, exp.SetOperation):  # of which a recursive query reads the first
            around = around.parent
        if isinstance(around, (exp.CTE, exp.Subquery)) and around.alias_column_names:
            return {name.lower(): name for name in around.alias_column_names}
        if isinstance(query, exp.SetOperation) and scope.set_operation_scopes:
            return self._columns_of(scope.set_operation_scopes[0])
        if not isinstance(query, exp.Select) or (around and around.args.get("pivots")):
            return None
        found: dict[str, str] = {}
        for output in query.selects:
            if output.is_star:
                of = output.text("table").lower()
                stars = [source for name, (_, source) in scope.selected_sources.items() if of in ("", name.lower())]
                for columns in map(self._columns_of, stars):
                    if columns is None:
                        return None
                    found |= columns
            elif output.output_name:
                found[output.output_name.lower()] = output.output_name
            else:
                return None  # the database names it
        return found

    def _visible_in(self, scope: Scope) -> _Visible:
        visible = _Visible(is_certain=bool(scope.selected_sources))
        around: Scope | None = scope
        while around is not None:
            for name, (_, source) in around.selected_sources.items():
                visible.sources.setdefault(name.lower(), source)
            if isinstance(around.expression, exp.Select):
                aliases = [output.alias for output in around.expression.selects]
                visible.columns |= {alias.lower(): alias for alias in aliases if alias}
            if around.parent is not None and (around.is_cte or around.is_derived_table):
                around = around.parent  # whose own tables are not visible here
            around = around.parent
        for table in () if isinstance(self._tree, exp.Insert) else self._of_change:
            if isinstance(table, exp.Table):
                visible.sources.setdefault(table.alias_or_name.lower(), table)
        for columns in map(self._columns_of, visible.sources.values()):
            visible.is_certain &= columns is not None
            visible.columns |= columns or {}
        return visible

    def _columns_of_query(self, scope: Scope) -> Iterator[SqlProblem]:
        visible = self._visible_in(scope)
        names = visible.columns.keys() | self._aliases | visible.sources.keys()
        for column in scope.find_all(exp.Column):
            name, table = column.name.lower(), column.table.lower()
            if column.db or self._is_elsewhere(column):
                continue
            if table and table in visible.sources:
                known = self._columns_of(visible.sources[table])
                if known is not None and name not in known:
                    yield self._no_column(column.this, known)
            elif visible.is_certain and not table and name not in names:
                yield self._no_column(column.this, visible.columns)
            elif visible.is_certain and table and table not in names:
                message = f"No table of this query has the name {column.table}"
                yield self._problem(
                    column.args["table"], message, self._known.offers.among(column.table, visible.sources)
                )

    def _columns_of_change(self) -> Iterator[SqlProblem]:
        """Yield the unknown columns that an INSERT names, and those of an UPDATE or a DELETE of one table."""
        tree = self._tree
        tables = [node for node in self._of_change if isinstance(node, exp.Table)]
        known = self._columns_of_table(tables[0]) if len(tables) == 1 else None
        if known is None:
            return
        if isinstance(tree, exp.Insert):
            named = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
            places = [name for name in named if isinstance(name, exp.Identifier)]
        else:
            columns = [node for node in self._of_change if isinstance(node, exp.Column)]
            places = [column.this for column in columns if not (column.table or self._is_elsewhere(column))]
        yield from (self._no_column(place, known) for place in places if place.name.lower() not in known)

    def _is_elsewhere(self, column: exp.Column) -> bool:
        """Return whether something else than a column of a table can have this name."""
        place = column.this
        if not isinstance(place, exp.Identifier) or _EVERYWHERE.fullmatch(column.name):
            return True
        is_text = self._known.dialect is Dialect.SQLITE and self._text[place.meta["start"]] == '"'
        return is_text or id(column) in self._in_comprehensions

    def _no_column(self, place: exp.Expr, known: Columns) -> SqlProblem:
        return self._problem(
            place, f"There is no column {place.name}", self._known.offers.among(place.name, known.values())
        )

    def _problem(self, place: exp.Expr, message: str, meant: Iterable[str]) -> SqlProblem:
        written = [_written(name, self._known.dialect) for name in meant]
        return SqlProblem(start=place.meta["start"], end=place.meta["end"] + 1, message=message, did_you_mean=written)


def _written(name: str, dialect: Dialect) -> str:
    """Return a name as it stands in a statement, in quotes where it needs them."""
    plain = r"[a-z_][a-z0-9_]*" if dialect in _FOLDS_TO_SMALL else r"[A-Za-z_][A-Za-z0-9_]*"
    return exp.to_identifier(name, quoted=not re.fullmatch(plain, name)).sql(dialect=sqlglot_name(dialect))
