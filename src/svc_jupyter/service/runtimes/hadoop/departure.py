"""The removal of one worker from a cluster, followed until YARN has released it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final
from xml.sax.saxutils import escape

from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import Say
from svc_jupyter.service.clusters.daemon_engine import POLL_SECONDS, DaemonEngine
from svc_jupyter.service.clusters.instances import Instance, Manner, Node
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.hadoop.yarn_admin import refresh_nodes
from svc_jupyter.service.runtimes.hadoop.yarn_nodes import known_nodes, registered_names
from svc_jupyter.service.runtimes.hadoop.yarn_rest import DECOMMISSIONING, Holding, YarnRest

_REFRESH_SECONDS: Final = 1.0
"""Interval between attempts to make YARN apply the exclude file."""
_EMPTY_SECONDS: Final = 3.0
"""How long YARN may keep an empty node before it is ordered not to wait. It usually releases the node within a second,
but keeps one whose NodeManager restarted meanwhile for good (seen with 3.5.0).
"""


class Departure:
    """One leaving worker, by its row."""

    def __init__(self, instance: Instance, node: Node, engine: DaemonEngine, yarn: YarnRest, say: Say) -> None:
        self._instance = instance
        self._node = node
        self._machine = engine.machine(instance, node)
        self._engine = engine
        self._yarn = yarn
        self._say = say
        self._leaving = Leaving(yarn, Addresses.of(instance), node, say)
        self._is_shown = False
        self._was_dead = False
        self._next_refresh = 0.0
        self._empty_since: float | None = None

    async def end(self) -> None:
        """Return once YARN has released the node."""
        while not await self._is_over():  # noqa: ASYNC110  what is waited for happens in YARN
            await asyncio.sleep(POLL_SECONDS)

    async def _is_over(self) -> bool:
        known = await known_nodes(self._yarn, self._instance, [self._node])
        if known is None:
            self._leaving.report("the ResourceManager does not answer; waiting for it")
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


_NAMED_APPLICATIONS = 3


class Leaving:
    """Follows one node; `say` receives a line whenever what the node holds has changed."""

    def __init__(self, yarn: YarnRest, addresses: Addresses, node: Node, say: Say) -> None:
        self._yarn = yarn
        self._addresses = addresses
        self._node = node
        self._say = say
        self._reported: str | None = None
        self._names: dict[str, str] = {}

    async def look(self) -> bool:
        """Report what the node still holds, unless already reported; return whether it certainly holds nothing."""
        try:
            holding = await self._yarn.holding(self._addresses.node_manager_http(self._node))
        except DaemonSilent as silence:
            self.report(f"decommissioning; what it holds is not known: {silence.message}")
            return False
        names = {application: await self._name(application) for application in holding.containers}
        self.report(what_is_left(holding, names))
        return not holding.containers

    def report(self, text: str) -> None:
        """Report the state, unless it is unchanged."""
        if text != self._reported:
            self._reported = text
            self._say(f"{self._node.private_dns}: {text}")

    async def _name(self, application: str) -> str:
        if application not in self._names:
            try:
                found = await self._yarn.application(self._addresses.resource_manager_http, application)
            except DaemonSilent:
                return application  # asked again at the next check
            self._names[application] = str(found)
        return self._names[application]


def what_is_left(holding: Holding, names: dict[str, str]) -> str:
    """Return a description of what a leaving node still holds; `names` maps applications to names for users."""
    if holding.running:
        count = f"{holding.running} {'container' if holding.running == 1 else 'containers'}"
        running = [names[application] for application, containers in holding.containers.items() if containers]
        return f"decommissioning, {count} left: {_listed(running)}"
    if holding.containers:
        waiting = [names[application] for application in holding.containers]
        return f"decommissioning, no container left; its outputs are needed by {_listed(waiting)}"
    return "decommissioning, nothing left"


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED_APPLICATIONS
    return ", ".join(names[:_NAMED_APPLICATIONS]) + (f" and {more} more" if more > 0 else "")


NO_NAMES: Final[Mapping[int, str]] = MappingProxyType({})
PATIENCE_SECONDS: Final = 30 * 86_400
"""How long YARN waits for work on a leaving node before it ends that work. Longer than any job: the removal command's
own timeout (36 hours unless the operator changes it) ends a removal first, which puts the node back and loses nothing.
"""


def exclude_file(nodes: Iterable[Node], names: Mapping[int, str] = NO_NAMES) -> str:
    """Return the file's text, which names these nodes, each with the seconds it may take to leave.

    `names` has those, by the nodes' ids, that YARN knows by a name: it finds a node also by the address to which the
    name leads, but then not the seconds.
    """
    entries = "".join(
        f"  <host><name>{escape(name)}</name>"
        f"<timeout>{0 if node.leaving is Manner.AT_ONCE else PATIENCE_SECONDS}</timeout></host>\n"
        for node in nodes
        for name in dict.fromkeys((node.private_ip, names.get(node.id, node.private_ip)))
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<hosts>\n{entries}</hosts>\n'


def nodes_that_go(instance: Instance) -> list[Node]:
    """Return the leaving nodes among these rows."""
    return [node for node in instance.workers if node.leaving is not None]


async def apply_exclude_file(provider: Provider, instance: Instance, yarn: YarnRest) -> None:
    """Write the file from the rows, and make YARN apply it: a node no longer in it works again.

    Always graceful: a normal refresh would remove nodes that still have work. Raises `AdminCallFailed` and
    `ProviderFailure`.
    """
    master = instance.master
    if master is None:
        return
    addresses = Addresses.of(instance)
    going = nodes_that_go(instance)
    text = exclude_file(going, await registered_names(yarn, instance, going)).encode()
    await provider.machine(instance, master).write({str(addresses.exclude_file): text})
    await refresh_nodes(addresses.resource_manager_admin, PATIENCE_SECONDS)
