"""Begins the actions whose macros must be resolved, which takes a process of its own.

A macro with an endless loop takes a second of processor time. Schedules with slow macros share one slot, so that they
delay only each other.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import sqlalchemy as sa
import structlog

from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.remembering import remember
from svc_jupyter.service.macros.macros import MacroError, resolve, substitute
from svc_jupyter.service.macros.sandbox import WORKERS, MacroEngineError
from svc_jupyter.service.schedules.advance import Macros
from svc_jupyter.service.schedules.materialisation import Materialisation, Ready
from svc_jupyter.service.schedules.ordered_work import OrderedWork
from svc_jupyter.service.schedules.timetable import from_seconds

_SLOW_SECONDS = 0.5
_MOST_SLOW = 10_000
"""Schedules known to have slow macros; a forgotten one is recognised again at its next action."""
_ENGINE_RETRY_SECONDS = 1.0
_ENGINE_LONGEST_RETRY_SECONDS = 30.0
log = structlog.get_logger(__name__)


class Beginnings:
    """Resolves macros and begins their actions."""

    def __init__(
        self, database: Database, work: Materialisation, clock: Callable[[], float], on_lost: Callable[[], None]
    ) -> None:
        self._database = database
        self._work = work
        self._clock = clock
        self._turns = OrderedWork(on_lost)
        self._threads = ThreadPoolExecutor(WORKERS + 1, thread_name_prefix="macros")
        self._places = asyncio.Semaphore(WORKERS)
        self._place_of_the_slow = asyncio.Semaphore(1)
        self._slow: dict[int, None] = {}

    def add(self, item: Ready) -> None:
        """Begin an action as soon as its macros are resolved."""
        self._turns.add(item.schedule.id, item.action_id, partial(self._begin, item))

    async def stop(self) -> None:
        """Begin no further actions."""
        await self._turns.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _begin(self, item: Ready) -> None:
        ready: Ready | None = item
        while ready is not None:
            resolved, problem = await self._resolved(ready)
            self._turns.settle(item.action_id)
            ready = await self._database.write(partial(self._write, ready, resolved, problem))

    def _write(self, item: Ready, resolved: Macros, problem: str | None, connection: sa.Connection) -> Ready | None:
        return self._work.begin(connection, item, resolved, self._clock(), problem=problem)

    async def _resolved(self, item: Ready) -> tuple[Macros, str | None]:
        """Return the macros with their values, and the problem if they have none."""
        pause = _ENGINE_RETRY_SECONDS
        while True:
            try:
                return await self._evaluated_in_turn(item), None
            except MacroEngineError as error:
                log.warning("macros_not_resolved_yet", action_id=item.action_id, reason=error.message)
                await asyncio.sleep(pause)
                pause = min(2 * pause, _ENGINE_LONGEST_RETRY_SECONDS)
            except MacroError as error:
                return (), f"not run: {error}"

    async def _evaluated_in_turn(self, item: Ready) -> list[dict[str, Any]]:
        schedule_id = item.schedule.id
        if schedule_id not in self._slow:
            async with self._places:
                return await self._evaluated(item)
        async with self._place_of_the_slow:
            return await self._evaluated(item)

    async def _evaluated(self, item: Ready) -> list[dict[str, Any]]:
        begun = time.monotonic()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, _values, item)
        finally:
            if time.monotonic() - begun > _SLOW_SECONDS:
                remember(self._slow, item.schedule.id, None, most=_MOST_SLOW)
            else:
                self._slow.pop(item.schedule.id, None)


def _values(item: Ready) -> list[dict[str, Any]]:
    """Return the macros with their values. Raises `MacroError`, also when they do not fit the command's text."""
    schedule = item.schedule
    values = resolve(schedule.macros or [], from_seconds(item.nominal_time), schedule.time_zone)
    substitute(schedule.command, values)
    return values
