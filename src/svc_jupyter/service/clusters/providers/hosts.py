"""The provider `hosts`: nodes on machines of an inventory, reached by SSH, one host per node."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Final

import sqlalchemy as sa

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters.instances import Instance, NewNode, Node
from svc_jupyter.service.clusters.providers import hosts_scripts as scripts
from svc_jupyter.service.clusters.providers.hosts_inventory import Host, InventoryFile
from svc_jupyter.service.clusters.providers.hosts_link import HostLinks
from svc_jupyter.service.clusters.providers.hosts_machine import FileSets, HostMachine
from svc_jupyter.service.clusters.providers.hosts_scripts import parse_facts
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.clusters import cluster_instances, cluster_nodes

FOLDER: Final = "folder"
"""Key in a node's details: its folder on its host."""
_MEGABYTE_KB: Final = 1024
_NAMED: Final = 5
"""Hosts that a failure names; the others are only counted."""


# Hosts in use are known from the rows of running clusters and from the claim on each host.


def key_of(instance_id: int, start_at: float) -> str:
    """Return an instance's name on hosts; the start time in it makes it unique among services."""
    return f"{instance_id}-{sha256(repr(start_at).encode()).hexdigest()[:12]}"


def owner_of(instance: Instance) -> str:
    """Return the text of a claim: the key, then an explanation for readers of the file."""
    return f"{key_of(instance.id, instance.start_at)} cluster {instance.cluster_id} of the service at {instance.folder}"


def hosts_in_use(connection: sa.Connection, provider: str) -> Mapping[str, int]:
    """Return the hosts of all instances that have not ended, with the id of their cluster."""
    query = (
        sa.select(cluster_nodes.c.private_dns, cluster_instances.c.cluster_id)
        .join(cluster_instances, cluster_instances.c.id == cluster_nodes.c.instance_id)
        .where(cluster_instances.c.provider == provider, cluster_instances.c.state != ClusterState.DOWN.value)
    )
    return {row.private_dns: row.cluster_id for row in connection.execute(query)}


def is_over(connection: sa.Connection, key: str) -> bool:
    """Whether a claim's key is that of an ended instance of this service; False for another service's."""
    number = key.partition("-")[0]
    if not number.isdecimal():
        return False
    query = sa.select(cluster_instances.c.state, cluster_instances.c.start_at).where(
        cluster_instances.c.id == int(number)
    )
    row = connection.execute(query).one_or_none()
    return row is not None and row.state == ClusterState.DOWN.value and key_of(int(number), row.start_at) == key


