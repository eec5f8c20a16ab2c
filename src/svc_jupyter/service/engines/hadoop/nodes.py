"""A node of a Hadoop cluster made ready: files, bootstrap script, daemons."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.providers.provider import Machine, Provider
from svc_jupyter.service.engines.engine import Engine, Installed
from svc_jupyter.service.engines.engines import Engines
from svc_jupyter.service.engines.failures import EngineFailure
from svc_jupyter.service.engines.hadoop.addresses import EXCLUDE_FILE, Addresses
from svc_jupyter.service.engines.hadoop.causes import disk_failure
from svc_jupyter.service.engines.hadoop.configuration import (
    POOLS_FILE,
    USUAL_CORES,
    USUAL_MEMORY_MB,
    Place,
    client_sites,
    node_sites,
)
from svc_jupyter.service.engines.hadoop.daemons import (
    CLIENT_LOG4J,
    OF_ROLE,
    HadoopDaemon,
    Programs,
    daemon_of,
    small_files,
    task_options,
)
from svc_jupyter.service.engines.hadoop.exclude_file import exclude_file
from svc_jupyter.service.engines.hadoop.site_files import pools_file

STOP_SECONDS: Final = 5.0
_NATIVE: Final = ("x86_64", "AMD64")
"""Where the library lies in the jar that a NodeManager keeps its containers' state with."""


class Bootstrap(Protocol):
    """Runs a cluster's bootstrap script on a new node, once; see `clusters/bootstrap.py`."""

    async def __call__(self, instance: Instance, machine: Machine, node: Node, say: Say) -> None:
        """Return once it ended well, or there is none. Raises `ClusterFailure`."""
        ...


def client_folder(instance: Instance) -> Path:
    """Return the folder of settings for programs of the service that use the cluster."""
    return instance.folder / "conf"


class HadoopNodes:
    """Makes nodes of a cluster ready and starts their daemons; every step may be done again."""

    def __init__(self, engines: Engines, providers: Mapping[str, Provider], bootstrap: Bootstrap) -> None:
        self._engines = engines
        self._providers = providers
        self._bootstrap = bootstrap

    def machine(self, instance: Instance, node: Node) -> Machine:
        """Return a node's machine."""
        return self._providers[instance.provider].machine(instance, node)

    async def install(self, say: Say) -> Installed:
        """Return Hadoop, installed when missing. Raises `ClusterFailure`."""
        try:
            return await self._engines.ensure(Engine.HADOOP, say)
        except EngineFailure as error:
            raise ClusterFailure(f"Hadoop is not there: {error.message}") from error

    async def prepare(self, instance: Instance, node: Node, say: Say) -> None:
        """Write a node's files and run the cluster's bootstrap script there, once."""
        machine = self.machine(instance, node)
        options = task_options(await self._programs(machine, await self.install(say)))
        await machine.write(node_files(instance, node, machine.folder, options))
        await self._bootstrap(instance, machine, node, say)

    async def write_client_files(self, instance: Instance, say: Say) -> None:
        """Write the settings for programs of the service that use the cluster. Raises `ClusterFailure`."""
        assert instance.master is not None
        options = task_options(await self._programs(self.machine(instance, instance.master), await self.install(say)))
        try:
            await asyncio.to_thread(write_client_files, instance, options)
        except OSError as error:
            raise ClusterFailure(disk_failure(instance.folder, error)) from error

    async def start_daemons(self, instance: Instance, node: Node, say: Say) -> None:
        """Start what always runs on a node and does not run yet."""
        for daemon in OF_ROLE[node.role]:
            await self.start(instance, node, daemon, say)

    async def start(self, instance: Instance, node: Node, daemon: HadoopDaemon, say: Say) -> None:
        """Start one daemon of a node unless it runs.

        A ResourceManager reads who is to leave when it starts, and would end their containers: it begins with nobody
        on that list, and a removal under way puts its node there again.
        """
        machine = self.machine(instance, node)
        if daemon is HadoopDaemon.RESOURCE_MANAGER:
            await machine.write({str(EXCLUDE_FILE): exclude_file([]).encode()})
        programs = await self._programs(machine, await self.install(say))
        await machine.start(daemon_of(daemon, programs, node.private_ip, machine.folder, getpass.getuser()))

    async def start_worker(self, instance: Instance, node: Node, say: Say) -> None:
        """Make a worker ready and start its NodeManager; it registers by itself some seconds later."""
        await self.prepare(instance, node, say)
        await self.start_daemons(instance, node, say)

    async def stop_worker(self, instance: Instance, node: Node) -> None:
        """End a worker's NodeManager."""
        await self.machine(instance, node).stop(HadoopDaemon.NODE_MANAGER, STOP_SECONDS)

    async def _programs(self, machine: Machine, installed: Installed) -> Programs:
        jars = await machine.engine(installed.name, installed.jars)
        is_here = list(jars) == [PurePosixPath(jar) for jar in installed.jars]
        # An archive is bound to the paths of the jars and to the build of Java: elsewhere it would be of no use.
        archive = PurePosixPath(installed.class_archive) if installed.class_archive and is_here else None
        return Programs(await machine.java(), jars, archive)


def node_files(instance: Instance, node: Node, folder: PurePosixPath, options: str = "") -> dict[str, bytes]:
    """Return all files of a node, by their paths below its folder; `options` are those of jobs' programs."""
    configuration = instance.configuration
    facts = node.details
    place = Place(
        node.private_ip,
        folder,
        memory_mb=int(facts.get("memory_mb", USUAL_MEMORY_MB)),
        cores=int(facts.get("cores", USUAL_CORES)),
        keeps_containers=facts.get("architecture") in _NATIVE,
        task_options=options,
    )
    sites = node_sites(Addresses.of(instance), place, configuration)
    files = {f"conf/{name}": content for name, content in sites.items()} | small_files()
    if node.role is NodeRole.MASTER:
        pools = configuration.hadoop_settings.fairscheduler_settings
        files[str(POOLS_FILE)] = pools_file(pools.default_pool, pools.fairscheduler_config_xml)
    return files


def write_client_files(instance: Instance, options: str = "") -> None:
    """Write the settings for programs of the service that use the cluster. Raises `OSError`."""
    folder = client_folder(instance)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    custom = instance.configuration.custom_settings
    sites = client_sites(Addresses.of(instance), PurePosixPath(folder.parent), custom, options)
    for name, content in {**sites, "log4j.properties": CLIENT_LOG4J}.items():
        draft = folder / f".{name}"
        draft.write_bytes(content)
        draft.replace(folder / name)
