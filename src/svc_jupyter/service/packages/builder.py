"""The builder: runs a few activities of environments at a time in each replica, from their claim to their end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import psutil
import structlog

from svc_jupyter.api.package_environments import EnvironmentType
from svc_jupyter.service.commands.queue import Replica
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.background import insist, run_forever
from svc_jupyter.service.ground.errors import Invalid, Unavailable
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.packages import versions, work_queue
from svc_jupyter.service.packages.activity_rows import CHANGED
from svc_jupyter.service.packages.installer import DISK_FULL, BuildFailure, Installer
from svc_jupyter.service.packages.languages import requirements_of
from svc_jupyter.service.packages.work_queue import Work
from svc_jupyter.service.processes.marks import marked_processes

_AT_ONCE = 2
_LOOK_SECONDS = 5.0
"""How soon it notices the activities of a lost replica, or versions whose users have ended."""
log = structlog.get_logger(__name__)


class Builder:
    """Performs the activities in the rows. A stopping service leaves its work to the next one."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        bus: Bus,
        installers: Mapping[EnvironmentType, Installer],
        replica: Callable[[], Replica],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._data_dir = settings.data_dir
        self._min_free_bytes = settings.min_free_disk_bytes
        self._database = database
        self._installers = installers
        self._replica = replica
        self._clock = clock
        self._changed = asyncio.Event()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._loop: asyncio.Task[None] | None = None
        bus.subscribe(CHANGED, lambda _: self._changed.set())

    async def start(self) -> None:
        """Start work, first on what a lost service has left."""
        self._loop = asyncio.create_task(run_forever("packages", self._step), name="packages")

    async def stop(self) -> None:
        """Stop running builds; the next service starts them again."""
        if self._loop is None:
            return
        tasks = [self._loop, *self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(Unavailable):
            await self._database.write(partial(work_queue.give_back, replica=self._replica()))

    async def are_active(self) -> bool:
        """Return whether work is pending, so that the embedded service must stay."""
        return await self._database.read(work_queue.some_are_open)

    async def _step(self) -> None:
        self._changed.clear()
        await self._end_those_of_deleted()
        while len(self._tasks) < _AT_ONCE and (work := await self._claimed()) is not None:
            task = asyncio.create_task(self._perform(work), name=f"package-activity-{work.id}")
            self._tasks[work.id] = task
            task.add_done_callback(partial(self._ended, work.id))
        await self._sweep()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_SECONDS):
                await self._changed.wait()

    async def _claimed(self) -> Work | None:
        if not await self._database.look_up(work_queue.some_are_open):
            return None  # an empty check needs no wait for the disk
        claim = partial(work_queue.claim, replica=self._replica(), now=self._clock())
        return await self._database.write(claim)

    def _ended(self, activity_id: int, task: asyncio.Task[None]) -> None:
        self._tasks.pop(activity_id, None)
        self._changed.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("package_activity_not_ended", activity_id=activity_id, exc_info=error)

    async def _end_those_of_deleted(self) -> None:
        if not self._tasks:
            return
        deleted = await self._database.look_up(partial(work_queue.of_deleted, replica=self._replica()))
        for activity_id in deleted & self._tasks.keys():
            self._tasks[activity_id].cancel()
            await self._database.write(partial(work_queue.forget, activity_id=activity_id))

    async def _perform(self, work: Work) -> None:
        """Perform an activity and record its outcome, however long the database is away."""
        if not work.builds:
            move = partial(work_queue.move, work=work, replica=self._replica(), now=self._clock())
            await insist(partial(self._database.write, move))
            return
        folder = versions.folder_of(self._data_dir, work.environment_id, work.folder)
        try:
            await self._build(work, folder)
        except (BuildFailure, Invalid) as error:
            await self._fail(work, error.message)
        except OSError as error:
            await self._fail(work, f"{error.strerror or error}: {error.filename or folder.parent}")
        except Exception:
            log.exception("package_activity_failed", activity_id=work.id)
            await self._fail(work, "an error of the service itself; its log has the details")

    async def _build(self, work: Work, folder: Path) -> None:
        if work.left_folder is not None:
            left = versions.folder_of(self._data_dir, work.environment_id, work.left_folder)
            await asyncio.to_thread(_end_marked, left)
        if work.was_interrupted_too_often:
            raise BuildFailure("the service ended while this was built, time and again; it is not begun once more")
        requested = work_queue.requested_after(work)
        folder.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(folder.parent).free < self._min_free_bytes:
            raise BuildFailure(DISK_FULL)
        began = time.monotonic()
        try:
            lock = await self._installers[work.env_type].build(
                folder, work.language_version, requested, lock=work.lock_to_restore, keep=work.lock_now
            )
        finally:
            await asyncio.to_thread(_end_marked, folder)
        message = f"{requirements_of(work.env_type).changes(work.lock_now, lock)} ({time.monotonic() - began:.1f} s)"
        succeed = partial(
            work_queue.succeed,
            work=work,
            replica=self._replica(),
            requested=requested,
            lock=lock,
            message=message,
            now=self._clock(),
        )
        await insist(partial(self._database.write, succeed))
        log.info("packages_built", environment_id=work.environment_id, activity_id=work.id)

    async def _fail(self, work: Work, message: str) -> None:
        log.info("packages_not_built", environment_id=work.environment_id, activity_id=work.id)
        fail = partial(work_queue.fail, work=work, replica=self._replica(), message=message, now=self._clock())
        await insist(partial(self._database.write, fail))

    async def _sweep(self) -> None:
        """Remove unused versions, and what killed builds have left."""
        if await self._database.look_up(versions.some_may_be_forgotten):
            await self._database.write(versions.forget_superseded, durable=False)
        there = await asyncio.to_thread(versions.folders_on_disk, self._data_dir)  # before the rows, which come first
        left = there - await self._database.look_up(versions.named_folders)
        if left:
            await asyncio.to_thread(versions.remove_folders, self._data_dir, left)


def _end_marked(folder: Path) -> None:
    """End processes that the installer, or a package's own build, left running."""
    for process in marked_processes(folder):
        if process.pid != os.getpid():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
