"""Statements of commands on Spark Connect servers that others run, each in a process of its own.

The process outlives the service and holds the session, so the statement is found again. When the process is gone,
another one ends what its session still runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.logs import followed
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.kinds.failures import reported_failure
from svc_jupyter.service.kinds.spark.session_runs import has_ended, outcome_of
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.runtimes.spark.connect import job
from svc_jupyter.service.runtimes.spark.connect.external import ConnectWorkers, ExternalSparkConnect, session_of
from svc_jupyter.service.runtimes.spark.driver.statement import ERROR_FILE, PROGRESS_FILE, Statement, to_json

_ENDING: Final = "ending"
"""The folder, in an attempt's, of the process that ends its session."""
_END_SECONDS: Final = 12.0
_LANGUAGES: Final = (None, "python", "sql")
_SUFFIXES: Final = (".py", ".sql")


class ConnectRuns:
    """Runs statements."""

    def __init__(self, servers: ExternalSparkConnect, workers: ConnectWorkers, clusters: Clusters) -> None:
        self._servers = servers
        self._workers = workers
        self._clusters = clusters

    async def run(self, task: Task, desk: Desk, instance: Instance, statement: Statement) -> Outcome:
        """Run a statement in a session of its own; return its outcome. Raises `ClusterFailure`, `OSError`."""
        if task.pool is not None:
            return Outcome(False, "pool: a cluster that others run has no pools of the service", may_retry=False)
        process = await desk.process(partial(self._start, task, desk, instance, statement))
        code = await followed(process, task.folder / PROGRESS_FILE, desk)
        if has_ended(task.folder):
            return await asyncio.to_thread(outcome_of, task, code)
        await self.end(task)
        return reported_failure(task.folder / ERROR_FILE, code, "the process that ran the program")

    async def end(self, task: Task) -> None:
        """End what an attempt's session still runs on the server, if its process could not."""
        folder = task.folder / _ENDING
        with suppress(ClusterFailure, OSError, TimeoutError):
            if not (task.folder / "pid").exists() or has_ended(task.folder) or folder.exists():
                return
            instance = await self._clusters.up_instance(task.cluster_id)
            if not instance.configuration.is_external:
                return
            endpoint = await self._endpoint(task, instance)
            folder.mkdir(mode=0o700)
            ending = job.ConnectJob(job.Task.INTERRUPT, folder, task.log_file, endpoint)
            async with asyncio.timeout(_END_SECONDS):
                await (await self._workers.start(ending)).wait()

    async def _start(self, task: Task, desk: Desk, instance: Instance, statement: Statement) -> DurableProcess:
        await self._workers.install(desk.say)
        return await self._workers.start(
            job.ConnectJob(
                job.Task.RUN,
                folder=task.folder,
                log=task.log_file,
                endpoint=await self._endpoint(task, instance),
                statement=to_json(statement),
                environment=dict(task.environment),
            )
        )

    async def _endpoint(self, task: Task, instance: Instance) -> Mapping[str, object]:
        user = await self._clusters.email_of(task.user_id)
        return asdict(self._servers.endpoint(instance, user, session_of(instance, task.id, task.attempt)))


def check_runs_there(command: Mapping[str, Any], configuration: ClusterConfiguration) -> None:
    """Raise `Invalid` for a command that a cluster of others cannot run; one of the service's own can."""
    if not configuration.is_external:
        return
    if command.get("note_id") is not None:
        refused = "notes"
    elif command.get("app_id"):
        refused = "kept sessions (app_id)"
    elif command.get("cmdline") or command.get("arguments"):
        refused = "spark-submit and its options"
    elif command.get("language") not in _LANGUAGES:
        refused = f"programs in {str(command['language']).capitalize()}"
    elif not command.get("language") and (location := command.get("script_location")) and not _is_known(location):
        refused = "jars and programs in other languages"
    else:
        return
    raise Invalid(
        f"Spark Connect does not run {refused}: it runs SQL and programs in Python; take a Spark cluster of the service"
    )


def _is_known(location: str) -> bool:
    return "$" in location or location.partition("?")[0].lower().endswith(_SUFFIXES)
