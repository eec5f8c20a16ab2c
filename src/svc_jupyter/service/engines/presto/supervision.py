"""Keeping a running Presto cluster whole: servers that died start again, and the nodes' rows say how each is."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Final

import structlog

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.node_claims import CLAIMED_BY
from svc_jupyter.service.clusters.providers.provider import DaemonState, ProviderFailure
from svc_jupyter.service.engines.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.engines.hadoop.restarts import Deaths
from svc_jupyter.service.engines.presto.addresses import coordinator_http
from svc_jupyter.service.engines.presto.causes import explain
from svc_jupyter.service.engines.presto.daemons import NAME
from svc_jupyter.service.engines.presto.nodes import PrestoNodes
from svc_jupyter.service.engines.presto.presto_rest import PrestoRest

log = structlog.get_logger(__name__)

_SEEN_EVERY: Final = 5.0
"""Seconds between two notes in the database that a node answered."""


class Supervision:
    """Looks after the servers of all running Presto clusters of this process."""

    def __init__(self, instances: Instances, nodes: PrestoNodes, rest: PrestoRest) -> None:
        self._instances = instances
        self._nodes = nodes
        self._rest = rest
        self._deaths: dict[tuple[int, int], Deaths] = {}
        self._told: dict[int, str] = {}

    async def look(self, instance: Instance) -> None:
        """Look once at every node that no command is at work on."""
        announced = await self._announced(instance)
        troubles = []
        for node in instance.nodes:
            if CLAIMED_BY in node.details:
                continue
            try:
                is_running, trouble = await self._keep_running(instance, node)
            except ProviderFailure as failure:  # of this machine; the others are looked at all the same
                is_running, trouble = False, failure.message
            if trouble:
                troubles.append(trouble)
            await self._note_status(node, status_of(node, announced, is_running=is_running))
        await self._tell(instance, "; ".join(troubles))

    def forget(self, instance: Instance) -> None:
        """Drop what is remembered of a cluster that ends."""
        self._deaths = {key: deaths for key, deaths in self._deaths.items() if key[0] != instance.id}
        self._told.pop(instance.id, None)

    async def _announced(self, instance: Instance) -> Collection[str] | None:
        try:
            return await self._rest.announced(coordinator_http(instance))
        except DaemonSilent:
            return None

    async def _keep_running(self, instance: Instance, node: Node) -> tuple[bool, str | None]:
        """Start the server where it died; return whether it ran, and what to tell when it dies again and again."""
        machine = self._nodes.machine(instance, node)
        states = {state.name: state for state in await machine.daemons()}
        state = states.get(NAME, DaemonState(NAME))
        if state.is_running:
            return True, None
        deaths = self._deaths.setdefault((instance.id, node.id), Deaths())
        now = time.monotonic()
        cause = explain(node.private_dns, await machine.tail(NAME, 32_768), state.exit_code)
        trouble = None
        if deaths.is_troubled(now):
            trouble = f"{cause} (it died 5 times within 2 minutes; it is started again every 30 s)"
        if deaths.may_restart(now):
            deaths.note(now)
            log.warning("daemon_restarted", cluster_id=instance.cluster_id, node=node.private_dns, cause=cause)
            await self._nodes.restart(instance, node)
        return False, trouble

    async def _note_status(self, node: Node, status: NodeStatus) -> None:
        now = time.time()
        if status is not node.status:
            seen = {"last_seen_at": now} if status is NodeStatus.RUNNING else {}
            await self._instances.change_node(node.id, status=status.value, **seen)
        elif status is NodeStatus.RUNNING and now - (node.last_seen_at or 0) >= _SEEN_EVERY:
            await self._instances.seen([node.id], now)

    async def _tell(self, instance: Instance, trouble: str) -> None:
        if self._told.get(instance.id) != trouble:
            self._told[instance.id] = trouble
            await self._instances.change(instance.id, message=trouble or None)


def status_of(node: Node, announced: Collection[str] | None, *, is_running: bool) -> NodeStatus:
    """Return a node's status: its server runs, and the coordinator has heard of it.

    While the coordinator (`announced` is None) is away, nobody knows better of a worker than before.
    """
    if not is_running:
        return NodeStatus.LOST
    if announced is None:
        return NodeStatus.LOST if node.role is NodeRole.MASTER else node.status
    return NodeStatus.RUNNING if node.private_ip in announced else NodeStatus.LOST
