"""A cluster that is UP by its rows, and a double of an engine that scales it: for the rules, not for the work."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from tests.service.clusters.small_engine import SmallEngine
from tests.service.clusters.world import World

from svc_jupyter.api.clusters import ClusterChanges, ClusterType, NodeRole
from svc_jupyter.api.states import ClusterState, NodeStatus
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Sample, Say
from svc_jupyter.service.clusters.instances import Instance, NewNode, Node
from svc_jupyter.service.clusters.nodes import Nodes
from svc_jupyter.service.kinds.nodes.kinds import AddNodeKind, RemoveNodeKind
from svc_jupyter.service.schema.clusters import cluster_instances, clusters


class ScalingDouble(SmallEngine):
    """Adds and removes rows. `may_go_on` holds its steps up, `failure` is what they then fail with."""

    can_scale = True

    def __init__(self, engine: SmallEngine) -> None:
        super().__init__(engine._instances, engine._providers)
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()
        self.failure: Exception | None = None
        self.done: list[tuple[str, Any]] = []
        self.looks = 0

    async def add_nodes(self, instance: Instance, count: int, say: Say, *, command_id: int) -> None:
        instance = await self._instances.get(instance.id)
        nodes = [node for node in instance.workers if node.added_by == command_id]
        if not nodes:
            new = [new_worker(20 + len(instance.workers) + number) for number in range(count)]
            nodes = list(await self._instances.add_nodes(instance.id, new, command_id=command_id))
        say("made")
        await self._step()
        for node in nodes:
            await self._instances.change_node(node.id, status=NodeStatus.RUNNING.value)
            await self._instances.release_claim(node.id)
        self.done.append(("added", len(nodes)))

    async def take_back(self, instance: Instance, say: Say, *, command_id: int) -> None:
        instance = await self._instances.get(instance.id)
        taken = [node.id for node in instance.workers if node.claimed_by == command_id]
        await self._instances.drop_nodes(taken)
        self.done.append(("taken back", len(taken)))
        say("taken back")

    async def removal_order(self, instance: Instance) -> Sequence[Node]:
        return [node for node in reversed((await self._instances.get(instance.id)).workers) if node.claimed_by is None]

    async def remove_node(self, instance: Instance, node: Node, say: Say) -> None:
        say("decommissioning")
        await self._step()
        await self._instances.drop_nodes([node.id])
        self.done.append(("removed", node.private_dns))

    async def put_back(self, instance: Instance, node: Node, say: Say) -> None:
        await self._instances.release_claim(node.id)
        self.done.append(("put back", node.private_dns))

    async def health(self, instance: Instance) -> Sample:
        self.looks += 1
        await self._step()
        pages = {"YARN": "http://127.0.0.1:8088/cluster/apps"}
        return Sample({"engine": {}, "look": self.looks}, {"cpu_usage": 7.0}, pages)

    async def _step(self) -> None:
        await self.may_go_on.wait()
        if self.failure is not None:
            raise self.failure


@dataclass
class ScaledWorld:
    """The parts, and how tests look at them."""

    world: World
    engine: ScalingDouble
    nodes: Nodes
    instance_id: int = 0
    runs: bool = field(default=False)

    @classmethod
    async def of(cls, world: World, cluster_type: ClusterType = ClusterType.HADOOP) -> ScaledWorld:
        """Return a world whose cluster `default` is UP with a coordinator and two workers."""
        engine = ScalingDouble(world.engine)
        engines = {cluster_type: engine}
        world.life_cycle._engines = engines
        for kind in (AddNodeKind, RemoveNodeKind):
            world.kinds[kind.command_type.value] = kind(world.database, world.instances, engines)
        scaled = cls(world, engine, Nodes(world.database, world.clusters, world.instances, engines, world.intake))
        if cluster_type is not ClusterType.HADOOP:
            await world.clusters.edit("default", ClusterChanges.model_validate(_SETTINGS[cluster_type]), by=world.by)
        await scaled.begin()
        return scaled

    async def begin(self) -> None:
        """Bring the cluster UP, by its rows."""
        cluster = await self.world.clusters.resolve(self.world.by.account_id, "default")
        database, up = self.world.database, {"state": ClusterState.UP.value}

        def start(connection: sa.Connection) -> int:
            instance_id = self.world.life_cycle.start(connection, cluster)
            connection.execute(sa.update(cluster_instances).where(cluster_instances.c.id == instance_id).values(up))
            connection.execute(sa.update(clusters).where(clusters.c.id == cluster.id).values(up))
            return instance_id

        self.instance_id = await database.write(start)
        new = [NewNode(NodeRole.MASTER, "m", "127.1.1.1", "ip-127-1-1-1", "local", {}), new_worker(11), new_worker(12)]
        for node in await self.world.instances.add_nodes(self.instance_id, new):
            await self.world.instances.change_node(node.id, status=NodeStatus.RUNNING.value)

    async def grow(self, count: int) -> None:
        """Let the cluster have more workers."""
        for node in await self.world.instances.add_nodes(self.instance_id, [new_worker(13 + n) for n in range(count)]):
            await self.world.instances.change_node(node.id, status=NodeStatus.RUNNING.value)

    async def workers(self) -> list[str]:
        """Return the names of the workers."""
        return [node.private_dns for node in (await self.world.instances.get(self.instance_id)).workers]

    async def claims(self) -> set[int]:
        """Return the commands that have nodes."""
        workers = (await self.world.instances.get(self.instance_id)).workers
        return {node.claimed_by for node in workers if node.claimed_by is not None}

    async def run(self) -> None:
        """Let commands run from now on."""
        await self.world.bus.start()
        await self.world.runner.start()
        self.runs = True


_SETTINGS = {
    ClusterType.PRESTO: {"presto_settings": {"enable_presto": True}},
    ClusterType.SPARK: {"hadoop_settings": {"use_spark": True}},
}


def new_worker(number: int) -> NewNode:
    """Return a worker with the address that its number gives it."""
    name = f"ip-127-1-1-{number}"
    return NewNode(NodeRole.WORKER, name, f"127.1.1.{number}", name, "local", {})


NO_ROOM = ClusterFailure("there is no room on this machine")
