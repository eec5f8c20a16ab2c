"""The loop of a cluster whose nodes run daemons: start, supervise, add and remove workers, terminate.

It is the same for every engine. An engine adds its own parts: the files and daemons of a node, which workers are
registered or busy, and how a worker leaves. Each step works from the rows and the running daemons, so that it can be
repeated after the service was killed: it continues with the nodes that its command made or chose.
"""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from sqlalchemy.exc import IntegrityError

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine, ClusterFailure, Say
from svc_jupyter.service.clusters.instances import (
    Instance,
    Instances,
    Manner,
    Node,
)
from svc_jupyter.service.clusters.providers.provider import Machine, Provider, ProviderFailure
from svc_jupyter.service.clusters.supervision import Daemons, Supervision, check_alive
from svc_jupyter.service.ground.errors import DatabaseAway, first_of

REGISTER_SECONDS: Final = 180.0
"""How long the coordinator may take to give a new worker work; usually 3 to 15 s."""
POLL_SECONDS: Final = 0.25


class DaemonEngine(ClusterEngine, Daemons):
    """Runs clusters of one type on any provider; see `ClusterEngine`."""

    can_scale = True
    worker_daemon: str
    """What a worker runs, as text for the user."""
    registry: str
    """What a worker registers with, as text for the user."""

    def __init__(self, instances: Instances, providers: Mapping[str, Provider]) -> None:
        self.instances = instances
        self._providers = providers
        self._additions = NodeAdditions(instances, providers)
        self._supervision = Supervision(instances, self)

    # The engine's part

    @abstractmethod
    async def install(self, say: Say) -> object:
        """Install the engine where it is missing. Raises `ClusterFailure`."""

    @abstractmethod
    async def bring_up(self, instance: Instance, node: Node, say: Say) -> None:
        """Write a node's files, run the bootstrap script there once, and start the daemons that do not run yet."""

    @abstractmethod
    async def stop_worker(self, instance: Instance, node: Node) -> None:
        """End a worker's daemons; repeated, it does nothing."""

    @abstractmethod
    async def until_ready(self, instance: Instance, say: Say) -> None:
        """Return once the cluster and all its workers accept work. Raises `ClusterFailure` when a daemon ends."""

    @abstractmethod
    async def loads(self, instance: Instance, nodes: Sequence[Node]) -> Sequence[int | None]:
        """Return the load of each worker (containers, queries); None for one that does not answer."""

    @abstractmethod
    async def drain(self, instance: Instance, node: Node, say: Say) -> None:
        """Give a worker no new work; return once its work has ended and its daemons may be stopped."""

    async def write_client_files(self, instance: Instance, say: Say) -> None:  # noqa: ARG002
        """Write the files that the service's own programs need to use the cluster; most engines need none."""
        return

    async def evict(self, instance: Instance, nodes: Sequence[Node], say: Say) -> None:  # noqa: ARG002
        """Remove workers from service at once, before their daemons are stopped; their work may fail."""
        return

    async def note_departures(self, instance: Instance, say: Say) -> None:  # noqa: ARG002
        """Update the coordinator's list of leaving workers, if it has one, from the rows."""
        return

    async def rejoin(self, instance: Instance, node: Node, say: Say) -> None:
        """Return a worker to service when its removal is cancelled. Raises `ClusterFailure` and `ProviderFailure`."""
        await self.bring_up(instance, node, say)
        await self.until_registered(instance, node)
        say(f"{node.private_dns}: put back, RUNNING")

    # The loop

    def machine(self, instance: Instance, node: Node) -> Machine:
        """Return a node's machine."""
        return self.provider(instance).machine(instance, node)

    def provider(self, instance: Instance) -> Provider:
        """Return the provider of the instance's machines."""
        return self._providers[instance.provider]

    async def start(self, instance: Instance, say: Say) -> None:
        """Start coordinator and first workers together; return once the cluster works with all of them."""
        await self.install(say)
        instance = await self._additions.with_first_nodes(instance, say)
        await self.write_client_files(instance, say)
        say(f"starting the daemons of {len(instance.nodes)} nodes")
        try:
            async with asyncio.TaskGroup() as group:
                for node in instance.nodes:
                    group.create_task(self.bring_up(instance, node, say))
        except BaseExceptionGroup as error:
            raise first_of(error) from None
        await self.until_ready(instance, say)
        for node in instance.nodes:
            await self._note_up(node)

    async def supervise(self, instance: Instance) -> None:
        """Restart daemons that died, with growing delays, and update the nodes' rows."""
        await self._supervision.look(instance)

    async def terminate(self, instance: Instance, say: Say) -> None:
        """End all processes and release the machines."""
        say("ending the daemons")
        self._supervision.forget(instance)
        await self.provider(instance).release(instance, instance.nodes)
        await self.provider(instance).sweep(instance)

    async def add_nodes(self, instance: Instance, count: int, say: Say, *, command_id: int) -> None:
        """Add workers for a node command; see `NodeAdditions.add`."""
        await self._additions.add(
            instance, count, say, command_id=command_id, bring_up=self._add, take_back=self.take_back
        )

    async def take_back(self, instance: Instance, say: Say, *, command_id: int) -> None:
        """Remove the nodes of an unfinished addition; their work is repeated elsewhere, or fails."""
        instance = await self.instances.get(instance.id)
        nodes = [node for node in instance.workers if node.claimed_by == command_id]
        if not nodes:
            return
        for node in nodes:
            await self.instances.set_leaving(node.id, Manner.AT_ONCE)
            await self.instances.change_node(node.id, status=NodeStatus.DECOMMISSIONING.value)
        await self.evict(instance, nodes, say)
        await self._give_back(instance, nodes, say)
        say(f"taken back: {', '.join(node.private_dns for node in nodes)}")

    async def removal_order(self, instance: Instance) -> Sequence[Node]:
        """Return the workers without a node command: lost ones first, then the idlest, then the youngest."""
        candidates = [node for node in instance.workers if node.claimed_by is None]
        return removal_order(candidates, await self.loads(instance, candidates))

    async def remove_node(self, instance: Instance, node: Node, say: Say) -> None:
        """Let a worker finish its work, then release it; return once it is gone, also when it already was."""
        instance = await self.instances.get(instance.id)
        if all(other.id != node.id for other in instance.workers):
            return
        await self.instances.set_leaving(node.id, Manner.GRACEFUL)
        say(f"{node.private_dns}: decommissioning, what runs there may finish")
        await self.drain(instance, node, say)
        await self._give_back(instance, [node], say)
        say(f"{node.private_dns}: gone, its machine is given back")

    async def put_back(self, instance: Instance, node: Node, say: Say) -> None:
        """Return a worker to service when its removal is ended early."""
        instance = await self.instances.get(instance.id)
        if all(other.id != node.id for other in instance.workers):
            return
        await self.instances.set_leaving(node.id, None)
        try:
            await self.note_departures(instance, say)
            await self.rejoin(instance, node, say)
        except (ClusterFailure, ProviderFailure) as failure:
            say(failure.message)  # from here on it is supervised like every node
        finally:
            await self.instances.change_node(node.id, status=NodeStatus.RUNNING.value)
            await self.instances.release_claim(node.id)

    async def until_registered(self, instance: Instance, node: Node, seconds: float = REGISTER_SECONDS) -> None:
        """Return once a worker gets work. Raises `ClusterFailure` when its daemon ends or the time is over."""
        try:
            async with asyncio.timeout(seconds):
                while node.private_ip not in (await self.registered(instance) or ()):
                    await check_alive(self, instance, node)
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            raise ClusterFailure(
                f"{node.private_dns}: its {self.worker_daemon} did not register with {self.registry} within "
                f"{seconds:g} s"
            ) from None

    async def _add(self, instance: Instance, node: Node, say: Say) -> None:
        if node.status is NodeStatus.RUNNING:
            return
        began = time.monotonic()
        say(f"{node.private_dns}: starting its {self.worker_daemon}")
        await self.bring_up(instance, node, say)
        await self.until_registered(instance, node)
        await self._note_up(node)
        say(f"{node.private_dns}: registered with {self.registry}, RUNNING ({time.monotonic() - began:.1f} s)")

    async def _note_up(self, node: Node) -> None:
        now = time.time()
        await self.instances.change_node(node.id, status=NodeStatus.RUNNING.value, up_at=now, last_seen_at=now)

    async def _give_back(self, instance: Instance, nodes: Sequence[Node], say: Say) -> None:
        async with asyncio.TaskGroup() as group:
            for node in nodes:
                group.create_task(self.stop_worker(instance, node))
        await self.provider(instance).release(instance, nodes)
        await self.instances.drop_nodes([node.id for node in nodes])
        await self.note_departures(instance, say)


