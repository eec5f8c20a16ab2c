"""The interface of an engine for a worker: it runs a script's statements and passes the rows of each to a sink."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from svc_jupyter.service.db_taps.catalogue_file import DatabaseTables
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.statements import Statement, TableParts

TRANSACTION_KEYWORDS = frozenset(
    {"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE"}
)
"""A script with one of these words controls its own transactions."""


class Sink(Protocol):
    """Receives the results of a script's statements."""

    limit: int | None = None
    """The most rows that it takes of a table; further ones are dropped. None for all."""

    @property
    def is_full(self) -> bool:
        """Whether it has so many rows of the table: an engine that can stop then does so."""
        return False

    def start(self, statement: Statement) -> None:
        """A statement begins: further errors are its own."""

    def table(self) -> None:
        """The statement returns a table, which replaces an earlier statement's."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Rows of the table; at least one batch, which may be empty, defines the columns."""

    def became_text(self, column: str, reason: str) -> None:
        """Why a column is text, for the readers of the table; the first reason counts."""

    def done(self, changed: int | None) -> None:
        """The statement has run and changed `changed` rows, where the engine counts them."""

    def working(self, share: float) -> None:
        """The statement's progress, 0 to 1, from engines that know it; any thread may call it."""

    def restart(self) -> None:
        """Everything so far was rolled back, and the script starts again."""


@dataclass(frozen=True, slots=True)
class TableName:
    """A table or view, by the database's name for it."""

    name: str
    schema: str | None
    type: str


class Engine(Protocol):
    """A database, not connected yet. Every method raises `QueryFailure` with the database's own words."""

    def run(self, statements: Sequence[Statement], sink: Sink) -> None:
        """Run the statements in order and commit once after the last: all or nothing.

        A script with its own transaction control (`TRANSACTION_KEYWORDS`) runs unchanged.
        """

    def tables(self) -> list[TableName]:
        """Return the tables and views that the tap's user can see."""

    def known(self, tables: Sequence[TableParts], schema: TableParts = ()) -> Iterable[str]:
        """Return the columns of tables or, without any, the names of the tables that the user can see, of `schema`.

        An empty schema stands for all of them, or for the connection's own where only one can be listed at a time.
        Called in another thread after a failure, on a connection of its own. May raise anything.
        """

    def catalogue(self) -> DatabaseTables:
        """Return these tables with their columns and, where the database tells cheaply, their numbers of rows.

        Beside them it has the functions that users have made.
        """

    def cancel(self) -> None:
        """Ask the database to cancel running statements; called from another thread, at any time."""


def controls_transactions(statements: Sequence[Statement]) -> bool:
    """Return whether a script begins or ends transactions itself."""
    return any(
        statement.keyword in TRANSACTION_KEYWORDS or statement.keywords[:2] == ("SET", "TRANSACTION")
        for statement in statements
    )


def cannot_connect(address: str, reason: str) -> QueryFailure:
    """Return the failure for a database that is unreachable or rejects the tap's user."""
    return QueryFailure(f"cannot connect to {address}: {reason}")
