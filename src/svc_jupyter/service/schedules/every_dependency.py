"""Files and partitions together: each kind is looked up by its own `DependencyChecker`, all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from svc_jupyter.service.schedules.dependencies import DependencyChecker, Needed


class EveryDependency:
    """A `DependencyChecker` made of others."""

    def __init__(self, checkers: Sequence[DependencyChecker]) -> None:
        self._checkers = checkers

    async def found(self, account_id: int, keys: Sequence[Needed]) -> set[Needed]:
        """Return those that are there now. Raises what the first checker raises that cannot know."""
        found = await asyncio.gather(*(checker.found(account_id, keys) for checker in self._checkers))
        return set().union(*found)
