"""A double of an engine: its daemons are `sleep`s, so that the life of a cluster can be tested in moments.

Everything around it is real: the provider `local` with its processes, the database, the driver.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType, NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Sample, Say
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.providers.provider import Daemon, Provider
from svc_jupyter.service.ground.errors import Invalid


class SmallEngine:
    """One `sleep` a node. What goes wrong, and what it waits for, is set on it."""

    cluster_type = ClusterType.HADOOP
    can_scale = False

    def __init__(self, instances: Instances, providers: Mapping[str, Provider]) -> None:
        self._instances = instances
        self._providers = providers
        self.may_start = asyncio.Event()
        self.may_start.set()
        self.start_failure: Exception | None = None
        self.supervise_failure: Exception | None = None
        self.terminate_failure: Exception | None = None
        self.busy = False
        self.starts = 0
        self.supervised = 0

    def check(self, configuration: ClusterConfiguration) -> None:
        if "fs.defaultFS" in configuration.custom_settings:
            raise Invalid("hadoop_settings.custom_config: fs.defaultFS is the cluster's own")

    async def start(self, instance: Instance, say: Say) -> None:
        self.starts += 1
        nodes = list(instance.nodes)
        wanted = {NodeRole.MASTER: 1, NodeRole.WORKER: instance.configuration.node_configuration.initial_nodes}
        for role, count in wanted.items():
            missing = count - sum(node.role is role for node in nodes)
            if missing:
                made = await self._provider(instance).make(await self._instances.get(instance.id), role, missing)
                nodes += await self._instances.add_nodes(instance.id, made)
        for node in nodes:
            await self._daemon(instance, node)
        say(f"{len(nodes)} nodes wait")
        await self.may_start.wait()
        if self.start_failure is not None:
            raise self.start_failure
        for node in nodes:
            await self._instances.change_node(node.id, status=NodeStatus.RUNNING.value, up_at=time.time())

    async def supervise(self, instance: Instance) -> None:
        self.supervised += 1
        if self.supervise_failure is not None:
            raise self.supervise_failure
        for node in instance.nodes:
            await self._daemon(instance, node)
        await self._instances.seen([node.id for node in instance.nodes], time.time())

    async def terminate(self, instance: Instance, say: Say) -> None:
        say("ending")
        if self.terminate_failure is not None:
            raise self.terminate_failure
        await self._provider(instance).release(instance, instance.nodes)

    async def is_busy(self, instance: Instance) -> bool:
        return self.busy

    async def add_nodes(self, instance: Instance, count: int, say: Say, *, command_id: int) -> None:
        raise ClusterFailure("no nodes are added in these tests")

    async def take_back(self, instance: Instance, say: Say, *, command_id: int) -> None:
        raise NotImplementedError

    async def removal_order(self, instance: Instance) -> Sequence[Node]:
        return ()

    async def remove_node(self, instance: Instance, node: Node, say: Say) -> None:
        raise NotImplementedError

    async def put_back(self, instance: Instance, node: Node, say: Say) -> None:
        raise NotImplementedError

    async def health(self, instance: Instance) -> Sample:
        raise NotImplementedError

    async def pids(self, instance: Instance) -> set[int]:
        """Return the processes of an instance's daemons."""
        found: set[Any] = set()
        for node in instance.nodes:
            found |= {state.pid for state in await self._provider(instance).machine(instance, node).daemons()}
        return found - {None}

    def _provider(self, instance: Instance) -> Provider:
        return self._providers[instance.provider]

    async def _daemon(self, instance: Instance, node: Node) -> None:
        await self._provider(instance).machine(instance, node).start(Daemon("sleeper", ["sleep", "1000"]))
