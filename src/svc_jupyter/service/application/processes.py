"""Processes that wait for work, so that a command finds its interpreter or Java already started."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Self

from svc_jupyter.service.ground.settings import Settings, script_environment
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.kinds.notebook.kind import RunWorkers
from svc_jupyter.service.kinds.pig.jvms import Jvms
from svc_jupyter.service.kinds.queries.worker_query import Workers
from svc_jupyter.service.kinds.spark.notes.note_runs import NoteWorkers


@dataclass(frozen=True, slots=True)
class Processes:
    """Each is started with the first command of its kind; without a command, none outlives the service."""

    queries: Workers
    notebook_runs: RunWorkers
    note_runs: NoteWorkers
    pig: Jvms

    @classmethod
    def of(cls, settings: Settings, engines: Engines) -> Self:
        """Return the processes; none runs yet."""
        environment = script_environment(os.environ)
        return cls(
            queries=Workers(),
            notebook_runs=RunWorkers(environment),
            note_runs=NoteWorkers(environment),
            pig=Jvms(engines, settings.data_dir / "pig", environment),
        )

    async def stop(self) -> None:
        """End idle processes; those with a command continue."""
        await self.queries.stop()
        await self.notebook_runs.stop()
        await self.note_runs.stop()
        await self.pig.stop()
