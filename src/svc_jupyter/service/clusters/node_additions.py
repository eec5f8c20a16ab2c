"""New nodes of an instance, on any engine: made once by its provider, even if the service is killed meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol

from sqlalchemy.exc import IntegrityError

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import ADDED_BY, CLAIMED_BY, Instance, Instances, NewNode, Node
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.ground.errors import Unavailable, first_of

_MAKE_ATTEMPTS: Final = 5

BringUp = Callable[[Instance, Node, Say], Awaitable[None]]
"""Starts an engine's daemons on a node; returns once the node gets work."""


class TakeBack(Protocol):
    """Removes the nodes of an unfinished addition; see `ClusterEngine.take_back`."""

    async def __call__(self, instance: Instance, say: Say, *, command_id: int) -> None:
        """Remove them; repeated, it does nothing."""
        ...


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
            if isinstance(cause, Unavailable):
                raise cause from None  # the database is away: the command continues when it is back
            say(str(cause))
            await take_back(instance, say, command_id=command_id)
            raise cause from None
        for node in nodes:
            await self._instances.mark_node(node.id, **{CLAIMED_BY: None})

    async def _made_for(self, instance: Instance, count: int, say: Say, command_id: int) -> Sequence[Node]:
        """Return the command's nodes: those that it made before the service was killed, else new ones."""
        for _ in range(_MAKE_ATTEMPTS):
            async with self._making:
                instance = await self._instances.get(instance.id)
                made = [node for node in instance.workers if node.details.get(ADDED_BY) == command_id]
                if made:
                    say(f"going on with {', '.join(node.private_dns for node in made)}")
                    return made
                say(f"making {count} {'machine' if count == 1 else 'machines'}")
                new = await self._providers[instance.provider].make(instance, NodeRole.WORKER, count)
                try:
                    return await self._instances.add_nodes(instance.id, [_marked(node, command_id) for node in new])
                except IntegrityError:
                    continue  # another replica has just taken the same addresses
        raise ClusterFailure("other node commands took the places of the new nodes again and again; try again")


async def _done(step: Awaitable[None]) -> None:
    await step


def _marked(node: NewNode, command_id: int) -> NewNode:
    details = {**node.details, ADDED_BY: command_id, CLAIMED_BY: command_id}
    return NewNode(node.role, node.hostname, node.private_ip, node.private_dns, node.instance_type, details)
