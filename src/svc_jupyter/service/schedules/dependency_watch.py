"""Checks regularly what actions wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from svc_jupyter.api.schedules import DependencyInfo
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import ServiceError
from svc_jupyter.service.schedules import dependency_looks
from svc_jupyter.service.schedules.dependencies import DependencyChecker, Needed, needed
from svc_jupyter.service.schedules.dependency_looks import Look, Sight
from svc_jupyter.service.schedules.materialisation import Materialisation
from svc_jupyter.service.schedules.rows import timetable_of
from svc_jupyter.service.schedules.times import from_seconds
from svc_jupyter.service.schedules.turns import Turns
from svc_jupyter.service.storage.failures import StorageFailure

_AT_ONCE = 16


class DependencyWatch:
    """Takes the checks that are due and writes their results."""

    def __init__(
        self, database: Database, work: Materialisation, checker: DependencyChecker, clock: Callable[[], float]
    ) -> None:
        self._database = database
        self._work = work
        self._checker = checker
        self._clock = clock
        # A check whose result could not be written is already planned again.
        self._turns = Turns(on_lost=lambda: None)
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def look(self) -> int:
        """Begin the checks that are due; return how many. Raises `Unavailable`."""
        looks = await self._database.write(partial(dependency_looks.take_due, now=self._clock()), durable=False)
        for look in looks:
            self._turns.add(look.schedule["id"], look.action["id"], partial(self._look_up, look))
        return len(looks)

    async def stop(self) -> None:
        """Stop all checks."""
        await self._turns.stop()

    async def _look_up(self, look: Look) -> None:
        async with self._places:
            sight = await self._sight(look)
        self._turns.settle(look.action["id"])
        if sight.is_news_for(look, self._clock()):
            await self._database.write(
                lambda connection: dependency_looks.note(connection, self._work, look, sight, self._clock())
            )

    async def _sight(self, look: Look) -> Sight:
        try:
            wanted = await asyncio.to_thread(_wanted, look)
        except (ValueError, OverflowError) as error:  # the window of this nominal time lies outside the calendar
            return Sight([], [], f"dependency_info: {error}")
        problem = None
        try:
            there = await self._checker.found(look.schedule["account_id"], wanted)
        except (StorageFailure, ServiceError) as error:
            there, problem = set(), error.message
        found = [item.key for item in wanted if item in there]
        return Sight(found, [item.key for item in wanted if item not in there], problem)


def _wanted(look: Look) -> list[Needed]:
    info = DependencyInfo.model_validate(look.schedule["dependency_info"] or {})
    return needed(info, from_seconds(look.action["nominal_time"]), timetable_of(look.schedule))
