"""The worker processes of notes' runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from svc_jupyter.service.spark_notes.job import NoteJob, to_line
from svc_jupyter.service.workers.warm_workers import IDLE_SECONDS, WarmWorkers

_MODULE = "svc_jupyter.service.spark_notes.worker"


class NoteWorkers(WarmWorkers[NoteJob]):
    """Starts a process for each run. `environment` is what shell paragraphs inherit: nothing of the service's own."""

    def __init__(
        self, environment: Mapping[str, str], *, idle_seconds: float = IDLE_SECONDS, python: str = sys.executable
    ) -> None:
        super().__init__(_MODULE, to_line, environment, idle_seconds=idle_seconds, python=python)
