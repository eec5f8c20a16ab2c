"""The removal of one worker from a cluster, followed until YARN has released it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Final, Protocol

from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import Say
from svc_jupyter.service.clusters.daemon_engine import POLL_SECONDS
from svc_jupyter.service.clusters.instances import Instance, Instances, Manner, Node
from svc_jupyter.service.clusters.providers.provider import Machine
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.hadoop.leaving import Leaving
from svc_jupyter.service.runtimes.hadoop.yarn_rest import DECOMMISSIONING, YarnNode, YarnRest

_REFRESH_SECONDS: Final = 1.0
"""Interval between attempts to make YARN apply the exclude file."""
_EMPTY_SECONDS: Final = 3.0
"""How long YARN may keep an empty node before it is ordered not to wait. It usually releases the node within a second,
but keeps one whose NodeManager restarted meanwhile for good (seen with 3.5.0).
"""


class Leavable(Protocol):
    """The part of the runtime that a departure needs."""

    instances: Instances
    yarn: YarnRest

    def machine(self, instance: Instance, node: Node) -> Machine:
        """Return a node's machine."""
        ...

    async def bring_up(self, instance: Instance, node: Node, say: Say) -> None:
        """Start a node's NodeManager unless it runs."""
        ...

    async def note_departures(self, instance: Instance, say: Say) -> None:
        """Make YARN apply the leaving nodes in the database's rows."""
        ...


class Departure:
    """One leaving worker, by its row."""

    def __init__(self, instance: Instance, node: Node, engine: Leavable, say: Say) -> None:
        self._instance = instance
        self._node = node
        self._machine = engine.machine(instance, node)
        self._engine = engine
        self._say = say
        self._leaving = Leaving(engine.yarn, Addresses.of(instance), node, say)
        self._is_shown = False
        self._was_dead = False
        self._next_refresh = 0.0
        self._empty_since: float | None = None

    async def end(self) -> None:
        """Return once YARN has released the node."""
        while not await self._is_over():  # noqa: ASYNC110  what is waited for happens in YARN
            await asyncio.sleep(POLL_SECONDS)

    async def _is_over(self) -> bool:
        known = await known_nodes(self._engine.yarn, self._instance)
        if known is None:
            self._leaving.tell("the ResourceManager does not answer; waiting for it")
            return False
        found = known.get(self._node.private_ip)
        if found is None:
            if not await self._runs():
                return True  # YARN does not know it, or has forgotten it
        elif found.state == DECOMMISSIONING:
            await self._look()
            return False
        elif not found.is_active:
            return True
        if time.monotonic() >= self._next_refresh:
            await self._engine.note_departures(self._instance, self._say)
            self._next_refresh = time.monotonic() + _REFRESH_SECONDS
        return False

    async def _look(self) -> None:
        """Check once the node that YARN is decommissioning."""
        if not self._is_shown:
            self._is_shown = True
            await self._engine.instances.change_node(self._node.id, status=NodeStatus.DECOMMISSIONING.value)
        is_empty = await self._leaving.look()
        await self._revive()
        now = time.monotonic()
        if not is_empty:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = now
        elif now - self._empty_since >= _EMPTY_SECONDS:
            self._empty_since = now
            await self._engine.instances.set_leaving(self._node.id, Manner.AT_ONCE)
            await self._engine.note_departures(self._instance, self._say)

    async def _revive(self) -> None:
        """Restart a NodeManager that died while its node is leaving: its containers live on and must finish.

        One check does not prove its death: it ends by itself as soon as YARN releases it.
        """
        is_dead = not await self._runs()
        if is_dead and self._was_dead:
            name = self._node.private_dns
            self._say(f"{name}: its NodeManager ended before the node was let go; starting it again")
            await self._engine.bring_up(self._instance, self._node, self._say)
            is_dead = False
        self._was_dead = is_dead

    async def _runs(self) -> bool:
        return any(daemon.is_running for daemon in await self._machine.daemons())


async def known_nodes(yarn: YarnRest, instance: Instance) -> Mapping[str, YarnNode] | None:
    """Return the nodes that YARN knows, by address; None when it does not answer."""
    try:
        return await yarn.nodes(Addresses.of(instance).resource_manager_http)
    except DaemonSilent:
        return None
