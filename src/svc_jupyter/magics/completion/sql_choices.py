"""What can stand at the cursor of an SQL text: the statement's own names, and known tables and functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from svc_jupyter.magics.completion.known_tables import KnownTables, TableName
from svc_jupyter.magics.completion.sql_context import SqlContext
from svc_jupyter.magics.completion.sql_functions import functions_of
from svc_jupyter.magics.completion.sql_query import Clause, Output, Query, Source
from svc_jupyter.magics.completion.sql_words import OFFERED, STARTERS, written
from svc_jupyter.sql_tokens import Dialect

MOST = 1000
"""How many names are offered: more than anybody reads, and quick to show."""
_DEEPEST = 20
"""Subqueries through which columns are looked for."""
Choice = tuple[str, str]
"""A text that replaces what has been typed of a name, and its kind."""
_VALUES = (Clause.SELECT, Clause.COLUMN, Clause.SORT)
_WORDS = ("keyword", "function")
"""Kinds of the choices that name no data; they come last."""


def is_known_name(choice: Choice) -> bool:
    """Return whether a choice is the name of a schema, a table or a column."""
    return choice[1] not in _WORDS


def choices(context: SqlContext, known: KnownTables) -> list[Choice]:
    """Return the choices at the cursor, the likeliest kind first, each kind in its own order."""
    found: dict[str, str] = {}
    for text, kind in _all(context, known):
        found.setdefault(text, kind)
        if len(found) >= MOST:
            break
    return list(found.items())


def _all(context: SqlContext, known: KnownTables) -> Iterator[Choice]:
    position = context.position
    if context.qualifiers:
        yield from _qualified(context, known)
    elif position.is_after_operand or position.clause in (Clause.START, Clause.SYNTAX, Clause.AFTER_TABLE):
        yield from _syntax(context)
    elif position.clause is Clause.TABLE:
        yield from _tables(context, known)
        if context.prefix:
            yield from _made_functions(context, known)
    elif position.clause is Clause.SCHEMA:
        yield from _names(context, known.schemas(), "schema")
    elif position.clause is not Clause.NEW:
        yield from _columns(context, known)


def _names(context: SqlContext, names: Iterable[str], kind: str) -> Iterator[Choice]:
    """Yield the names that begin with what has been typed, as the statement has them."""
    prefix = context.prefix.lower()
    for name in names:
        if name.lower().startswith(prefix):
            yield written(name, context.dialect, context.quote, closed=not context.is_closed), kind


def _names_elsewhere(context: SqlContext, names: Iterable[tuple[str, str]], kind: str) -> Iterator[Choice]:
    """Yield `schema.name` of the names that begin with what has been typed, if anything has."""
    if context.prefix and not context.quote:
        prefix = context.prefix.lower()
        for schema, name in names:
            if name.lower().startswith(prefix):
                yield f"{written(schema, context.dialect)}.{written(name, context.dialect)}", kind


def _syntax(context: SqlContext) -> Iterator[Choice]:
    if context.quote:
        return
    words = STARTERS if context.position.clause is Clause.START else OFFERED
    for word in words:
        if word.lower().startswith(context.prefix.lower()):
            yield word.lower() if context.is_lower else word, "keyword"


def _functions(context: SqlContext) -> Iterator[Choice]:
    if not context.quote:
        for name in functions_of(context.dialect):
            if name.startswith(context.prefix.lower()):
                yield name if context.is_lower else name.upper(), "function"


def _made_functions(context: SqlContext, known: KnownTables) -> Iterator[Choice]:
    """Yield the functions that users have made, behind those of the default schema the others with their schemas."""
    is_short = context.dialect is not Dialect.SQLSERVER  # it calls even its own only as `dbo.f()`
    here, elsewhere = [], []
    for schema, name in _at_cursor(context, known):
        if is_short and schema == known.default_schema:
            here.append(name)
        else:
            elsewhere.append((schema, name))
    yield from _names(context, here, "function")
    yield from _names_elsewhere(context, elsewhere, "function")


def _at_cursor(context: SqlContext, known: KnownTables) -> Sequence[TableName]:
    """Return the functions that can be called here: behind FROM those that return rows, elsewhere the others."""
    position = context.position
    if context.dialect is Dialect.PRESTO:  # it calls none of Hive's
        return ()
    if position.clause is Clause.TABLE and position.query.is_select:
        return known.table_functions
    return known.functions if position.clause in _VALUES else ()


def _tables(context: SqlContext, known: KnownTables) -> Iterator[Choice]:
    yield from _names(context, _cte_names(context.position.query), "table")
    yield from _names(context, sorted(known.tables(known.default_schema), key=str.lower), "table")
    yield from _names(context, known.schemas(), "schema")
    yield from _names_elsewhere(context, known.elsewhere(), "table")


def _qualified(context: SqlContext, known: KnownTables) -> Iterator[Choice]:
    """Yield what can stand behind `schema.` or, in an expression, behind a table's name or alias."""
    *before, last = context.qualifiers
    if context.position.clause not in (Clause.TABLE, Clause.SCHEMA):
        source = None if before else _source(context.position.query, last)
        if source is not None:
            yield from _names(context, _columns_of(source, context.position.query, known), "column")
            return
        if (table := known.find(context.qualifiers)) is not None:
            yield from _names(context, known.columns(table), "column")
            return
    yield from _names(context, sorted(known.tables(last), key=str.lower), "table")
    functions = (name for schema, name in _at_cursor(context, known) if schema.lower() == last.lower())
    yield from _names(context, functions, "function")


def _columns(context: SqlContext, known: KnownTables) -> Iterator[Choice]:
    query = context.position.query
    if context.position.clause is Clause.SORT:
        yield from _names(context, (output.name for output in query.outputs if output.name), "column")
    sources = list(_visible(query))
    for source, owner in sources:
        yield from _names(context, _columns_of(source, owner, known), "column")
    yield from _names(context, (source.name for source, _ in sources if source.name), "table")
    if context.prefix:
        if not sources:
            yield from _tables(context, known)
        yield from _made_functions(context, known)
        yield from _syntax(context)
        yield from _functions(context)


def _cte_names(query: Query) -> list[str]:
    return [source.alias or "" for source in query.all_ctes().values()]


def _visible(query: Query | None) -> Iterator[tuple[Source, Query]]:
    """Yield the sources that a query's expressions can use, its own first, each with the query that has it."""
    while query is not None:
        for source in query.sources:
            yield source, query
        query = query.around()


def _source(query: Query, name: str) -> Source | None:
    return next((source for source, _ in _visible(query) if source.name.lower() == name.lower()), None)


def _columns_of(source: Source, query: Query, known: KnownTables, depth: int = 0) -> list[str]:
    """Return the columns of a source of a query, as far as they are known."""
    if source.columns or depth > _DEEPEST:
        return list(source.columns)
    if source.query is not None:
        return list(_outputs_of(source.query, known, depth + 1))
    cte = query.all_ctes().get(source.table[0].lower()) if len(source.table) == 1 else None
    if cte is not None and cte is not source:
        return _columns_of(cte, query, known, depth + 1)
    table = known.find(source.table) if source.table else None
    return known.columns(table) if table else []


def _outputs_of(query: Query, known: KnownTables, depth: int) -> Iterator[str]:
    for output in query.outputs:
        if output.name is not None:
            yield output.name
            continue
        for source in query.sources:
            if _is_all_of(output, source):
                yield from _columns_of(source, query, known, depth)


def _is_all_of(output: Output, source: Source) -> bool:
    return output.of is None or output.of.lower() == source.name.lower()
