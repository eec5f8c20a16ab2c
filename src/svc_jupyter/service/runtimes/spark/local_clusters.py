"""Spark clusters without Hadoop (`spark.master=local[…]`): one node with the session server."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import Say
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.providers.provider import Machine, Provider
from svc_jupyter.service.clusters.supervision import Supervision
from svc_jupyter.service.runtimes.hadoop.causes import explain
from svc_jupyter.service.runtimes.hadoop.nodes import Bootstrap
from svc_jupyter.service.runtimes.spark.session_servers import SessionServers


class LocalClusters:
    """Starts them, and supervises their only daemon."""

    def __init__(
        self,
        instances: Instances,
        providers: Mapping[str, Provider],
        servers: SessionServers,
        bootstrap: Bootstrap,
    ) -> None:
        self._instances = instances
        self._providers = providers
        self._servers = servers
        self._bootstrap = bootstrap
        self._supervision = Supervision(instances, self)

    async def start(self, instance: Instance, say: Say) -> None:
        """Make the node and start the session server there; return once it answers."""
        if instance.master is None:
            say("making the coordinator")
            made = await self._providers[instance.provider].make(instance, NodeRole.MASTER, 1)
            await self._instances.add_nodes(instance.id, made)
            instance = await self._instances.get(instance.id)
        node = instance.master
        assert node is not None
        await self._bootstrap(instance, self._providers[instance.provider].machine(instance, node), node, say)
        await self._servers.ensure(instance, say)
        now = time.time()
        await self._instances.change_node(node.id, status=NodeStatus.RUNNING.value, up_at=now, last_seen_at=now)

    async def supervise(self, instance: Instance) -> None:
        """Restart the server when it has died, with growing delays when it dies again."""
        await self._supervision.look(instance)

    def forget(self, instance: Instance) -> None:
        """Drop the state of a cluster that ends."""
        self._supervision.forget(instance)

    def machine(self, instance: Instance, node: Node) -> Machine:
        """See `Daemons.machine`."""
        return self._providers[instance.provider].machine(instance, node)

    def daemons_of(self, node: Node) -> Collection[str]:  # noqa: ARG002
        """Return the only daemon, the session server."""
        return (self._servers.name,)

    def cause(self, daemon: str, node: Node, output: str, exit_code: int | None) -> str:
        """See `Daemons.cause`."""
        return explain(daemon, node.private_dns, output, exit_code)

    async def registered(self, instance: Instance) -> Collection[str] | None:  # noqa: ARG002
        """Return nothing: there are no workers."""
        return ()

    async def restart(self, instance: Instance, node: Node, daemon: str) -> None:  # noqa: ARG002
        """See `Daemons.restart`."""
        await self._servers.restart(instance, node, _quietly)


def _quietly(_line: str) -> None:
    """Discard the line: no caller waits for a restart."""
