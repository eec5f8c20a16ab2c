"""A reserve of processes for sessions: some wait for the next sessions; all run one Python at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from pathlib import Path

from .driver import Driver
from .processes import Ended, SessionProcess, Zygote

_END_SECONDS = 5.0
_SPARES = 2
"""In a series of ten statements, each with its own session, the 95th percentile was 131 ms with one process in reserve
and 105 ms with two, the median 79 and 76 ms. Each uses about 10 MB of its own.
"""
_LATER_SECONDS = 0.3
"""Delay before the next process is made while the statement that took one still runs: at once it would take the
processors from a short statement.
"""


class Reserve:
    """Makes the processes. A former Python stays until the last of its processes has ended."""

    def __init__(self, driver: Driver, zygote: Zygote, classes: Path) -> None:
        self._driver = driver
        self._zygote = zygote
        self._classes = classes
        self._retired: list[Zygote] = []
        self._count = 0
        self._spares: deque[asyncio.Task[SessionProcess]] = deque()
        self._making = asyncio.Lock()

    @property
    def python(self) -> str:
        """The Python of new processes."""
        return self._zygote.python

    @property
    def can_go_on(self) -> bool:
        """Return whether new processes can be made."""
        return self._zygote.is_running

    def prepare(self) -> asyncio.Task[SessionProcess]:
        """Start making a process for a future session, unless there are enough; return the task of the next one.

        Called when a statement has ended, so that a series of statements does not wait for processes.
        """
        if len(self._spares) < _SPARES:
            self._spares.append(asyncio.create_task(self._spare(self._zygote)))
        return self._spares[0]

    async def take(self) -> SessionProcess:
        """Return a process with a new Spark session. Raises `Ended`."""
        for _ in range(_SPARES + 1):
            taken = self._spares.popleft() if self._spares else asyncio.create_task(self._spare(self._zygote))
            try:
                process = await asyncio.shield(taken)
            except Ended:
                continue  # it died while it waited
            finally:
                asyncio.get_running_loop().call_later(_LATER_SECONDS, self.prepare)
            return process
        raise Ended("no session could be made; the session server's log says why")

    async def renewed(self, jvm_session: str) -> SessionProcess:
        """Return a new process for a Spark session whose process has ended. Raises `Ended`."""
        return await self._made(self._zygote, jvm_session)

    async def use(self, python: str) -> None:
        """Use another Python for new processes. Raises `Ended`, `OSError` if it does not run: then nothing changes."""
        if python == self.python:
            return
        zygote = Zygote(python)
        try:
            made = await self._made(zygote, None)
        except (Ended, OSError):
            await zygote.end()
            raise
        self._retired.append(self._zygote)
        outdated, self._spares = self._spares, deque([asyncio.create_task(_same(made))])
        self._zygote = zygote
        for spare in outdated:
            with contextlib.suppress(Ended):
                await self.end(await spare)

    async def end(self, process: SessionProcess) -> None:
        """End a process and release its Spark session."""
        await process.end(_END_SECONDS)
        await self._driver.forget(process.jvm_session)

    async def end_retired(self) -> None:
        """End the zygotes of former Pythons that have no process left."""
        for zygote in [each for each in self._retired if not each.has_children]:
            self._retired.remove(zygote)
            await zygote.end()

    async def _spare(self, zygote: Zygote) -> SessionProcess:
        """Return a new process; they are made one after the other, so that the first is ready soon."""
        async with self._making:
            return await self._made(zygote, None)

    async def _made(self, zygote: Zygote, jvm_session: str | None) -> SessionProcess:
        self._count += 1
        settings = {"number": self._count, "classes": str(self._classes), "jvm_session": jvm_session}
        process = await zygote.fork(settings)
        await process.until_ready()
        return process


async def _same(process: SessionProcess) -> SessionProcess:
    return process
