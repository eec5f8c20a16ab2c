"""Background work on actions: schedules run concurrently, the actions of one schedule one after the other.

So no schedule can take all slots, however slow its macros or its storage are.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

import structlog

from svc_jupyter.service.ground.errors import Unavailable

Work = Callable[[], Awaitable[None]]
log = structlog.get_logger(__name__)


class OrderedWork:
    """Runs work on the event loop. `on_lost` is called when the database was away, to find the action again."""

    def __init__(self, on_lost: Callable[[], None]) -> None:
        self._on_lost = on_lost
        self._queues: dict[int, deque[tuple[int, Work]]] = {}
        self._expected: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, schedule_id: int, action_id: int, work: Work) -> None:
        """Queue `work`; does nothing for an action whose work is already queued."""
        if action_id in self._expected:
            return
        self._expected.add(action_id)
        if schedule_id in self._queues:
            self._queues[schedule_id].append((action_id, work))
            return
        self._queues[schedule_id] = deque([(action_id, work)])
        task = asyncio.create_task(self._take_turns(schedule_id), name=f"schedule-{schedule_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def settle(self, action_id: int) -> None:
        """Let an action be queued again: its work is about to write its result, and later changes need new work."""
        self._expected.discard(action_id)

    async def stop(self) -> None:
        """Stop all work; unfinished work has no effect."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _take_turns(self, schedule_id: int) -> None:
        queue = self._queues[schedule_id]
        try:
            while queue:
                action_id, work = queue.popleft()
                await self._do(action_id, work)
        finally:
            del self._queues[schedule_id]

    async def _do(self, action_id: int, work: Work) -> None:
        try:
            await work()
        except Unavailable:
            self._on_lost()
        except Exception:  # the schedule's other actions continue; this one is found again after some minutes
            log.exception("action_not_advanced", action_id=action_id)
        finally:
            self._expected.discard(action_id)
