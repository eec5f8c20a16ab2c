"""`AddNodeCommand` and `RemoveNodeCommand`: created only by the node calls, run inside the service.

They have no process: after a kill of the service the command runs again and continues from the database's rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from svc_jupyter.api.clusters import ClusterType
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine, ClusterFailure
from svc_jupyter.service.clusters.instances import Instance, Instances, Node, claim
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.commands import logs
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import DatabaseAway, Invalid

_FAILURES: Final = (ClusterFailure, ProviderFailure)
"""Failures that end a node command in `error` with their text."""
_BEGUN: Final = 10
"""Percent when the node to remove is chosen; the duration of its work is unknown."""
_CHOSEN_FILE: Final = "node"


class NodeKind(ABC):
    """Base of the two kinds: finds a command's instance and the runtime that works on it."""

    def __init__(self, database: Database, instances: Instances, engines: Mapping[ClusterType, ClusterEngine]) -> None:
        self._database = database
        self._instances = instances
        self._engines = engines

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:  # noqa: ARG002
        """Raise `Invalid`: users cannot submit these."""
        raise Invalid("the service makes it when nodes are added or removed")

    @abstractmethod
    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Do the work, or continue from the rows with what a service that was killed had begun."""

    async def _running(self, task: Task) -> tuple[Instance, ClusterEngine] | None:
        """Return the command's instance and its runtime, None when the cluster is no longer UP."""
        instance = await self._instances.of_cluster(task.command["cluster_id"])
        if instance is None or instance.state is not ClusterState.UP:
            return None
        return instance, self._engines[instance.configuration.cluster_type]


def _not_running(task: Task) -> Outcome:
    """Return the outcome of a command whose cluster was gone before it started."""
    return Outcome(False, f"cluster {task.command['cluster_id']} is no longer UP", may_retry=False)


def _failed(error: Exception) -> Outcome:
    """Return the outcome of a failed command; it is not retried, a new attempt is a new command."""
    return Outcome(False, str(error), may_retry=False)


def _say_into(task: Task, line: str) -> None:
    """Append a line to the log of a command that has ended."""
    logs.append_line(task.log_file, line)


class AddNodeKind(NodeKind):
    """Runs `AddNodeCommand`s: `command` is `{"cluster_id", "node_count"}`."""

    command_type = CommandType.ADD_NODE

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Add the nodes, or continue with those that were made before the service was killed."""
        found = await self._running(task)
        if found is None:
            return _not_running(task)
        instance, engine = found
        count = task.command["node_count"]
        steps = _Steps(desk, count)
        try:
            await engine.add_nodes(instance, count, steps.say, command_id=task.id)
        except _FAILURES as error:
            return _failed(error)
        return Outcome(True, f"{count} {'node' if count == 1 else 'nodes'} added")

    async def end_remote(self, task: Task) -> None:
        """Remove the nodes that were made; a cluster that is terminating removes them itself."""
        found = await self._running(task)
        if found is not None:
            instance, engine = found
            await engine.take_back(instance, partial(_say_into, task), command_id=task.id)


class _Steps:
    """Logs and counts the steps: each node has several until it is RUNNING."""

    _PER_NODE = 2

    def __init__(self, desk: Desk, count: int) -> None:
        self._desk = desk
        self._all = 1 + self._PER_NODE * count
        self._done = 0

    def say(self, line: str) -> None:
        self._done += 1
        self._desk.say(line)
        self._desk.progress(100 * self._done // (self._all + 1))


class RemoveNodeKind(NodeKind):
    """Runs `RemoveNodeCommand`s: `command` is `{"cluster_id", "private_dns"}`, the name null for any."""

    command_type = CommandType.REMOVE_NODE

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Remove the node, or continue with the one that was chosen before the service was killed."""
        found = await self._running(task)
        if found is None:
            return _not_running(task)
        instance, engine = found
        chosen = _chosen_file(task)
        node = next((node for node in instance.workers if node.claimed_by == task.id), None)
        if node is None and chosen.exists():
            return Outcome(True, f"{chosen.read_text()} removed")  # gone before the service was killed
        if node is None:
            wanted = task.command["private_dns"]
            candidates = await engine.removal_order(instance)
            node = await self._claim([node for node in candidates if wanted in (None, node.private_dns)], task.id)
        if node is None:
            which = "there is no worker" if wanted is None else f"{wanted} is not there any more, or no worker"
            return Outcome(False, f"{which} that could be removed now", may_retry=False)
        chosen.write_text(node.private_dns)
        desk.progress(_BEGUN)
        return await self._remove(instance, engine, node, desk)

    async def end_remote(self, task: Task) -> None:
        """Put the node back to work, unless the cluster is terminating."""
        found = await self._running(task)
        if found is not None:
            instance, engine = found
            for node in (each for each in instance.workers if each.claimed_by == task.id):
                await engine.put_back(instance, node, partial(_say_into, task))

    async def _remove(self, instance: Instance, engine: ClusterEngine, node: Node, desk: Desk) -> Outcome:
        try:
            await engine.remove_node(instance, node, desk.say)
        except DatabaseAway:
            raise
        except Exception as error:
            await engine.put_back(instance, node, desk.say)
            if isinstance(error, _FAILURES):
                return _failed(error)
            raise
        return Outcome(True, f"{node.private_dns} removed")

    async def _claim(self, candidates: Sequence[Node], command_id: int) -> Node | None:
        """Claim and return the first worker that no other command has claimed."""
        for node in candidates:
            if await self._database.write(partial(claim, node_id=node.id, command_id=command_id)):
                return node
        return None


def _chosen_file(task: Task) -> Path:
    """Return the file with the attempt's node: the node's row is gone before the command ends."""
    return task.folder / _CHOSEN_FILE
