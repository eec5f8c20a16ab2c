"""Presto clusters: a coordinator and workers on any provider."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import Sample, Say, ServiceProbe
from svc_jupyter.service.clusters.daemon_engine import POLL_SECONDS, REGISTER_SECONDS, DaemonEngine
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.installs.engine import Installed
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.presto.addresses import coordinator_http, http_of
from svc_jupyter.service.runtimes.presto.causes import explain
from svc_jupyter.service.runtimes.presto.daemons import NAME
from svc_jupyter.service.runtimes.presto.head_start import HeadStarts
from svc_jupyter.service.runtimes.presto.health import PrestoHealth
from svc_jupyter.service.runtimes.presto.nodes import STOP_SECONDS, PrestoNodes
from svc_jupyter.service.runtimes.presto.presto_rest import PrestoRest
from svc_jupyter.service.runtimes.presto.readiness import Readiness
from svc_jupyter.service.runtimes.presto.settings import custom_settings

_ASK_AGAIN_SECONDS: Final = 2.0


class PrestoEngine(DaemonEngine):
    """Runs Presto clusters."""

    cluster_type = ClusterType.PRESTO
    worker_daemon = "server"
    registry = "the coordinator"

    def __init__(
        self, instances: Instances, providers: Mapping[str, Provider], nodes: PrestoNodes, metastore: ServiceProbe
    ) -> None:
        super().__init__(instances, providers)
        self._nodes = nodes
        self._rest = PrestoRest()
        self.head_starts = HeadStarts()
        self._health = PrestoHealth(providers, self._rest, metastore)
        self._readiness = Readiness(self, self._rest)

    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for settings that would break the cluster's own wiring."""
        custom_settings(configuration)

    async def install(self, say: Say) -> Installed:
        """Return Presto, installed when missing."""
        return await self._nodes.install(say)

    async def bring_up(self, instance: Instance, node: Node, say: Say) -> None:
        """Prepare a node and start its server."""
        await self._nodes.bring_up(instance, node, say)

    async def stop_worker(self, instance: Instance, node: Node) -> None:
        """End a worker's server."""
        await self.machine(instance, node).stop(NAME, STOP_SECONDS)

    async def until_ready(self, instance: Instance, say: Say) -> None:
        """Return once a query has run on all workers."""
        await self._readiness.wait(instance, say)

    async def until_registered(self, instance: Instance, node: Node, seconds: float = REGISTER_SECONDS) -> None:
        """Return once the coordinator assigns work to a worker, which is later than its registration."""
        await self._readiness.wait_for(instance, node, seconds)

    async def registered(self, instance: Instance) -> Collection[str] | None:
        """Return the addresses of the servers that the coordinator has recently heard from."""
        try:
            return await self._rest.announced(coordinator_http(instance))
        except DaemonSilent:
            return None

    def daemons_of(self, node: Node) -> Collection[str]:  # noqa: ARG002
        """Return the only daemon: every node runs one server."""
        return (NAME,)

    def cause(self, daemon: str, node: Node, output: str, exit_code: int | None) -> str:  # noqa: ARG002
        """Return why a server ended."""
        return explain(node.private_dns, output, exit_code)

    async def restart(self, instance: Instance, node: Node, daemon: str) -> None:  # noqa: ARG002
        """Restart a server."""
        await self._nodes.restart(instance, node)

    async def loads(self, instance: Instance, nodes: Sequence[Node]) -> Sequence[int | None]:  # noqa: ARG002
        """Return the number of running queries on each worker."""
        return await asyncio.gather(*map(self._queries_on, nodes))

    async def is_busy(self, instance: Instance) -> bool:
        """Return whether a query is unfinished. True if the coordinator does not answer."""
        try:
            figures = await self._rest.figures(coordinator_http(instance))
        except DaemonSilent:
            return True
        return figures.running_queries + figures.waiting_queries > 0

    async def drain(self, instance: Instance, node: Node, say: Say) -> None:
        """Return once a worker's server has ended by itself, or is not there."""
        await self.instances.change_node(node.id, status=NodeStatus.DECOMMISSIONING.value)
        told: str | None = None
        ask_at = 0.0
        while any(daemon.is_running for daemon in await self.machine(instance, node).daemons()):
            if time.monotonic() >= ask_at:
                ask_at = time.monotonic() + _ASK_AGAIN_SECONDS
                line = await self._ask_to_end(node)
                if line != told:
                    told = line
                    say(f"{node.private_dns}: {line}")
            await asyncio.sleep(POLL_SECONDS)

    async def rejoin(self, instance: Instance, node: Node, say: Say) -> None:  # noqa: ARG002
        """Leave it to the supervision: a server that was ordered to end cannot be stopped from ending."""
        say(f"{node.private_dns}: put back; it ends what it does, then its server starts again")

    async def health(self, instance: Instance) -> Sample:
        """Return a live sample."""
        return await self._health.sample(instance)

    async def end_queries(self, instance: Instance, source: str) -> None:
        """End a source's queries on the coordinator; if it does not answer, its queries are gone, too."""
        coordinator = coordinator_http(instance)
        with suppress(DaemonSilent):
            for query in await self._rest.queries(coordinator, source):
                await self._rest.end_query(coordinator, query)

    async def close(self) -> None:
        """Release the clusters; they keep running."""
        self.head_starts.close()
        await self._rest.close()

    async def _ask_to_end(self, node: Node) -> str:
        """Order a worker to end, repeatably; return a description of its remaining work."""
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
