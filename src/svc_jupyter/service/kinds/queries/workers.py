"""The worker processes of queries and listings of tables."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping

from svc_jupyter.service.db_taps.job import Job
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.warm_workers import IDLE_SECONDS, WarmWorkers
from svc_jupyter.service.processes.worker_parent import END

_MODULE = "svc_jupyter.service.kinds.query_worker"
_PRIVATE = ("SVC_", "PG")
"""Prefixes of the service's own variables: its database and mail server, libpq's default password."""
_SINGLE_THREADED = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""A process that forks must have no threads; these libraries start some when they are loaded."""


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for workers: the service's, without its private variables."""
    kept = {name: value for name, value in environment.items() if not name.startswith(_PRIVATE)}
    return kept | _SINGLE_THREADED


class Workers(WarmWorkers[Job]):
    """Starts a worker for each query."""

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS, python: str = sys.executable) -> None:
        super().__init__(_MODULE, worker_environment(os.environ), idle_seconds=idle_seconds, python=python)

    async def start(self, job: Job) -> DurableProcess:
        """See `WarmWorkers.start`. The worker reports its end, which is earlier than its process's."""
        with contextlib.suppress(OSError):  # it exists, or the disk has no FIFOs: then the process is waited for
            os.mkfifo(job.folder / END, 0o600)
        return await super().start(job)
