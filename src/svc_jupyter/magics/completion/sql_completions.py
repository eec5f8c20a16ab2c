"""Completion of an SQL text from what is known of a catalogue."""

from __future__ import annotations

from dataclasses import dataclass, field

from svc_jupyter.magics.completion.known_catalogues import KnownCatalogue
from svc_jupyter.magics.completion.sql_choices import Choice, choices
from svc_jupyter.magics.completion.sql_context import context_at
from svc_jupyter.magics.completion.sql_query import Clause
from svc_jupyter.sql_tokens import Dialect

_TAKES_NAME = frozenset({Clause.TABLE, Clause.SELECT, Clause.COLUMN, Clause.SORT})


@dataclass(frozen=True, slots=True)
class Found:
    """The choices at a cursor. What is chosen replaces the text from `start` up to the cursor."""

    start: int
    choices: list[Choice] = field(default_factory=list)
    takes_name: bool = False
    """Whether the name of a table or of a column can be here."""
    tables: frozenset[str] = frozenset()
    """Tables that are not offered, because a column is written here."""


def completions(text: str, cursor: int, catalogue: KnownCatalogue, dialect: Dialect | None = None) -> Found:
    """Return the choices at a cursor in an SQL text; `dialect` is the catalogue's, unless another one is given."""
    known = catalogue.tables()
    context = context_at(text, cursor, dialect or catalogue.dialect)
    if context is None:
        return Found(cursor)
    found = choices(context, known)
    if known.missing():
        catalogue.learn(known)
        found = choices(context, known)
    position = context.position
    is_column = position.clause is not Clause.TABLE and bool(position.query.sources)
    hidden = frozenset([*known.tables(known.default_schema), *known.schemas()] if is_column else [])
    return Found(context.start, found, position.clause in _TAKES_NAME and not position.is_after_operand, hidden)
