"""The shared part of `AddNodeCommand` and `RemoveNodeCommand`: created only by the node calls, run inside the service.

They have no process: after a kill of the service the command runs again and continues from the database's rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from svc_jupyter.api.clusters import ClusterType
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine, ClusterFailure
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.commands import logs
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.background import insist
from svc_jupyter.service.ground.errors import Invalid

FAILURES: Final = (ClusterFailure, ProviderFailure)
"""Failures that end a node command in `error` with their text."""


class NodeKind(ABC):
    """Base of the two kinds: finds a command's instance and the runtime that works on it."""

    def __init__(self, database: Database, instances: Instances, engines: Mapping[ClusterType, ClusterEngine]) -> None:
        self._database = database
        self._instances = instances
        self._engines = engines

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:  # noqa: ARG002
        """Raise `Invalid`: users cannot submit these."""
        raise Invalid("the service makes it when nodes are added or removed")

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Do the work; wait while the database is away, then continue from the rows."""
        return await insist(partial(self._run, task, desk))

    @abstractmethod
    async def _run(self, task: Task, desk: Desk) -> Outcome: ...

    async def _running(self, task: Task) -> tuple[Instance, ClusterEngine] | None:
        """Return the command's instance and its runtime, None when the cluster is no longer UP."""
        instance = await self._instances.of_cluster(task.command["cluster_id"])
        if instance is None or instance.state is not ClusterState.UP:
            return None
        return instance, self._engines[instance.configuration.cluster_type]


def not_running(task: Task) -> Outcome:
    """Return the outcome of a command whose cluster was gone before it started."""
    return Outcome(False, f"cluster {task.command['cluster_id']} is no longer UP", may_retry=False)


def failed(error: Exception) -> Outcome:
    """Return the outcome of a failed command; it is not retried, a new attempt is a new command."""
    return Outcome(False, str(error), may_retry=False)


def say_into(task: Task, line: str) -> None:
    """Append a line to the log of a command that has ended."""
    logs.append_line(task.log_file, line)
