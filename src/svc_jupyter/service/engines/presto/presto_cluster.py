"""Clusters of Presto: a coordinator and workers on whatever provider."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import Say
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.node_additions import NodeAdditions
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.clusters.samples import Sample
from svc_jupyter.service.clusters.service_probe import ServiceProbe
from svc_jupyter.service.engines.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.engines.presto.addresses import coordinator_http
from svc_jupyter.service.engines.presto.head_start import HeadStarts
from svc_jupyter.service.engines.presto.health import PrestoHealth
from svc_jupyter.service.engines.presto.nodes import PrestoNodes
from svc_jupyter.service.engines.presto.presto_rest import PrestoRest
from svc_jupyter.service.engines.presto.readiness import Readiness
from svc_jupyter.service.engines.presto.scaling import Scaling
from svc_jupyter.service.engines.presto.settings import custom_settings
from svc_jupyter.service.engines.presto.supervision import Supervision
from svc_jupyter.service.first_cause import first_of


class PrestoEngine:
    """Runs Presto clusters; see `ClusterEngine`."""

    cluster_type = ClusterType.PRESTO
    can_scale = True

    def __init__(
        self, instances: Instances, providers: Mapping[str, Provider], nodes: PrestoNodes, metastore: ServiceProbe
    ) -> None:
        self._instances = instances
        self._providers = providers
        self._nodes = nodes
        self._rest = PrestoRest()
        self.head_starts = HeadStarts()
        self._health = PrestoHealth(providers, self._rest, metastore)
        self._readiness = Readiness(nodes, self._rest)
        self._supervision = Supervision(instances, nodes, self._rest)
        self._additions = NodeAdditions(instances, providers)
        self._scaling = Scaling(instances, providers, self._additions, nodes, self._rest, self._readiness)

    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for settings that would break the cluster's own wiring."""
        custom_settings(configuration)

    async def start(self, instance: Instance, say: Say) -> None:
        """Bring coordinator and first workers up together; return once a query worked with all of them."""
        await self._nodes.install(say)
        instance = await self._additions.with_first_nodes(instance, say)
        say(f"starting the servers of {len(instance.nodes)} nodes")
        try:
            async with asyncio.TaskGroup() as group:
                for node in instance.nodes:
                    group.create_task(self._nodes.bring_up(instance, node, say))
        except BaseExceptionGroup as error:
            raise first_of(error) from None
        await self._readiness.wait(instance, say)
        now = time.time()
        for node in instance.nodes:
            await self._instances.change_node(node.id, status=NodeStatus.RUNNING.value, up_at=now, last_seen_at=now)

    async def supervise(self, instance: Instance) -> None:
        """Start servers that died, later and later when they die again, and bring the nodes' rows up to date."""
        await self._supervision.look(instance)

    async def terminate(self, instance: Instance, say: Say) -> None:
        """End everything and give the machines back."""
        say("ending the servers")
        self._supervision.forget(instance)
        provider = self._providers[instance.provider]
        await provider.release(instance, instance.nodes)
        await provider.sweep(instance)

    async def is_busy(self, instance: Instance) -> bool:
        """Whether a query has not ended. Where the coordinator is silent, nobody knows: then it is busy."""
        try:
            figures = await self._rest.figures(coordinator_http(instance))
        except DaemonSilent:
            return True
        return figures.running_queries + figures.waiting_queries > 0

    async def end_queries(self, instance: Instance, source: str) -> None:
        """End what the coordinator still runs for a source; where it is silent, so are its queries."""
        coordinator = coordinator_http(instance)
        with suppress(DaemonSilent):
            for query in await self._rest.queries(coordinator, source):
                await self._rest.end_query(coordinator, query)

    async def close(self) -> None:
        """Let go of the clusters; they run on."""
        self.head_starts.close()
        await self._rest.close()

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