def removal_order(workers: Sequence[Node], loads: Sequence[int | None]) -> Sequence[Node]:
    """Return the workers in the order of removal: lost ones, then those with the least load, then the youngest.

    `loads` has the load of each worker, None for one that does not answer.
    """
    candidates = [
        (node, load)
        for node, load in zip(workers, loads, strict=True)
        if node.status in {NodeStatus.RUNNING, NodeStatus.LOST}
    ]

    def rank(candidate: tuple[Node, int | None]) -> tuple[bool, int, int]:
        node, load = candidate
        is_lost = node.status is NodeStatus.LOST or load is None
        return not is_lost, load or 0, -node.id

    return [node for node, _ in sorted(candidates, key=rank)]


_MAKE_ATTEMPTS: Final = 5

BringUp = Callable[[Instance, Node, Say], Awaitable[None]]
"""Starts an engine's daemons on a node; returns once the node gets work."""


TakeBack = Callable[..., Awaitable[None]]
"""Removes the nodes of an unfinished addition; see `ClusterEngine.take_back`."""


class NodeAdditions:
    """Makes the nodes of instances and writes their rows."""

    def __init__(self, instances: Instances, providers: Mapping[str, Provider]) -> None:
        self._instances = instances
        self._providers = providers
        self._making = asyncio.Lock()

    async def with_first_nodes(self, instance: Instance, say: Say) -> Instance:
        """Return an instance with its first nodes; makes those that an earlier start has not made."""
        wanted = instance.configuration.node_configuration.initial_nodes
        for role, missing in (
            (NodeRole.MASTER, 0 if instance.master else 1),
            (NodeRole.WORKER, wanted - len(instance.workers)),
        ):
            if missing > 0:
                say("making the coordinator" if role is NodeRole.MASTER else f"making {missing} workers")
                made = await self._providers[instance.provider].make(instance, role, missing)
                await self._instances.add_nodes(instance.id, made)
                instance = await self._instances.get(instance.id)
        return instance

    async def add(
        self, instance: Instance, count: int, say: Say, *, command_id: int, bring_up: BringUp, take_back: TakeBack
    ) -> None:
        """Add workers for a node command; return once all get work. After a failure, none is left.

        A cancellation keeps the nodes: the command continues with them later, or removes them.
        """
        try:
            nodes = await self._made_for(instance, count, say, command_id)
            async with asyncio.TaskGroup() as group:
                for node in nodes:
                    group.create_task(_done(bring_up(instance, node, say)))
        except Exception as error:  # noqa: BLE001  whatever it was, nothing half made may stay
            cause = first_of(error)
            if isinstance(cause, DatabaseAway):
                raise cause from None  # the command continues when it is back
            say(str(cause))
            await take_back(instance, say, command_id=command_id)
            raise cause from None
        for node in nodes:
            await self._instances.release_claim(node.id)

    async def _made_for(self, instance: Instance, count: int, say: Say, command_id: int) -> Sequence[Node]:
        """Return the command's nodes: those that it made before the service was killed, else new ones."""
        for _ in range(_MAKE_ATTEMPTS):
            async with self._making:
                instance = await self._instances.get(instance.id)
                made = [node for node in instance.workers if node.added_by == command_id]
                if made:
                    say(f"going on with {', '.join(node.private_dns for node in made)}")
                    return made
                say(f"making {count} {'machine' if count == 1 else 'machines'}")
                new = await self._providers[instance.provider].make(instance, NodeRole.WORKER, count)
                try:
                    return await self._instances.add_nodes(instance.id, new, command_id=command_id)
                except IntegrityError:
                    continue  # another replica has just taken the same addresses
        raise ClusterFailure("other node commands took the places of the new nodes again and again; try again")


async def _done(step: Awaitable[None]) -> None:
    await step
