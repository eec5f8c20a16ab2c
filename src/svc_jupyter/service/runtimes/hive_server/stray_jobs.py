"""Jobs of ended statements. HiveServer2 ends the jobs of a cancelled statement; but one that it starts a moment later,
since it was still planning, would run to completion.
"""

from __future__ import annotations

import asyncio
from typing import Final

from svc_jupyter.service.runtimes.hive_server.jobs import Jobs

_LOOK_EVERY: Final = 1.0
_LOOKS: Final = 60


class StrayJobs:
    """Looks for the jobs of ended commands for a minute, and ends them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def end(self, address: str, mark: str) -> None:
        """End jobs with a mark that run or start; returns at once. `address` is the engine's, for REST calls."""
        task = asyncio.create_task(_end(Jobs(address), mark), name=f"stray jobs of {mark}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Stop looking."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _end(jobs: Jobs, mark: str) -> None:
    for _ in range(_LOOKS):
        await asyncio.to_thread(jobs.end, mark)
        await asyncio.sleep(_LOOK_EVERY)
