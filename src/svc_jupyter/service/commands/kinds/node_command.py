"""What `AddNodeCommand` and `RemoveNodeCommand` share: made by the node calls only, run inside the service.

There is no process to find again: a service that was killed runs the command again, and it goes on from the rows.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from svc_jupyter.api.clusters import ClusterType
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine, ClusterFailure
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.commands import logs
from svc_jupyter.service.commands.background import RETRY_SECONDS
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.database import Database
from svc_jupyter.service.errors import Invalid, Unavailable

FAILURES: Final = (ClusterFailure, ProviderFailure)
"""What ends a node command in `error` with its text."""


class NodeKind(ABC):
    """Base of the two kinds: which instance a command is for, and which engine works on it."""

    def __init__(self, database: Database, instances: Instances, engines: Mapping[ClusterType, ClusterEngine]) -> None:
        self._database = database
        self._instances = instances
        self._engines = engines

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:  # noqa: ARG002
        """Raise `Invalid`: nobody submits these."""
        raise Invalid("the service makes it when nodes are added or removed")

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Do the work; while the database is away wait, then go on from the rows."""
        while True:
            try:
                return await self._run(task, desk)
            except Unavailable:
                await asyncio.sleep(RETRY_SECONDS)

    @abstractmethod
    async def _run(self, task: Task, desk: Desk) -> Outcome: ...

    async def _running(self, task: Task) -> tuple[Instance, ClusterEngine] | None:
        """Return the instance that the command is for with its engine, None when the cluster is no longer UP."""
        instance = await self._instances.of_cluster(task.command["cluster_id"])
        if instance is None or instance.state is not ClusterState.UP:
            return None
        return instance, self._engines[instance.configuration.cluster_type]


def not_running(task: Task) -> Outcome:
    """Return the end of a command whose cluster went away before it began."""
    return Outcome(False, f"cluster {task.command['cluster_id']} is no longer UP", may_retry=False)


def failed(error: Exception) -> Outcome:
    """Return the end of a command that could not do its work; doing it again would be another command's."""
    return Outcome(False, str(error), may_retry=False)


def say_into(task: Task, line: str) -> None:
    """Append a line to the log of a command that runs no more."""
    logs.append_line(task.log_file, line)
