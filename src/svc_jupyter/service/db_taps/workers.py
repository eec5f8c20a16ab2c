"""The worker processes of queries and listings of tables."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping

from svc_jupyter.service.commands.process import DurableProcess
from svc_jupyter.service.db_taps.job import Job, to_line
from svc_jupyter.service.workers.parent import END
from svc_jupyter.service.workers.warm_workers import IDLE_SECONDS, WarmWorkers

_MODULE = "svc_jupyter.service.db_taps.worker"
_PRIVATE = ("SVC_", "PG")
"""Variables with these prefixes are the service's: its own database and mail server, libpq's default password."""
_SINGLE_THREADED = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""A process that forks must have no threads; these libraries start some when they are loaded."""


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for workers: the service's own, without what is the service's alone."""
    kept = {name: value for name, value in environment.items() if not name.startswith(_PRIVATE)}
    return kept | _SINGLE_THREADED


class Workers(WarmWorkers[Job]):
    """Starts a worker for each query."""

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS, python: str = sys.executable) -> None:
        super().__init__(_MODULE, to_line, worker_environment(os.environ), idle_seconds=idle_seconds, python=python)

    async def start(self, job: Job) -> DurableProcess:
        """See `WarmWorkers.start`. The worker tells its end, which is known before its process is gone."""
        with contextlib.suppress(OSError):  # it was made before, or this disk has none: then the process is waited for
            os.mkfifo(job.folder / END, 0o600)
        return await super().start(job)
