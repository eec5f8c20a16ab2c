"""Files and partitions together: each kind has its own `DependencyChecker`; all run concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from svc_jupyter.service.schedules.dependencies import DependencyChecker, Needed


class EveryDependency:
    """A `DependencyChecker` that combines others."""

    def __init__(self, checkers: Sequence[DependencyChecker]) -> None:
        self._checkers = checkers

    async def found(self, account_id: int, keys: Sequence[Needed]) -> set[Needed]:
        """Return those that exist now. Raises the error of the first checker that fails."""
        found = await asyncio.gather(*(checker.found(account_id, keys) for checker in self._checkers))
        return set().union(*found)
