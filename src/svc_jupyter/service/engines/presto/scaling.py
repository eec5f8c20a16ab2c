"""Adding workers to a running Presto cluster and removing them.

Every step can be begun again from the rows and from what runs: a service that is killed in the middle goes on with the
nodes that its command made or chose. A command that is to end undoes it by `take_back` and `put_back`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Final

from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import Say
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.node_additions import NodeAdditions
from svc_jupyter.service.clusters.node_claims import CLAIMED_BY, LEAVING, Manner, claimed_by, unclaimed
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.engines.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.engines.presto.addresses import http_of
from svc_jupyter.service.engines.presto.nodes import PrestoNodes
from svc_jupyter.service.engines.presto.presto_rest import PrestoRest
from svc_jupyter.service.engines.presto.readiness import Readiness

_POLL_SECONDS: Final = 0.25
_ASK_AGAIN_SECONDS: Final = 2.0


class Scaling:
    """Adds and removes workers of Presto clusters on whatever provider."""

    def __init__(
        self,
        instances: Instances,
        providers: Mapping[str, Provider],
        additions: NodeAdditions,
        nodes: PrestoNodes,
        rest: PrestoRest,
        readiness: Readiness,
    ) -> None:
        self._instances = instances
        self._providers = providers
        self._nodes = nodes
        self._rest = rest
        self._readiness = readiness
        self._additions = additions

    async def add_nodes(self, instance: Instance, count: int, say: Say, *, command_id: int) -> None:
        """Add workers for a node command; see `NodeAdditions.add`."""
        await self._additions.add(
            instance, count, say, command_id=command_id, bring_up=self._bring_up, take_back=self.take_back
        )

    async def take_back(self, instance: Instance, say: Say, *, command_id: int) -> None:
        """Give back the nodes of an addition that is not done; queries that have tasks there fail."""
        instance = await self._instances.get(instance.id)
        nodes = claimed_by(instance.workers, command_id)
        if not nodes:
            return
        for node in nodes:
            await self._instances.mark_node(node.id, **{LEAVING: Manner.AT_ONCE.value})
            await self._instances.change_node(node.id, status=NodeStatus.DECOMMISSIONING.value)
        await self._give_back(instance, nodes)
        say(f"taken back: {', '.join(node.private_dns for node in nodes)}")

    async def removal_order(self, instance: Instance) -> Sequence[Node]:
        """Return the workers that no node command has, lost ones first, then the idlest, then the youngest."""
        candidates = unclaimed(instance.workers)
        queries = await asyncio.gather(*map(self._queries_on, candidates))
        return removal_order(candidates, dict(zip((node.id for node in candidates), queries, strict=True)))

    async def remove_node(self, instance: Instance, node: Node, say: Say) -> None:
        """Let a worker end what it does, then give it back; return once it is gone."""
        instance = await self._instances.get(instance.id)
        if all(other.id != node.id for other in instance.workers):
            return
        await self._instances.mark_node(node.id, **{LEAVING: Manner.GRACEFUL.value})
        await self._instances.change_node(node.id, status=NodeStatus.DECOMMISSIONING.value)
        say(f"{node.private_dns}: decommissioning, queries that have work there may finish")
        await self._until_ended(instance, node, say)
        await self._give_back(instance, [node])
        say(f"{node.private_dns}: gone, its machine is given back")

    async def put_back(self, instance: Instance, node: Node, say: Say) -> None:
        """Let a worker work again whose removal is to end; one that is gone stays so.

        A server that was told to end cannot be told otherwise: it ends when its work is done, and is then started anew
        by whoever keeps the cluster whole.
        """
        instance = await self._instances.get(instance.id)
        if all(other.id != node.id for other in instance.workers):
            return
        say(f"{node.private_dns}: put back; it ends what it does, then its server starts again")
        await self._instances.change_node(node.id, status=NodeStatus.RUNNING.value)
        await self._instances.mark_node(node.id, **{LEAVING: None, CLAIMED_BY: None})

    async def _bring_up(self, instance: Instance, node: Node, say: Say) -> None:
        if node.status is NodeStatus.RUNNING:
            return
        began = time.monotonic()
        say(f"{node.private_dns}: starting its server")
        await self._nodes.bring_up(instance, node, say)
        await self._readiness.wait_for(instance, [node])
        now = time.time()
        await self._instances.change_node(node.id, status=NodeStatus.RUNNING.value, up_at=now, last_seen_at=now)
        say(f"{node.private_dns}: the coordinator uses it, RUNNING ({time.monotonic() - began:.1f} s)")

    async def _until_ended(self, instance: Instance, node: Node, say: Say) -> None:
        """Return once a worker's server has ended by itself, or was not there any more."""
        told: str | None = None
        ask_at = 0.0
        while await self._nodes.runs(instance, node):
            if time.monotonic() >= ask_at:
                ask_at = time.monotonic() + _ASK_AGAIN_SECONDS
                line = await self._ask_to_end(node)
                if line != told:
                    told = line
                    say(f"{node.private_dns}: {line}")
            await asyncio.sleep(_POLL_SECONDS)

    async def _ask_to_end(self, node: Node) -> str:
        """Tell a worker to end, which it may have been told before; return in words what it has left."""
        try:
            await self._rest.shut_down(http_of(node))
            queries = len(await self._rest.queries_at_work(http_of(node)))
        except DaemonSilent as silence:
            return f"decommissioning; what it does is not known: {silence.message}"
        if not queries:
            return "decommissioning, nothing left"
        return f"decommissioning, {queries} {'query has' if queries == 1 else 'queries have'} work there"

    async def _queries_on(self, node: Node) -> int | None:
        try:
            return len(await self._rest.queries_at_work(http_of(node)))
        except DaemonSilent:
            return None

    async def _give_back(self, instance: Instance, nodes: Sequence[Node]) -> None:
        async with asyncio.TaskGroup() as group:
            for node in nodes:
                group.create_task(self._nodes.stop(instance, node))
        await self._providers[instance.provider].release(instance, nodes)
        await self._instances.drop_nodes([node.id for node in nodes])


def removal_order(workers: Sequence[Node], queries: Mapping[int, int | None]) -> Sequence[Node]:
    """Return the workers that may go, the best first: lost ones, then those with the fewest queries, then the youngest.

    `queries` are counts by the nodes' ids, None for a server that does not answer.
    """
    candidates = [node for node in workers if node.status in {NodeStatus.RUNNING, NodeStatus.LOST}]

    def rank(node: Node) -> tuple[bool, int, int]:
        count = queries.get(node.id)
        is_lost = node.status is NodeStatus.LOST or count is None
        return not is_lost, count or 0, -node.id

    return sorted(candidates, key=rank)
