"""Prepares a node of a Hadoop cluster: files, bootstrap script, daemons."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.files import write_whole
from svc_jupyter.service.clusters.bootstrap import Bootstrap
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.providers.provider import Machine, Provider
from svc_jupyter.service.ground.errors import translated
from svc_jupyter.service.installs.engine import Engine, Installed
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.failures import EngineFailure
from svc_jupyter.service.runtimes.hadoop.addresses import EXCLUDE_FILE, Addresses
from svc_jupyter.service.runtimes.hadoop.causes import disk_failure
from svc_jupyter.service.runtimes.hadoop.configuration import (
    POOLS_FILE,
    USUAL_CORES,
    USUAL_MEMORY_MB,
    NodeLayout,
    client_sites,
    node_sites,
)
from svc_jupyter.service.runtimes.hadoop.daemons import (
    CLIENT_LOG4J,
    OF_ROLE,
    HadoopDaemon,
    Programs,
    daemon_of,
    small_files,
    task_options,
)
from svc_jupyter.service.runtimes.hadoop.departure import exclude_file
from svc_jupyter.service.runtimes.hadoop.site_files import pools_file

STOP_SECONDS: Final = 5.0
_NATIVE: Final = ("x86_64", "AMD64")
"""Architectures with the native library with which a NodeManager stores its containers' state."""


def client_folder(instance: Instance) -> Path:
    """Return the folder of settings for the service's programs that use the cluster."""
    return instance.folder / "conf"


class HadoopNodes:
    """Prepares a cluster's nodes and starts their daemons; every step can be repeated."""

    def __init__(self, engines: Engines, providers: Mapping[str, Provider], bootstrap: Bootstrap) -> None:
        self._engines = engines
        self._providers = providers
        self._bootstrap = bootstrap

    def machine(self, instance: Instance, node: Node) -> Machine:
        """Return a node's machine."""
        return self._providers[instance.provider].machine(instance, node)

    async def install(self, say: Say) -> Installed:
        """Return Hadoop, installed when missing. Raises `ClusterFailure`."""
        with translated(EngineFailure, to=ClusterFailure, about="Hadoop is not there"):
            return await self._engines.ensure(Engine.HADOOP, say)

    async def prepare(self, instance: Instance, node: Node, say: Say) -> None:
        """Write a node's files and run the cluster's bootstrap script there, once."""
        machine = self.machine(instance, node)
        options = task_options(await Programs.on(machine, await self.install(say)))
        await machine.write(node_files(instance, node, machine.folder, options))
        await self._bootstrap(instance, machine, node, say)

    async def write_client_files(self, instance: Instance, say: Say) -> None:
        """Write the settings for the service's programs that use the cluster. Raises `ClusterFailure`."""
        assert instance.master is not None
        options = task_options(await Programs.on(self.machine(instance, instance.master), await self.install(say)))
        try:
            await asyncio.to_thread(write_client_files, instance, options)
        except OSError as error:
            raise ClusterFailure(disk_failure(instance.folder, error)) from error

    async def start_daemons(self, instance: Instance, node: Node, say: Say) -> None:
        """Start the daemons that always run on a node and do not run yet."""
        for daemon in OF_ROLE[node.role]:
            await self.start(instance, node, daemon, say)

    async def start(self, instance: Instance, node: Node, daemon: HadoopDaemon, say: Say) -> None:
        """Start one daemon of a node unless it runs.

        At its start a ResourceManager reads the leaving nodes and would end their containers: it starts with an empty
        list, and a running removal adds its node again.
        """
        machine = self.machine(instance, node)
        if daemon is HadoopDaemon.RESOURCE_MANAGER:
            await machine.write({str(EXCLUDE_FILE): exclude_file([]).encode()})
        programs = await Programs.on(machine, await self.install(say))
        await machine.start(daemon_of(daemon, programs, node.private_ip, machine.folder, getpass.getuser()))


def node_files(instance: Instance, node: Node, folder: PurePosixPath, options: str = "") -> dict[str, bytes]:
    """Return all files of a node, by their paths below its folder; `options` are those of jobs' programs."""
    configuration = instance.configuration
    facts = node.details
    place = NodeLayout(
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
    """Write the settings for the service's programs that use the cluster. Raises `OSError`."""
    folder = client_folder(instance)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    custom = instance.configuration.custom_settings
    sites = client_sites(Addresses.of(instance), PurePosixPath(folder.parent), custom, options)
    for name, content in {**sites, "log4j.properties": CLIENT_LOG4J}.items():
        write_whole(folder / name, content)
