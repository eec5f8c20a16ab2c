"""Reports the steps of a starting or ending instance, in its row and in the logs of the commands that wait for it."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from pathlib import Path

import structlog

from svc_jupyter.service.clusters.instances import Instances
from svc_jupyter.service.commands import logs, queue_of_clusters
from svc_jupyter.service.commands.queue import Row
from svc_jupyter.service.commands.roots import command_root
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Unavailable

log = structlog.get_logger(__name__)


class Steps:
    """Reports the steps of one instance. Only the latest is kept, so quick steps share one write."""

    def __init__(self, database: Database, instances: Instances, commands_dir: Path, instance_id: int) -> None:
        self._database = database
        self._instances = instances
        self._commands_dir = commands_dir
        self._instance_id = instance_id
        self._latest: str | None = None
        self._writing: asyncio.Task[None] | None = None

    def say(self, text: str) -> None:
        """Report a step."""
        log.info("cluster_step", instance_id=self._instance_id, step=text)
        self._latest = text
        if self._writing is None:
            self._writing = asyncio.create_task(self._write(), name=f"steps-of-instance-{self._instance_id}")

    async def finish(self) -> None:
        """Return when all reported steps are written."""
        if self._writing is not None:
            await self._writing

    async def _write(self) -> None:
        try:
            while (text := self._latest) is not None:
                with contextlib.suppress(Unavailable):
                    await self._instances.change(self._instance_id, message=text)
                    waiting = await self._database.look_up(
                        partial(queue_of_clusters.waiting_for, instance_id=self._instance_id)
                    )
                    await asyncio.to_thread(self._tell, waiting, text)
                if self._latest is text:
                    self._latest = None
        finally:
            self._writing = None

    def _tell(self, waiting: list[Row], text: str) -> None:
        for row in waiting:
            root = command_root(self._commands_dir, row)
            try:
                root.mkdir(mode=0o700, parents=True, exist_ok=True)
                logs.append_line(root / "log", f"its cluster: {text}")
            except OSError as error:
                log.warning("log_not_written", command_id=row["id"], reason=error.strerror)
