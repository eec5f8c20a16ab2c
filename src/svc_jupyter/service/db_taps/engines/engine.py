"""What an engine is to a worker: it runs a script's statements in one go and gives the rows of each to a sink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.statements import Statement

TRANSACTION_KEYWORDS = frozenset(
    {"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE"}
)
"""A script that holds one of these decides itself what is committed when."""


class Sink(Protocol):
    """Takes what the statements of a script give."""

    def start(self, statement: Statement) -> None:
        """A statement begins: an error from here on is its error."""

    def table(self) -> None:
        """The statement returns a table: it takes the place of an earlier statement's."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Rows of the table; at least one batch, which may be empty, says what the columns are."""

    def done(self, changed: int | None) -> None:
        """The statement has run; `changed` rows were changed by it where the engine counts them."""

    def working(self, share: float) -> None:
        """The statement is this far, 0 to 1, as engines tell that know it; any thread may call it."""

    def restart(self) -> None:
        """Everything so far was rolled back, and the script begins anew."""


@dataclass(frozen=True, slots=True)
class TableName:
    """A table or view as the database names it."""

    name: str
    schema: str | None
    type: str


class Engine(Protocol):
    """A database, not connected yet. Every method raises `QueryFailure` with the database's own words."""

    def run(self, statements: Sequence[Statement], sink: Sink) -> None:
        """Run the statements in order and commit once after the last, so that all of them count or none.

        A script with transaction control of its own (`TRANSACTION_KEYWORDS`) is run as it stands.
        """

    def tables(self) -> list[TableName]:
        """Return the tables and views that the tap's user can see."""

    def cancel(self) -> None:
        """Ask the database to end what runs; called from another thread, at any time."""


def controls_transactions(statements: Sequence[Statement]) -> bool:
    """Return whether a script begins or ends transactions itself."""
    return any(
        statement.keyword in TRANSACTION_KEYWORDS or statement.keywords[:2] == ("SET", "TRANSACTION")
        for statement in statements
    )


def cannot_connect(address: str, reason: str) -> QueryFailure:
    """Return the failure for a database that cannot be reached or does not let the tap's user in."""
    return QueryFailure(f"cannot connect to {address}: {reason}")
