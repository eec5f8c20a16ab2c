"""`AddNodeCommand`: adds workers to a running cluster, all or none."""

from __future__ import annotations

from functools import partial

from svc_jupyter.api.commands import CommandType
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.kinds.nodes.node_command import FAILURES, NodeKind, failed, not_running, say_into


class AddNodeKind(NodeKind):
    """Runs `AddNodeCommand`s: `command` is `{"cluster_id", "node_count"}`."""

    command_type = CommandType.ADD_NODE

    async def _run(self, task: Task, desk: Desk) -> Outcome:
        """Add the nodes, or continue with those that were made before the service was killed."""
        found = await self._running(task)
        if found is None:
            return not_running(task)
        instance, engine = found
        count = task.command["node_count"]
        steps = _Steps(desk, count)
        try:
            await engine.add_nodes(instance, count, steps.say, command_id=task.id)
        except FAILURES as error:
            return failed(error)
        return Outcome(True, f"{count} {'node' if count == 1 else 'nodes'} added")

    async def end_remote(self, task: Task) -> None:
        """Remove the nodes that were made; a cluster that is terminating removes them itself."""
        found = await self._running(task)
        if found is not None:
            instance, engine = found
            await engine.take_back(instance, partial(say_into, task), command_id=task.id)


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
