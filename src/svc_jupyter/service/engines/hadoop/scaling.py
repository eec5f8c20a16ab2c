"""Adding workers to a running Hadoop cluster and removing them.

Every step can be begun again from the rows and from what YARN says: a service that is killed in the middle goes on
with the nodes that its command made or chose. A command that is to end undoes it by `take_back` and `put_back`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Final

from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.node_additions import NodeAdditions
from svc_jupyter.service.clusters.node_claims import CLAIMED_BY, LEAVING, Manner, claimed_by, unclaimed
from svc_jupyter.service.clusters.providers.provider import Provider, ProviderFailure
from svc_jupyter.service.engines.hadoop.departure import POLL_SECONDS, Departure, Workers, known_nodes
from svc_jupyter.service.engines.hadoop.exclude_file import apply_exclude_file
from svc_jupyter.service.engines.hadoop.yarn_admin import AdminCallFailed
from svc_jupyter.service.engines.hadoop.yarn_rest import LOST, RUNNING, YarnNode, YarnRest

REGISTER_SECONDS: Final = 180.0
"""How long a NodeManager may take until YARN knows it; it usually takes 3 to 8 s."""
UNDO_SECONDS: Final = 30.0


class Scaling:
    """Adds and removes workers of Hadoop clusters on whatever provider."""

    def __init__(
        self,
        instances: Instances,
        providers: Mapping[str, Provider],
        additions: NodeAdditions,
        workers: Workers,
        yarn: YarnRest,
    ) -> None:
        self.instances = instances
        self._providers = providers
        self.workers = workers
        self.yarn = yarn
        self._additions = additions

    async def add_nodes(self, instance: Instance, count: int, say: Say, *, command_id: int) -> None:
        """Add workers for a node command; see `NodeAdditions.add`."""
        await self._additions.add(
            instance, count, say, command_id=command_id, bring_up=self._bring_up, take_back=self.take_back
        )

    async def take_back(self, instance: Instance, say: Say, *, command_id: int) -> None:
        """Give back the nodes of an addition that is not done; what YARN began there meanwhile it runs elsewhere."""
        instance = await self.instances.get(instance.id)
        nodes = claimed_by(instance.workers, command_id)
        if not nodes:
            return
        for node in nodes:
            await self.instances.mark_node(node.id, **{LEAVING: Manner.AT_ONCE.value})
            await self.instances.change_node(node.id, status=NodeStatus.DECOMMISSIONING.value)
        await self.follow_rows(instance, say)
        await self._until_gone(instance, nodes)
        await self._give_back(instance, nodes)
        await self.follow_rows(instance, say)
        say(f"taken back: {', '.join(node.private_dns for node in nodes)}")

    async def removal_order(self, instance: Instance) -> Sequence[Node]:
        """Return the workers that no node command has, lost ones first, then the idlest, then the youngest."""
        known = await known_nodes(self.yarn, instance) or {}
        return removal_order(instance.workers, known)

    async def remove_node(self, instance: Instance, node: Node, say: Say) -> None:
        """Decommission a worker gracefully; return once it is gone."""
        instance = await self.instances.get(instance.id)
        if all(other.id != node.id for other in instance.workers):
            return
        await self.instances.mark_node(node.id, **{LEAVING: Manner.GRACEFUL.value})
        say(f"{node.private_dns}: decommissioning, what runs there may finish")
        machine = self._provider(instance).machine(instance, node)
        await Departure(instance, node, machine, self, say).end()
        await self._give_back(instance, [node])
        await self.follow_rows(instance, say)
        say(f"{node.private_dns}: gone, its machine is given back")

    async def put_back(self, instance: Instance, node: Node, say: Say) -> None:
        """Let a worker work again whose removal is to end; one that is gone stays so."""
        instance = await self.instances.get(instance.id)
        if all(other.id != node.id for other in instance.workers):
            return
        await self.instances.mark_node(node.id, **{LEAVING: None})
        try:
            await self.follow_rows(instance, say)
            await self._work_again(instance, node, say)
            say(f"{node.private_dns}: put back, RUNNING")
        except (ClusterFailure, ProviderFailure) as failure:
            say(failure.message)  # from here on it is supervised as every node
        finally:
            await self.instances.change_node(node.id, status=NodeStatus.RUNNING.value)
            await self.instances.mark_node(node.id, **{CLAIMED_BY: None})

    # Adding

    async def _bring_up(self, instance: Instance, node: Node, say: Say) -> None:
        if node.status is NodeStatus.RUNNING:
            return
        began = time.monotonic()
        say(f"{node.private_dns}: starting its NodeManager")
        await self.workers.start_worker(instance, node, say)
        await self._registered(instance, node, REGISTER_SECONDS)
        now = time.time()
        await self.instances.change_node(node.id, status=NodeStatus.RUNNING.value, up_at=now, last_seen_at=now)
        say(f"{node.private_dns}: registered with YARN, RUNNING ({time.monotonic() - began:.1f} s)")

    async def _registered(self, instance: Instance, node: Node, seconds: float) -> None:
        """Return once YARN gives the node work. Raises `ClusterFailure` when its NodeManager ends or is never known."""
        machine = self._provider(instance).machine(instance, node)
        try:
            async with asyncio.timeout(seconds):
                while True:
                    known = await known_nodes(self.yarn, instance) or {}
                    if (found := known.get(node.private_ip)) is not None and found.state == RUNNING:
                        return
                    for daemon in await machine.daemons():
                        if not daemon.is_running:
                            text = (await machine.tail(daemon.name)).strip()
                            raise ClusterFailure(f"{node.private_dns}: its {daemon.name} ended: {_last_line(text)}")
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            raise ClusterFailure(
                f"{node.private_dns}: its NodeManager did not register with YARN within {seconds:g} s"
            ) from None

    # Removing

    async def _work_again(self, instance: Instance, node: Node, say: Say) -> None:
        """Return once a node whose departure was called off is RUNNING; its NodeManager may just have been ending."""
        await self.workers.start_worker(instance, node, say)
        try:
            await self._registered(instance, node, UNDO_SECONDS)
        except ClusterFailure:
            await self.workers.start_worker(instance, node, say)
            await self._registered(instance, node, UNDO_SECONDS)

    # Both

    async def _until_gone(self, instance: Instance, nodes: Sequence[Node]) -> None:
        """Wait, not for long, until YARN gives the nodes no more work; one it does not know is none of its."""
        deadline = time.monotonic() + UNDO_SECONDS / 10
        while time.monotonic() < deadline:
            known = await known_nodes(self.yarn, instance)
            if known is None:
                return
            if not any((found := known.get(node.private_ip)) and found.is_active for node in nodes):
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _give_back(self, instance: Instance, nodes: Sequence[Node]) -> None:
        async with asyncio.TaskGroup() as group:
            for node in nodes:
                group.create_task(self.workers.stop_worker(instance, node))
        await self._provider(instance).release(instance, nodes)
        await self.instances.drop_nodes([node.id for node in nodes])

    async def follow_rows(self, instance: Instance, say: Say) -> None:
        """Bring YARN's exclude file to what the rows say; it is done again later where that fails."""
        instance = await self.instances.get(instance.id)
        try:
            await apply_exclude_file(self._provider(instance), instance)
        except AdminCallFailed as failure:
            say(failure.message)

    def _provider(self, instance: Instance) -> Provider:
        return self._providers[instance.provider]


def removal_order(workers: Sequence[Node], known: Mapping[str, YarnNode]) -> Sequence[Node]:
    """Return the workers that may go, the best first: lost ones, then those with the fewest containers, then the
    youngest.
    """
    candidates = [node for node in unclaimed(workers) if node.status in {NodeStatus.RUNNING, NodeStatus.LOST}]

    def rank(node: Node) -> tuple[bool, int, int]:
        found = known.get(node.private_ip)
        is_lost = node.status is NodeStatus.LOST or (found is not None and found.state == LOST)
        return not is_lost, found.containers if found else 0, -node.id

    return sorted(candidates, key=rank)


def _last_line(text: str) -> str:
    return text.splitlines()[-1] if text else "it wrote nothing"
