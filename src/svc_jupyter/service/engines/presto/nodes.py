"""A node of a Presto cluster made ready: files, bootstrap script, server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Protocol

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.providers.provider import Machine, Provider
from svc_jupyter.service.engines.engine import Engine, Installed
from svc_jupyter.service.engines.engines import Engines
from svc_jupyter.service.engines.failures import EngineFailure
from svc_jupyter.service.engines.presto.addresses import coordinator_http
from svc_jupyter.service.engines.presto.catalogs import Taps, tap_catalogs
from svc_jupyter.service.engines.presto.configuration import Place, catalog_files, node_files, own_catalogs
from svc_jupyter.service.engines.presto.daemons import NAME, Programs, daemon_of
from svc_jupyter.service.engines.presto.plugins import PLUGINS, plugins_folder
from svc_jupyter.service.engines.presto.settings import CustomSettings, custom_settings
from svc_jupyter.service.hive.failures import MetastoreFailure
from svc_jupyter.service.hive.metastore_process import MetastoreAddress

STOP_SECONDS: Final = 5.0
COORDINATOR_HEAP_MEGABYTES: Final = 640
WORKER_HEAP_MEGABYTES: Final = 768
"""The least: with 512 a worker runs out of memory on the smallest made-up tables."""
_HEAP_SHARE: Final = 4
"""A worker's server may take this part of what its machine has for work, where that is more."""


class Bootstrap(Protocol):
    """Runs a cluster's bootstrap script on a new node, once; see `clusters/bootstrap.py`."""

    async def __call__(self, instance: Instance, machine: Machine, node: Node, say: Say) -> None:
        """Return once it ended well, or there is none. Raises `ClusterFailure`."""
        ...


class Metastores(Protocol):
    """The account's Hive metastore."""

    async def ensure(self, say: Say) -> MetastoreAddress:
        """Return where it answers, started when need be. Raises `MetastoreFailure`."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the rows come from that the catalogues show."""

    metastore: Metastores
    taps: Taps


class PrestoNodes:
    """Makes nodes of a cluster ready and starts their servers; every step may be done again."""

    def __init__(
        self, engines: Engines, providers: Mapping[str, Provider], bootstrap: Bootstrap, sources: Sources
    ) -> None:
        self._engines = engines
        self._providers = providers
        self._bootstrap = bootstrap
        self._sources = sources

    def machine(self, instance: Instance, node: Node) -> Machine:
        """Return a node's machine."""
        return self._providers[instance.provider].machine(instance, node)

    async def install(self, say: Say) -> Installed:
        """Return Presto, installed when missing. Raises `ClusterFailure`."""
        try:
            return await self._engines.ensure(Engine.PRESTO, say)
        except EngineFailure as error:
            raise ClusterFailure(f"Presto is not there: {error.message}") from error

    async def bring_up(self, instance: Instance, node: Node, say: Say) -> None:
        """Write a node's files, run the cluster's bootstrap script there, once, and start its server."""
        machine = self.machine(instance, node)
        installed = await self.install(say)
        programs = await self._programs(machine, installed)
        custom = custom_settings(instance.configuration)
        place = _place(node, machine.folder, programs, custom)
        coordinator = coordinator_http(instance)
        files = node_files(place, f"svc_{instance.id}", coordinator, installed.version, custom)
        await machine.write(files | await self._catalogs(instance, custom, say))
        await self._bootstrap(instance, machine, node, say)
        await machine.start(daemon_of(programs, node.private_ip, machine.folder, place.heap_megabytes))

    async def restart(self, instance: Instance, node: Node) -> None:
        """Start the server again where it died, with the files it had."""
        machine = self.machine(instance, node)
        programs = await self._programs(machine, await self.install(_quietly))
        place = _place(node, machine.folder, programs, custom_settings(instance.configuration))
        await machine.start(daemon_of(programs, node.private_ip, machine.folder, place.heap_megabytes))

    async def stop(self, instance: Instance, node: Node) -> None:
        """End a node's server; done twice it does nothing."""
        await self.machine(instance, node).stop(NAME, STOP_SECONDS)

    async def runs(self, instance: Instance, node: Node) -> bool:
        """Whether a node's server is there."""
        return any(daemon.is_running for daemon in await self.machine(instance, node).daemons())

    async def _catalogs(self, instance: Instance, custom: CustomSettings, say: Say) -> dict[str, bytes]:
        try:
            metastore = await self._sources.metastore.ensure(say)
        except MetastoreFailure as error:
            raise ClusterFailure(error.message) from error
        of_taps = await tap_catalogs(self._sources.taps, instance.account_id, custom.taps)
        return catalog_files({**own_catalogs(metastore.uri), **of_taps}, custom.catalogs)

    async def _programs(self, machine: Machine, installed: Installed) -> Programs:
        jars = await machine.engine(installed.name, installed.jars)
        plugins = []
        for name in PLUGINS:
            files = sorted((plugins_folder(installed) / name).glob("*.jar"))
            plugins.append((await machine.engine(f"{installed.name}-{name}", files))[0].parent)
        is_here = list(jars) == [PurePosixPath(jar) for jar in installed.jars]
        # An archive is bound to the paths of the jars and to the build of Java: elsewhere it would be of no use.
        archive = PurePosixPath(installed.class_archive) if installed.class_archive and is_here else None
        return Programs(await machine.java(), jars, plugins, archive)


def _place(node: Node, folder: PurePosixPath, programs: Programs, custom: CustomSettings) -> Place:
    heap = custom.heap_megabytes or _usual_heap(node)
    name = f"{node.id}-{node.private_ip.replace('.', '-').replace(':', '-')}"
    return Place(name, node.private_ip, folder, node.role, programs.plugins, heap)


def _usual_heap(node: Node) -> int:
    if node.role is NodeRole.MASTER:
        return COORDINATOR_HEAP_MEGABYTES
    return max(WORKER_HEAP_MEGABYTES, int(node.details.get("memory_mb", 0)) // _HEAP_SHARE)


def _quietly(_line: str) -> None:
    """Nobody waits for a server that is started again."""
