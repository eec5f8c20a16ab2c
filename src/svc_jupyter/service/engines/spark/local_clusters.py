"""Spark clusters without Hadoop (`spark.master=local[…]`): one node, and on it the session server."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

import structlog

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.engines.hadoop.causes import last_words
from svc_jupyter.service.engines.hadoop.nodes import Bootstrap
from svc_jupyter.service.engines.hadoop.restarts import Deaths
from svc_jupyter.service.engines.spark.session_servers import SessionServers

_SEEN_EVERY: Final = 5.0
log = structlog.get_logger(__name__)


class LocalClusters:
    """Starts them, and keeps their one daemon running."""

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
        self._deaths: dict[int, Deaths] = {}
        self._told: dict[int, str | None] = {}

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
        """Start the server again when it died, later and later when it dies again."""
        node = instance.master
        if node is None:
            return
        machine = self._providers[instance.provider].machine(instance, node)
        state = next((each for each in await machine.daemons() if each.name == self._servers.name), None)
        is_running = state is not None and state.is_running
        trouble = None
        if not is_running:
            deaths = self._deaths.setdefault(instance.id, Deaths())
            now = time.monotonic()
            cause = last_words(await machine.tail(self._servers.name)) or "it wrote nothing"
            if deaths.is_troubled(now):
                trouble = f"the session server died 5 times within 2 minutes: {cause}; it is started again every 30 s"
            if deaths.may_restart(now):
                deaths.note(now)
                log.warning("daemon_restarted", cluster_id=instance.cluster_id, node=node.private_dns, cause=cause)
                try:
                    await self._servers.restart(instance, node, _quietly)
                except ClusterFailure as failure:
                    trouble = failure.message
        await self._note(node, NodeStatus.RUNNING if is_running else NodeStatus.LOST)
        if self._told.get(instance.id) != trouble:
            self._told[instance.id] = trouble
            await self._instances.change(instance.id, message=trouble)

    def forget(self, instance: Instance) -> None:
        """Drop what is remembered of a cluster that ends."""
        self._deaths.pop(instance.id, None)
        self._told.pop(instance.id, None)

    async def _note(self, node: Node, status: NodeStatus) -> None:
        now = time.time()
        if status is not node.status:
            await self._instances.change_node(node.id, status=status.value)
        elif status is NodeStatus.RUNNING and now - (node.last_seen_at or 0) >= _SEEN_EVERY:
            await self._instances.seen([node.id], now)


def _quietly(_line: str) -> None:
    """Nobody waits for a daemon that is started again."""
