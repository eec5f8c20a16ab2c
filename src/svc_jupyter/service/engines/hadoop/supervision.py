"""Keeping a running cluster whole: daemons that died start again, and the nodes' rows say how each is."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import structlog

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import Say
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.node_claims import CLAIMED_BY
from svc_jupyter.service.clusters.providers.provider import DaemonState, ProviderFailure
from svc_jupyter.service.engines.hadoop.addresses import Addresses
from svc_jupyter.service.engines.hadoop.causes import explain
from svc_jupyter.service.engines.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.engines.hadoop.daemons import OF_ROLE, HadoopDaemon
from svc_jupyter.service.engines.hadoop.nodes import HadoopNodes
from svc_jupyter.service.engines.hadoop.restarts import Deaths
from svc_jupyter.service.engines.hadoop.yarn_rest import RUNNING, YarnNode, YarnRest

log = structlog.get_logger(__name__)

_SEEN_EVERY: Final = 5.0
"""Seconds between two notes in the database that a node answered."""
_Key = tuple[int, int, str]


class Restarts(Protocol):
    """Starts a daemon of the coordinator again."""

    name: str

    async def restart(self, instance: Instance, node: Node, say: Say) -> None:
        """Start it where it died."""
        ...


class Supervision:
    """Looks after the daemons of all running clusters of this process."""

    def __init__(
        self, instances: Instances, nodes: HadoopNodes, yarn: YarnRest, others: Sequence[Restarts] = ()
    ) -> None:
        """`others` start the coordinator's daemons that are not Hadoop's own."""
        self._instances = instances
        self._nodes = nodes
        self._yarn = yarn
        self._others = {other.name: other for other in others}
        self._deaths: dict[_Key, Deaths] = {}
        self._told: dict[int, str] = {}

    async def look(self, instance: Instance) -> None:
        """Look once at every node that no command is at work on."""
        known = await self._known(instance)
        troubles = []
        for node in instance.nodes:
            if CLAIMED_BY in node.details:
                await self._note_seen(node, known)
                continue
            try:
                whole, trouble = await self._keep_running(instance, node)
            except ProviderFailure as failure:  # of this machine; the others are looked at all the same
                whole, trouble = False, [failure.message]
            troubles += trouble
            await self._note_status(node, status_of(node, known, daemons_run=whole))
        await self._tell(instance, "; ".join(troubles))

    def forget(self, instance: Instance) -> None:
        """Drop what is remembered of a cluster that ends."""
        self._deaths = {key: deaths for key, deaths in self._deaths.items() if key[0] != instance.id}
        self._told.pop(instance.id, None)

    async def _known(self, instance: Instance) -> Mapping[str, YarnNode] | None:
        try:
            return await self._yarn.nodes(Addresses.of(instance).resource_manager_http)
        except DaemonSilent:
            return None

    async def _keep_running(self, instance: Instance, node: Node) -> tuple[bool, list[str]]:
        """Start what died; return whether all daemons ran, and what dies again and again."""
        machine = self._nodes.machine(instance, node)
        states = {state.name: state for state in await machine.daemons()}
        wanted = {daemon.value for daemon in OF_ROLE[node.role]} | set(states)
        whole, troubles = True, []
        for name in sorted(wanted):
            state = states.get(name, DaemonState(name))
            if state.is_running:
                continue
            whole = False
            deaths = self._deaths.setdefault((instance.id, node.id, name), Deaths())
            now = time.monotonic()
            cause = explain(name, node.private_dns, await machine.tail(name), state.exit_code)
            if deaths.is_troubled(now):
                troubles.append(f"{cause} (it died 5 times within 2 minutes; it is started again every 30 s)")
            if deaths.may_restart(now):
                deaths.note(now)
                log.warning("daemon_restarted", cluster_id=instance.cluster_id, node=node.private_dns, cause=cause)
                await self._start(instance, node, name)
        return whole, troubles

    async def _start(self, instance: Instance, node: Node, name: str) -> None:
        if (other := self._others.get(name)) is not None:
            await other.restart(instance, node, _quietly)
        else:
            await self._nodes.start(instance, node, HadoopDaemon(name), _quietly)

    async def _note_status(self, node: Node, status: NodeStatus) -> None:
        now = time.time()
        if status is not node.status:
            seen = {"last_seen_at": now} if status is NodeStatus.RUNNING else {}
            await self._instances.change_node(node.id, status=status.value, **seen)
        elif status is NodeStatus.RUNNING and now - (node.last_seen_at or 0) >= _SEEN_EVERY:
            await self._instances.seen([node.id], now)

    async def _note_seen(self, node: Node, known: Mapping[str, YarnNode] | None) -> None:
        now = time.time()
        if known and node.private_ip in known and now - (node.last_seen_at or 0) >= _SEEN_EVERY:
            await self._instances.seen([node.id], now)

    async def _tell(self, instance: Instance, trouble: str) -> None:
        if self._told.get(instance.id) != trouble:
            self._told[instance.id] = trouble
            await self._instances.change(instance.id, message=trouble or None)


def status_of(node: Node, known: Mapping[str, YarnNode] | None, *, daemons_run: bool) -> NodeStatus:
    """Return a node's status: of the coordinator by its daemons and whether YARN answers, of a worker by YARN's word.

    While the ResourceManager (`known` is None) is away, nobody knows better of a worker than before.
    """
    if node.role is NodeRole.MASTER:
        return NodeStatus.RUNNING if daemons_run and known is not None else NodeStatus.LOST
    if known is None:
        return node.status if daemons_run else NodeStatus.LOST
    is_registered = node.private_ip in known and known[node.private_ip].state == RUNNING
    return NodeStatus.RUNNING if daemons_run and is_registered else NodeStatus.LOST


def _quietly(_line: str) -> None:
    """Nobody waits for a daemon that is started again."""
