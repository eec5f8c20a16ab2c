"""Prepares a node of a Presto cluster: files, bootstrap script, server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Protocol

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.providers.provider import Machine, Provider
from svc_jupyter.service.ground.errors import translated
from svc_jupyter.service.installs.engine import Engine, Installed
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.failures import EngineFailure
from svc_jupyter.service.runtimes.metastore.failures import MetastoreFailure
from svc_jupyter.service.runtimes.metastore.process import MetastoreAddress
from svc_jupyter.service.runtimes.presto.addresses import coordinator_http
from svc_jupyter.service.runtimes.presto.catalogs import Taps, tap_catalogs
from svc_jupyter.service.runtimes.presto.configuration import Place, catalog_files, node_files, own_catalogs
from svc_jupyter.service.runtimes.presto.daemons import Programs, daemon_of
from svc_jupyter.service.runtimes.presto.plugins import PLUGINS, plugins_folder
from svc_jupyter.service.runtimes.presto.settings import CustomSettings, custom_settings

STOP_SECONDS: Final = 5.0
COORDINATOR_HEAP_MEGABYTES: Final = 640
WORKER_HEAP_MEGABYTES: Final = 768
"""The minimum: with 512 a worker runs out of memory on the smallest generated tables."""
_HEAP_SHARE: Final = 4
"""A worker's server may use this part of its machine's memory for work, if that is more."""


class Bootstrap(Protocol):
    """Runs a cluster's bootstrap script on a new node, once; see `clusters/bootstrap.py`."""

    async def __call__(self, instance: Instance, machine: Machine, node: Node, say: Say) -> None:
        """Return once the script succeeded, or if there is none. Raises `ClusterFailure`."""
        ...


class Metastores(Protocol):
    """The account's Hive metastore."""

    async def ensure(self, say: Say) -> MetastoreAddress:
        """Return its address, started if necessary. Raises `MetastoreFailure`."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources of the catalogues' rows."""

    metastore: Metastores
    taps: Taps


class PrestoNodes:
    """Prepares a cluster's nodes and starts their servers; every step can be repeated."""

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
        with translated(EngineFailure, to=ClusterFailure, about="Presto is not there"):
            return await self._engines.ensure(Engine.PRESTO, say)

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
        """Restart the server after it died, with its existing files."""
        machine = self.machine(instance, node)
        programs = await self._programs(machine, await self.install(_quietly))
        place = _place(node, machine.folder, programs, custom_settings(instance.configuration))
        await machine.start(daemon_of(programs, node.private_ip, machine.folder, place.heap_megabytes))

    async def _catalogs(self, instance: Instance, custom: CustomSettings, say: Say) -> dict[str, bytes]:
        with translated(MetastoreFailure, to=ClusterFailure):
            metastore = await self._sources.metastore.ensure(say)
        of_taps = await tap_catalogs(self._sources.taps, instance.account_id, custom.taps)
        return catalog_files({**own_catalogs(metastore.uri), **of_taps}, custom.catalogs)

    async def _programs(self, machine: Machine, installed: Installed) -> Programs:
        jars = await machine.engine(installed.name, installed.jars)
        plugins = []
        for name in PLUGINS:
            files = sorted((plugins_folder(installed) / name).glob("*.jar"))
            plugins.append((await machine.engine(f"{installed.name}-{name}", files))[0].parent)
        is_here = list(jars) == [PurePosixPath(jar) for jar in installed.jars]
        # An archive depends on the paths of the jars and on the build of Java: it is useless elsewhere.
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
    """Discard the line: no caller waits for a restart."""
