"""The provider `local`: every node is a set of real daemons on a loopback address of its own, on this machine."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import platform
import random
import shutil
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import psutil

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.instances import LOGS, Instance, NewNode, Node
from svc_jupyter.service.clusters.providers.local_machine import LocalMachine, ProcessorUse
from svc_jupyter.service.clusters.providers.marked_processes import end_marked
from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK, ProviderFailure
from svc_jupyter.service.ground.settings import Settings

_MEGABYTE: Final = 2**20
WORKER_BYTES: Final = 256 * _MEGABYTE
"""The memory of an idle worker's daemon, without containers."""
COORDINATOR_BYTES: Final = 700 * _MEGABYTE
CONTAINER_MEGABYTES: Final = (1536, 8192)
"""The least and the most memory for a worker's containers."""


class LocalProvider:
    """Makes nodes on this machine; see `Provider`. A node's name gives its address, so it keeps no other state."""

    name = "local"
    is_bound_to_host = True

    def __init__(self, settings: Settings, java: Callable[[], Awaitable[Path]]) -> None:
        """`java` returns the program with which the engines run."""
        self._settings = settings
        self._java = java
        self._use = ProcessorUse()
        self._making = asyncio.Lock()
        self._made: set[Path] = set()

    async def make(self, instance: Instance, role: NodeRole, count: int) -> Sequence[NewNode]:
        """Reserve addresses and make folders; raises `ProviderFailure` and then makes nothing."""
        async with self._making:
            self._check_room(instance, role, count)
            await self._drop_unwritten(instance)
            addresses = self._addresses(instance, role, count)
            folders = [self._folder(instance, host_name(address)) for address in addresses]
            try:
                for folder in folders:
                    folder.mkdir(mode=0o700, parents=True)
            except OSError as error:
                for folder in folders:
                    shutil.rmtree(folder, ignore_errors=True)
                raise ProviderFailure(f"no folder for a node in {self._settings.data_dir}: {error.strerror}") from error
            self._made.update(folders)
        facts = self._facts(instance)
        return [
            NewNode(role, host_name(address), address, host_name(address), _instance_type(instance, role), facts)
            for address in addresses
        ]

    def machine(self, instance: Instance, node: Node) -> LocalMachine:
        """Return a node's machine."""
        return LocalMachine(instance.folder, self._folder(instance, node.private_dns), self._java, self._use)

    async def release(self, instance: Instance, nodes: Sequence[Node]) -> None:
        """Kill all processes of the nodes and delete their folders."""
        for node in nodes:
            await self._remove(instance, node.private_dns)

    async def sweep(self, instance: Instance) -> None:
        """Kill all processes with the instance's mark, and delete the nodes' folders."""
        if not await end_marked(INSTANCE_MARK, instance.folder):
            raise ProviderFailure(f"processes of cluster {instance.cluster_id} cannot be ended: see `ps -ef`")
        await asyncio.to_thread(shutil.rmtree, instance.folder / "nodes", ignore_errors=True)
        self._made = {folder for folder in self._made if instance.folder not in folder.parents}

    async def _remove(self, instance: Instance, host: str) -> None:
        folder = self._folder(instance, host)
        await LocalMachine(instance.folder, folder, self._java, self._use).end_everything()
        self._use.forget(folder)
        self._made.discard(folder)

    async def _drop_unwritten(self, instance: Instance) -> None:
        """Remove nodes without a row, left by a service that was killed between the two steps."""
        written = {node.private_dns for node in instance.nodes}
        folder = instance.folder / "nodes"
        for host in os.listdir(folder) if folder.is_dir() else ():
            if host not in written and folder / host not in self._made:
                await self._remove(instance, host)

    def _addresses(self, instance: Instance, role: NodeRole, count: int) -> list[str]:
        try:
            if role is NodeRole.MASTER:
                self._check_loopback()
                block = choose_block(lambda address: can_listen(address) and is_unused(address), random.SystemRandom())
                return [f"{block}.{COORDINATOR}"]
            if instance.master is None:
                raise ProviderFailure("workers come after their coordinator")
            folder = instance.folder / "nodes"
            used = {node.private_ip for node in instance.nodes} | {address_of(host) for host in os.listdir(folder)}
            return worker_addresses(block_of(instance.master.private_ip), used, count)
        except NoBlock:
            raise ProviderFailure("there are no more loopback addresses for nodes on this machine") from None

    def _check_loopback(self) -> None:
        if sys.platform != "linux" or not can_listen("127.254.254.254"):
            raise ProviderFailure(
                "clusters on this machine need Linux with all of 127.0.0.0/8 on its loopback interface: "
                "run the service there, or use SVC_CLUSTER_PROVIDER=hosts"
            )

    def _check_room(self, instance: Instance, role: NodeRole, count: int) -> None:
        """Refuse nodes that the machine has no memory for: nodes that swap are worse than none."""
        most = self._settings.local_max_nodes
        there = len(instance.workers) if role is NodeRole.WORKER else 0
        if there + count > most:
            raise ProviderFailure(
                f"{there + count} workers are more than this machine can carry ({most}): "
                "take less, or raise SVC_LOCAL_MAX_NODES"
            )
        needed = count * (WORKER_BYTES if role is NodeRole.WORKER else COORDINATOR_BYTES)
        available = psutil.virtual_memory().available
        if available < needed:
            raise ProviderFailure(
                f"{count} more node(s) need {needed // _MEGABYTE:,} MB of memory, and {available // _MEGABYTE:,} MB "
                "are free on this machine: end something else, or request fewer nodes"
            )
        self._settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        free = shutil.disk_usage(self._settings.data_dir).free
        if free < self._settings.min_free_disk_bytes:
            raise ProviderFailure(
                f"the disk of {self._settings.data_dir} is full ({free // _MEGABYTE:,} MB free): make room there"
            )

    def _facts(self, instance: Instance) -> dict[str, object]:
        """Return the size by which an engine configures a node: its share of this machine in the largest cluster."""
        least, most = CONTAINER_MEGABYTES
        share = psutil.virtual_memory().total // _MEGABYTE // 2 // instance.configuration.node_configuration.max_nodes
        return {
            "memory_mb": max(least, min(most, share // 256 * 256)),
            "cores": psutil.cpu_count() or 1,
            "architecture": platform.machine(),
        }

    def _folder(self, instance: Instance, host: str) -> Path:
        return instance.folder / "nodes" / host


def _delete_all_but_logs(folder: Path) -> None:
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.name != LOGS:
            shutil.rmtree(entry, ignore_errors=True)


def _instance_type(instance: Instance, role: NodeRole) -> str:
    nodes = instance.configuration.node_configuration
    return nodes.master_instance_type if role is NodeRole.MASTER else nodes.slave_instance_type


COORDINATOR = 1
FIRST_WORKER = 11
LAST_WORKER = 254
MOST_WORKERS = LAST_WORKER - FIRST_WORKER + 1
_TRIES = 50


class NoBlock(Exception):
    """No block of loopback addresses is available."""


def choose_block(is_free: Callable[[str], bool], chance: random.Random) -> str:
    """Return the first three numbers of a free block, such as `127.41.7`; raises `NoBlock`.

    127.0.x is excluded: many systems use 127.0.0.1, 127.0.1.1 and 127.0.0.53.
    """
    for _ in range(_TRIES):
        block = f"127.{chance.randint(1, 254)}.{chance.randint(0, 254)}"
        if is_free(f"{block}.{COORDINATOR}"):
            return block
    raise NoBlock


def block_of(address: str) -> str:
    """Return the block of a node's address."""
    return address.rpartition(".")[0]


def worker_addresses(block: str, used: Iterable[str], count: int) -> list[str]:
    """Return addresses for new workers: first above all used ones, then free ones again; raises `NoBlock`.

    A new worker should not get the address of one that has just left, which others may still remember.
    """
    numbers = {int(ipaddress.ip_address(address)) & 0xFF for address in used}
    start = max((number for number in numbers if number >= FIRST_WORKER), default=FIRST_WORKER - 1) + 1
    order = [*range(start, LAST_WORKER + 1), *range(FIRST_WORKER, start)]
    free = [number for number in order if number not in numbers][:count]
    if len(free) < count:
        raise NoBlock
    return [f"{block}.{number}" for number in free]


def host_name(address: str) -> str:
    """Return the name of the node at an address: `ip-127-41-7-11`."""
    return "ip-" + address.replace(".", "-")


def address_of(host: str) -> str:
    """Return the address in a node's name."""
    return host.removeprefix("ip-").replace("-", ".")


def can_listen(address: str, port: int = 0) -> bool:
    """Whether a program can listen at an address of this machine; False where loopback has 127.0.0.1 only."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address, port))
        except OSError:
            return False
    return True


def is_unused(address: str) -> bool:
    """Whether no other program of this machine listens at an address, as far as its sockets show."""
    try:
        with open("/proc/net/tcp", encoding="ascii") as table:
            listening = [line.split()[1].partition(":")[0] for line in table.readlines()[1:]]
    except OSError:
        return True
    block = socket.inet_aton(address)[:3]
    return not any(bytes.fromhex(number)[::-1][:3] == block for number in listening)
