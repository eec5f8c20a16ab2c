"""Completion in SQL cells: Hive's catalogue, which answers at once, and the session with its temporary views."""

from __future__ import annotations

from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from svc_jupyter.magics.session.session import Session
from svc_jupyter.spark_kernel.cells import Cell
from svc_jupyter.spark_kernel.conversation import ANSWER_SECONDS, Conversation

if TYPE_CHECKING:
    from svc_jupyter.magics.completion.known_catalogues import KnownCatalogue
    from svc_jupyter.magics.completion.sql_choices import Choice

_BESIDE_SECONDS = 0.04
"""How long the session is waited for where the catalogue has an answer."""

_OF_SESSION = "name"
"""The kind of what the session offers: it may be a table, a view, or a column."""


class SqlCompletion:
    """Completes SQL cells of one kernel. What reads SQL is imported at the first use."""

    def __init__(self, session: Session, conversation: Conversation) -> None:
        self._session = session
        self._conversation = conversation

    @cached_property
    def _catalogue(self) -> KnownCatalogue:
        from svc_jupyter.magics.completion.known_catalogues import KnownCatalogue

        return KnownCatalogue(self._session, None)

    def complete(self, cell: Cell, cursor: int) -> tuple[int, list[Choice]]:
        """Return where in the cell's code what the choices at a cursor replace begins, and the choices."""
        from svc_jupyter.magics.completion.sql_choices import is_known_name
        from svc_jupyter.magics.completion.sql_completions import completions
        from svc_jupyter.sql_tokens import Dialect

        asking = self._conversation.ask_session(cell, cursor)
        found = completions(cell.code, cursor, self._catalogue, Dialect.SPARK)
        if asking is None or not found.takes_name:
            return found.start, found.choices
        names = list(takewhile(is_known_name, found.choices))
        seconds = _BESIDE_SECONDS if names else ANSWER_SECONDS
        live = asking.outcome() if asking.wait(seconds) else None
        if live is None:
            return found.start, found.choices
        before = cell.code[live.start : found.start]
        known = {text for text, _ in found.choices} | found.tables
        matches = [name.removeprefix(before) for name in live.matches if name.startswith(before)]
        added = [(name, _OF_SESSION) for name in matches if live.start <= found.start and name not in known]
        return found.start, [*names, *added, *found.choices[len(names) :]]
