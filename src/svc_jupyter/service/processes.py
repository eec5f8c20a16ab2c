"""The processes that wait for work, so that a command finds its interpreter or Java started."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Self

from svc_jupyter.service.commands.kinds.shell import script_environment
from svc_jupyter.service.db_taps.workers import Workers
from svc_jupyter.service.engines.engines import Engines
from svc_jupyter.service.engines.pig.jvms import Jvms
from svc_jupyter.service.notebook_runs.workers import RunWorkers
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.spark_notes.workers import NoteWorkers


@dataclass(frozen=True, slots=True)
class Processes:
    """Each is started when the first command of its kind comes; none outlives the service without a command."""

    queries: Workers
    notebook_runs: RunWorkers
    note_runs: NoteWorkers
    pig: Jvms

    @classmethod
    def of(cls, settings: Settings, engines: Engines) -> Self:
        """Return them; none runs yet."""
        environment = script_environment(os.environ)
        return cls(
            queries=Workers(),
            notebook_runs=RunWorkers(environment),
            note_runs=NoteWorkers(environment),
            pig=Jvms(engines, settings.data_dir / "pig", environment),
        )

    async def stop(self) -> None:
        """End those that wait; those that have a command go on."""
        await self.queries.stop()
        await self.notebook_runs.stop()
        await self.note_runs.stop()
        await self.pig.stop()
