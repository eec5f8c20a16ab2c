"""`RemoveNodeCommand`: removes a worker once its running work has ended."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from svc_jupyter.api.commands import CommandType
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.node_claims import claim, claimed_by
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.kinds.nodes.node_command import FAILURES, NodeKind, failed, not_running, say_into

_BEGUN: Final = 10
"""Percent when the node is chosen; the duration of its work is unknown."""
_CHOSEN_FILE: Final = "node"


class RemoveNodeKind(NodeKind):
    """Runs `RemoveNodeCommand`s: `command` is `{"cluster_id", "private_dns"}`, the name null for any."""

    command_type = CommandType.REMOVE_NODE

    async def _run(self, task: Task, desk: Desk) -> Outcome:
        """Remove the node, or continue with the one that was chosen before the service was killed."""
        found = await self._running(task)
        if found is None:
            return not_running(task)
        instance, engine = found
        chosen = _chosen_file(task)
        node = next(iter(claimed_by(instance.workers, task.id)), None)
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
            for node in claimed_by(instance.workers, task.id):
                await engine.put_back(instance, node, partial(say_into, task))

    async def _remove(self, instance: Instance, engine: ClusterEngine, node: Node, desk: Desk) -> Outcome:
        try:
            await engine.remove_node(instance, node, desk.say)
        except Unavailable:
            raise
        except Exception as error:
            await engine.put_back(instance, node, desk.say)
            if isinstance(error, FAILURES):
                return failed(error)
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
