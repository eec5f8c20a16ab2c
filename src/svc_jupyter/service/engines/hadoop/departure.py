"""The way of one worker out of a cluster, followed until YARN has let it go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Final, Protocol

from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import Say
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.node_claims import LEAVING, Manner
from svc_jupyter.service.clusters.providers.provider import Machine
from svc_jupyter.service.engines.hadoop.addresses import Addresses
from svc_jupyter.service.engines.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.engines.hadoop.leaving import Leaving
from svc_jupyter.service.engines.hadoop.yarn_rest import DECOMMISSIONING, YarnNode, YarnRest

POLL_SECONDS: Final = 0.25
_REFRESH_SECONDS: Final = 1.0
"""Between two attempts to make YARN follow the exclude file."""
_EMPTY_SECONDS: Final = 3.0
"""How long YARN may keep a node that holds nothing any more; then it is told not to wait. Usually it lets it go within
a second, but one whose NodeManager started again meanwhile it would keep for good (seen with 3.5.0)."""


class Workers(Protocol):
    """Starts and stops what runs on a worker, the same way for the first workers and for those added later."""

    async def start_worker(self, instance: Instance, node: Node, say: Say) -> None:
        """Bring files and bootstrap to a node and start its NodeManager; what is there already is left as it is."""
        ...

    async def stop_worker(self, instance: Instance, node: Node) -> None:
        """End a node's NodeManager; done twice it does nothing."""
        ...


class Means(Protocol):
    """What a departure takes."""

    instances: Instances
    workers: Workers
    yarn: YarnRest

    async def follow_rows(self, instance: Instance, say: Say) -> None:
        """Make YARN follow what the rows say of who leaves."""
        ...


class Departure:
    """One worker that is to go, by its row."""

    def __init__(self, instance: Instance, node: Node, machine: Machine, means: Means, say: Say) -> None:
        self._instance = instance
        self._node = node
        self._machine = machine
        self._means = means
        self._say = say
        self._leaving = Leaving(means.yarn, Addresses.of(instance), node, say)
        self._is_shown = False
        self._was_dead = False
        self._next_refresh = 0.0
        self._empty_since: float | None = None

    async def end(self) -> None:
        """Return once YARN has let the node go."""
        while not await self._is_over():  # noqa: ASYNC110  what is waited for happens in YARN
            await asyncio.sleep(POLL_SECONDS)

    async def _is_over(self) -> bool:
        known = await known_nodes(self._means.yarn, self._instance)
        if known is None:
            self._leaving.tell("the ResourceManager does not answer; waiting for it")
            return False
        found = known.get(self._node.private_ip)
        if found is None:
            if not await self._runs():
                return True  # YARN never heard of it, or has forgotten it
        elif found.state == DECOMMISSIONING:
            await self._look()
            return False
        elif not found.is_active:
            return True
        if time.monotonic() >= self._next_refresh:
            await self._means.follow_rows(self._instance, self._say)
            self._next_refresh = time.monotonic() + _REFRESH_SECONDS
        return False

    async def _look(self) -> None:
        """Look once at the node that YARN is decommissioning."""
        if not self._is_shown:
            self._is_shown = True
            await self._means.instances.change_node(self._node.id, status=NodeStatus.DECOMMISSIONING.value)
        is_empty = await self._leaving.look()
        await self._revive()
        now = time.monotonic()
        if not is_empty:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = now
        elif now - self._empty_since >= _EMPTY_SECONDS:
            self._empty_since = now
            await self._means.instances.mark_node(self._node.id, **{LEAVING: Manner.AT_ONCE.value})
            await self._means.follow_rows(self._instance, self._say)

    async def _revive(self) -> None:
        """Start a NodeManager again that died while its node is leaving: its containers live on and are waited for.

        One look is not enough to call it dead: it ends by itself as soon as YARN lets it go.
        """
        is_dead = not await self._runs()
        if is_dead and self._was_dead:
            name = self._node.private_dns
            self._say(f"{name}: its NodeManager ended before the node was let go; starting it again")
            await self._means.workers.start_worker(self._instance, self._node, self._say)
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
