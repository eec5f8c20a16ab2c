"""Clusters of Hadoop: HDFS, YARN and MapReduce on whatever provider."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.node_additions import NodeAdditions
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.clusters.samples import Sample
from svc_jupyter.service.engines.hadoop.addresses import Addresses
from svc_jupyter.service.engines.hadoop.check import check
from svc_jupyter.service.engines.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.engines.hadoop.daemons import HadoopDaemon
from svc_jupyter.service.engines.hadoop.nodes import HadoopNodes
from svc_jupyter.service.engines.hadoop.readiness import Readiness
from svc_jupyter.service.engines.hadoop.scaling import Scaling
from svc_jupyter.service.engines.hadoop.supervision import Supervision
from svc_jupyter.service.engines.hadoop.yarn_rest import YarnApplication, YarnRest
from svc_jupyter.service.engines.hive_server.program import APPLICATION
from svc_jupyter.service.first_cause import first_of

_BUSY_STATES = ("NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING")


class HealthOf(Protocol):
    """Takes a live sample of a cluster."""

    async def sample(self, instance: Instance) -> Sample:
        """Return it; what does not answer within 2 s is DOWN."""
        ...


class Beside(Protocol):
    """A daemon on the coordinator that is not Hadoop's own, such as HiveServer2."""

    name: str

    async def ensure(self, instance: Instance, say: Say) -> object:
        """Return once it answers, started when need be."""
        ...

    async def restart(self, instance: Instance, node: Node, say: Say) -> None:
        """Start it again where it died."""
        ...


class HadoopEngine:
    """Runs Hadoop clusters; see `ClusterEngine`."""

    cluster_type = ClusterType.HADOOP
    can_scale = True

    def __init__(
        self,
        instances: Instances,
        providers: Mapping[str, Provider],
        nodes: HadoopNodes,
        yarn: YarnRest,
        health: HealthOf,
        hive_server: Beside | None = None,
        beside: Sequence[Beside] = (),
    ) -> None:
        """Without `hive_server` a cluster has none; `beside` are others that are started again where they die."""
        self._instances = instances
        self._providers = providers
        self._nodes = nodes
        self._yarn = yarn
        self._health = health
        self._hive_server = hive_server
        self._readiness = Readiness(nodes, yarn)
        others = [*([hive_server] if hive_server else []), *beside]
        self._supervision = Supervision(instances, nodes, yarn, others)
        self._additions = NodeAdditions(instances, providers)
        self._scaling = Scaling(instances, providers, self._additions, nodes, yarn)
        self._history = asyncio.Lock()

    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for settings that would break the cluster's own wiring."""
        check(configuration)

    async def start(self, instance: Instance, say: Say) -> None:
        """Bring coordinator and first workers up together; return once all workers are registered."""
        await self._nodes.install(say)
        instance = await self._additions.with_first_nodes(instance, say)
        await self._nodes.write_client_files(instance, say)
        say(f"starting the daemons of {len(instance.nodes)} nodes")
        try:
            async with asyncio.TaskGroup() as group:
                for node in instance.nodes:
                    group.create_task(self._start_node(instance, node, say))
        except BaseExceptionGroup as error:
            raise first_of(error) from None
        await self._readiness.wait(instance, say)
        if self._hive_server is not None and instance.configuration.hive_settings.is_hs2_enabled:
            await self._hive_server.ensure(instance, say)
        now = time.time()
        for node in instance.nodes:
            await self._instances.change_node(node.id, status=NodeStatus.RUNNING.value, up_at=now, last_seen_at=now)

    async def current(self, instance: Instance) -> Instance:
        """Return an instance as its rows are now, with the nodes that a start has made."""
        return await self._instances.get(instance.id)

    async def supervise(self, instance: Instance) -> None:
        """Start daemons that died, later and later when they die again, and bring the nodes' rows up to date."""
        await self._supervision.look(instance)

    async def terminate(self, instance: Instance, say: Say) -> None:
        """End everything and give the machines back."""
        say("ending the daemons")
        self._supervision.forget(instance)
        provider = self._providers[instance.provider]
        await provider.release(instance, instance.nodes)
        await provider.sweep(instance)

    async def is_busy(self, instance: Instance) -> bool:
        """Whether YARN works for somebody. Where YARN is silent, nobody knows: then it is busy."""
        try:
            resource_manager = Addresses.of(instance).resource_manager_http
            return works_for_somebody(await self._yarn.applications(resource_manager, _BUSY_STATES))
        except DaemonSilent:
            return True

    async def ensure_history_server(self, instance: Instance, say: Say) -> None:
        """Return once the coordinator's history server answers, started when nobody needed it before.

        Clients ask it for the end of a MapReduce job; without it each question is tried for seconds. Raises
        `ClusterFailure` and `ProviderFailure`.
        """
        master = instance.master
        if master is None:
            raise ClusterFailure(f"cluster {instance.cluster_id} has no coordinator yet")
        async with self._history:
            if not await self._readiness.history_answers(instance):
                say("starting the history server")
                await self._nodes.start(instance, master, HadoopDaemon.HISTORY_SERVER, say)
                await self._readiness.wait_for_history(instance, master)

    async def add_nodes(self, instance: Instance, count: int, say: Say, *, command_id: int) -> None:
        """See `Scaling.add_nodes`."""
        await self._scaling.add_nodes(instance, count, say, command_id=command_id)

    async def take_back(self, instance: Instance, say: Say, *, command_id: int) -> None:
        """See `Scaling.take_back`."""
        await self._scaling.take_back(instance, say, command_id=command_id)

    async def removal_order(self, instance: Instance) -> Sequence[Node]:
        """See `Scaling.removal_order`."""
        return await self._scaling.removal_order(instance)

    async def remove_node(self, instance: Instance, node: Node, say: Say) -> None:
        """See `Scaling.remove_node`."""
        await self._scaling.remove_node(instance, node, say)

    async def put_back(self, instance: Instance, node: Node, say: Say) -> None:
        """See `Scaling.put_back`."""
        await self._scaling.put_back(instance, node, say)

    async def health(self, instance: Instance) -> Sample:
        """Return a live sample."""
        return await self._health.sample(instance)

    async def _start_node(self, instance: Instance, node: Node, say: Say) -> None:
        await self._nodes.prepare(instance, node, say)
        await self._nodes.start_daemons(instance, node, say)


def works_for_somebody(applications: Iterable[YarnApplication]) -> bool:
    """Return whether any of these that have not ended is a user's.

    HiveServer2's own is none: it lasts as long as the server, and what statements it has are commands.
    """
    return any(application.name != APPLICATION for application in applications)