class HostsProvider:
    """Takes hosts for nodes and releases them; see `Provider`. Rows and claims on the hosts show which are taken."""

    name = "hosts"
    is_bound_to_host = False

    def __init__(self, settings: Settings, database: Database) -> None:
        self._database = database
        self._inventory = InventoryFile(settings.hosts_inventory)
        self._links = HostLinks(self._inventory)
        self._sets = FileSets()
        self._making = asyncio.Lock()
        self._made: dict[str, str] = {}
        """Hosts that were taken here, by name, with the instance's key; their rows may not be written yet."""

    async def make(self, instance: Instance, role: NodeRole, count: int) -> Sequence[NewNode]:
        """Take hosts; raises `ProviderFailure` and takes none when too few are available."""
        async with self._making:
            inventory = self._inventory.now()
            suiting = inventory.suiting(role, instance.configuration.label)
            in_use = await self._database.read(partial(hosts_in_use, provider=self.name))
            await self._forget_made(in_use)
            reasons = {name: f"cluster {cluster_id} has it" for name, cluster_id in in_use.items()}
            reasons |= dict.fromkeys(self._made, "it is being taken")
            free = [host for host in suiting if host.name not in reasons]
            taken: dict[str, NewNode] = {}
            while free and len(taken) < count:
                batch, free = free[: count - len(taken)], free[count - len(taken) :]
                for host, answer in zip(batch, await self._take_all(instance, role, batch), strict=True):
                    if isinstance(answer, NewNode):
                        taken[host.name] = answer
                    else:
                        reasons[host.name] = answer
            if len(taken) < count:
                await self._give_back(instance, list(taken))
                raise ProviderFailure(_too_few(role, count, len(taken), suiting, reasons))
            return list(taken.values())

    def machine(self, instance: Instance, node: Node) -> HostMachine:  # noqa: ARG002  the node says where it is
        """Return a node's machine."""
        return self._machine(node.private_dns, PurePosixPath(node.details[FOLDER]))

    async def release(self, instance: Instance, nodes: Sequence[Node]) -> None:
        """Kill all processes of the nodes, delete their folders, and release the hosts."""
        failures = await self._give_back(instance, [node.private_dns for node in nodes])
        if failures:
            raise ProviderFailure("; ".join(failures.values()))

    async def sweep(self, instance: Instance) -> None:
        """Find and end an instance's remains on all hosts.

        The rows show which hosts were used; an ended instance has no rows, so that every host must be checked.
        """
        hosts = self._inventory.last().hosts
        must = {node.private_dns for node in instance.nodes} if instance.state is not ClusterState.DOWN else set(hosts)
        failures = await self._give_back(instance, [*hosts, *(must - set(hosts))])
        key = key_of(instance.id, instance.start_at)
        self._made = {name: made_for for name, made_for in self._made.items() if made_for != key}
        lost = [failure for name, failure in failures.items() if name in must]
        if lost:
            raise ProviderFailure("; ".join(lost))

    async def close(self) -> None:
        """Disconnect from all hosts; their processes continue."""
        await self._links.close()

    async def _forget_made(self, in_use: Mapping[str, int]) -> None:
        """Forget taken hosts that now have their row, or whose instance has ended."""
        for name, key in list(self._made.items()):
            if name in in_use or await self._database.read(partial(is_over, key=key)):
                self._made.pop(name, None)

    async def _take_all(self, instance: Instance, role: NodeRole, hosts: Sequence[Host]) -> Sequence[NewNode | str]:
        """Take hosts concurrently; return for each the node, or the reason for the failure."""

        async def take(host: Host) -> NewNode | str:
            try:
                return await self._take(instance, role, host)
            except ProviderFailure as failure:
                return failure.message

        return await asyncio.gather(*map(take, hosts))

    async def _take(self, instance: Instance, role: NodeRole, host: Host) -> NewNode | str:
        key, folder = key_of(instance.id, instance.start_at), _node_folder(instance, host)
        link = self._links.to(host.name)
        claim = scripts.claim(host.folder, folder, owner_of(instance))
        facts = parse_facts(await link.check(claim))
        owner = facts.get("owner", "")
        has_row = any(node.private_dns == host.name for node in instance.nodes)
        if owner.partition(" ")[0] != key:
            other = owner.partition(" ")[0]
            if not await self._database.read(partial(is_over, key=other)):
                return f"it is taken: {host.folder / 'claim'} there says {owner!r}"
            left = host.folder / "nodes" / other
            await link.check(scripts.release(host.folder, left, other))
            facts = parse_facts(await link.check(claim))
            if facts.get("owner", "").partition(" ")[0] != key:
                return "another cluster took it in this moment"
        elif not has_row:
            # The remains of a service that was killed before it wrote the row are removed first.
            await link.check(scripts.release(host.folder, folder, key))
            facts = parse_facts(await link.check(claim))
        self._made[host.name] = key
        address, nodes = str(host.address), instance.configuration.node_configuration
        size = nodes.master_instance_type if role is NodeRole.MASTER else nodes.slave_instance_type
        return NewNode(role, host.name, address, host.name, size, {**_size_of(host, facts), FOLDER: str(folder)})

    async def _give_back(self, instance: Instance, names: Sequence[str]) -> Mapping[str, str]:
        """Release hosts concurrently; return the failed ones, with the reason."""
        failures: dict[str, str] = {}

        async def end(name: str) -> None:
            try:
                folder = _node_folder(instance, self._links.to(name).host)
                await self._machine(name, folder).end_everything(key_of(instance.id, instance.start_at))
                if self._made.get(name) == key_of(instance.id, instance.start_at):
                    del self._made[name]
            except ProviderFailure as failure:
                failures[name] = failure.message

        await asyncio.gather(*map(end, names))
        return failures

    def _machine(self, name: str, folder: PurePosixPath) -> HostMachine:
        return HostMachine(partial(self._links.to, name), folder, self._sets)


def _node_folder(instance: Instance, host: Host) -> PurePosixPath:
    return host.folder / "nodes" / key_of(instance.id, instance.start_at)


def _size_of(host: Host, facts: Mapping[str, str]) -> dict[str, object]:
    """Return the size by which an engine configures a node: from the inventory, else as measured on the host."""
    own_memory = int(facts.get("memory_kb", 0)) // _MEGABYTE_KB
    return {
        "memory_mb": host.memory_mb or max(512, own_memory * 3 // 4 // 256 * 256),
        "cores": host.cores or int(facts.get("cores", 1)),
        "architecture": facts.get("architecture", ""),
    }


def _too_few(role: NodeRole, count: int, free: int, suiting: Sequence[Host], reasons: Mapping[str, str]) -> str:
    """Return that the inventory has too few hosts, how many are free, and why the others are not."""
    words = "coordinator" if role is NodeRole.MASTER else f"{count} more worker{'' if count == 1 else 's'}"
    named = [f"{host.name}: {reasons[host.name]}" for host in suiting if host.name in reasons]
    listed = "; ".join(named[:_NAMED]) + (f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else "")
    return (
        f"no host{'s' if count > 1 else ''} for {words}: {free} of the inventory's {len(suiting)} that suit "
        f"{'is' if free == 1 else 'are'} free" + (f" ({listed})" if listed else "")
    )
