"""The processes of sessions: one waits for the next session; all new ones run one Python."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from .processes import Ended, SessionProcess
from .zygote import Zygote

if TYPE_CHECKING:
    from .driver import Driver

_END_SECONDS = 5.0
_LOADING_SECONDS = 50.0


class Reserve:
    """Makes the processes. A former Python stays until the last of its processes has ended.

    `python -m benchmarks spark`: `SELECT 1` in a session of its own takes 0.8 times as long as in Spark Connect with a
    process that waits, and 1.5 times without.
    """

    def __init__(self, driver: Driver, zygote: Zygote, classes: Path) -> None:
        self._driver = driver
        self._zygote = zygote
        self._classes = classes
        self._retired: list[Zygote] = []
        self._count = 0
        self._spare: asyncio.Task[SessionProcess] | None = None

    @property
    def python(self) -> str:
        """The Python of new processes."""
        return self._zygote.python

    @property
    def can_go_on(self) -> bool:
        """Return whether new processes can be made."""
        return self._zygote.is_running

    def prepare(self) -> asyncio.Task[SessionProcess]:
        """Start making the process of the next session, unless it is there; return the task that makes it.

        Called when a statement has ended: while one runs, it would take the processors from it.
        """
        if self._spare is None:
            self._spare = asyncio.create_task(self._made(self._zygote, None))
        return self._spare

    async def take(self) -> SessionProcess:
        """Return a process with a new Spark session. Raises `Ended`."""
        spare, self._spare = self._spare, None
        if spare is not None:
            with contextlib.suppress(Ended):  # what was in its way then may be gone
                process = await spare
                if not process.has_ended:
                    return process
                await self._end(process)
        return await self._made(self._zygote, None)

    async def renewed(self, jvm_session: str) -> SessionProcess:
        """Return a new process for a Spark session whose process has ended. Raises `Ended`."""
        return await self._made(self._zygote, jvm_session)

    async def use(self, python: str) -> None:
        """Use another Python for new processes.

        Raises `Ended`, `OSError` if it does not run, or loads what it needs for too long: then nothing changes.
        """
        if python == self.python:
            return
        zygote = Zygote(python)
        made = asyncio.create_task(self._made(zygote, None))
        try:
            async with asyncio.timeout(_LOADING_SECONDS):
                await made
        except TimeoutError:
            await zygote.end()
            raise Ended(f"its Python was not ready after {_LOADING_SECONDS:.0f} s") from None
        except (Ended, OSError):
            await zygote.end()
            raise
        self._retired.append(self._zygote)
        self._zygote = zygote
        outdated, self._spare = self._spare, made
        if outdated is not None:
            with contextlib.suppress(Ended):
                await self._end(await outdated)

    async def end_retired(self) -> None:
        """End the zygotes of former Pythons that have no process left."""
        for zygote in [each for each in self._retired if not each.has_children]:
            self._retired.remove(zygote)
            await zygote.end()

    async def _end(self, process: SessionProcess) -> None:
        """End a process and release its Spark session."""
        await process.end(_END_SECONDS)
        await self._driver.forget(process.jvm_session)

    async def _made(self, zygote: Zygote, jvm_session: str | None) -> SessionProcess:
        self._count += 1
        settings = {"number": self._count, "classes": str(self._classes), "jvm_session": jvm_session}
        process = await zygote.fork(settings)
        await process.until_ready()
        return process
