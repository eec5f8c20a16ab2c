"""The session servers of Spark clusters: started with the cluster, and again when they die."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.providers.provider import Machine, Provider
from svc_jupyter.service.engines.engine import Engine
from svc_jupyter.service.engines.engines import Engines
from svc_jupyter.service.engines.failures import EngineFailure
from svc_jupyter.service.engines.hadoop.causes import last_words
from svc_jupyter.service.engines.hive_server.server import Metastores
from svc_jupyter.service.engines.spark import program
from svc_jupyter.service.engines.spark.program import SparkPlace
from svc_jupyter.service.hive.failures import MetastoreFailure
from svc_jupyter.service.hive.metastore_process import MetastoreAddress
from svc_jupyter.service.packages.attached import AttachedEnvironments
from svc_jupyter.service.spark.session_client import ServerSilent, SessionClient

START_SECONDS: Final = 300.0
"""How long it may take; 8 s with tasks in its own process and 25 s on YARN, on two idle processors."""
_LOOK_EVERY: Final = 0.2


@dataclass(frozen=True, slots=True)
class SessionServerAddress:
    """Where a session server answers, and the secret that calls prove to know."""

    host: str
    port: int
    secret: str


class SessionServers:
    """Brings session servers up on clusters; see `hadoop_cluster.Beside`."""

    name = program.NAME

    def __init__(
        self,
        engines: Engines,
        providers: Mapping[str, Provider],
        metastore: Metastores,
        attached: AttachedEnvironments,
    ) -> None:
        """`attached` knows the package environments of clusters."""
        self._attached = attached
        self._engines = engines
        self._providers = providers
        self._metastore = metastore
        self._locks: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ensure(self, instance: Instance, say: Say) -> SessionServerAddress:
        """Return where the cluster's server answers, started when it does not run. Raises `ClusterFailure`.

        The metastore, which its sessions ask, ends with the service, and is started again here.
        """
        node = _master(instance)
        machine = self._machine(instance, node)
        async with self._locks[instance.id]:
            if await self._runs(machine):
                await self._metastore_address(say)
            else:
                say("starting the session server")
                await self._spawn(instance, node, machine, say)
            await self._wait(instance, machine)
        return self.address(instance)

    async def restart(self, instance: Instance, node: Node, say: Say) -> None:
        """Start it again where it died, without waiting until it answers; not while a command does so already."""
        lock = self._locks[instance.id]
        if lock.locked():
            return
        async with lock:
            await self._spawn(instance, node, self._machine(instance, node), say)

    def address(self, instance: Instance) -> SessionServerAddress:
        """Return where the server of a cluster that was UP answers. Raises `ClusterFailure`."""
        node = _master(instance)
        file = Path(self._machine(instance, node).folder / program.SECRET)
        try:
            secret = file.read_text("ascii").strip()
        except OSError as error:
            raise ClusterFailure(f"cluster {instance.cluster_id} has no session server: {error.strerror}") from error
        return SessionServerAddress(node.private_ip, program.PORT, secret)

    async def place(self, instance: Instance, say: Say) -> SparkPlace:
        """Return where the cluster's Spark is; Spark is installed when it is missing. Raises `ClusterFailure`."""
        node = _master(instance)
        machine = self._machine(instance, node)
        environment = await self._attached.of_cluster(instance.cluster_id, instance_id=instance.id)
        try:
            installed = await self._engines.ensure(Engine.SPARK, say)
        except EngineFailure as error:
            raise ClusterFailure(f"Spark is not there: {error.message}") from error
        metastore = await self._metastore_address(say)
        return SparkPlace(
            address=node.private_ip,
            folder=machine.folder,
            java=await machine.java(),
            home=installed.home,
            jars=await machine.engine(installed.name, installed.jars),
            metastore=metastore.uri,
            warehouse=self._metastore.warehouse,
            python=installed.home / "bin" / "python" if environment is None else environment.python,
        )

    async def _metastore_address(self, say: Say) -> MetastoreAddress:
        try:
            return await self._metastore.ensure(say)
        except MetastoreFailure as error:
            raise ClusterFailure(f"Spark has no metastore: {error.message}") from error

    def _machine(self, instance: Instance, node: Node) -> Machine:
        return self._providers[instance.provider].machine(instance, node)

    @staticmethod
    def _secret(machine: Machine) -> str:
        """Return the server's secret; a restart keeps it, so that nobody who holds it has to ask again."""
        try:
            return Path(machine.folder / program.SECRET).read_text("ascii").strip()
        except FileNotFoundError:
            return secrets.token_hex(32)

    @staticmethod
    async def _runs(machine: Machine) -> bool:
        states = await machine.daemons()
        return any(state.name == program.NAME and state.is_running for state in states)

    async def _spawn(self, instance: Instance, node: Node, machine: Machine, say: Say) -> None:
        if instance.provider != "local":
            raise ClusterFailure(
                f"Spark clusters run on this machine only, not on {node.private_dns}: use the provider `local`"
            )
        place = await self.place(instance, say)
        custom = instance.configuration.custom_settings
        await machine.write(program.server_files(place, custom, self._secret(machine)))
        await asyncio.to_thread(Path(machine.folder / program.JAVA).chmod, 0o700)
        await machine.start(program.daemon(place))

    async def _wait(self, instance: Instance, machine: Machine) -> None:
        """Return once it answers; raises `ClusterFailure` with its last words when it ends instead."""
        deadline = time.monotonic() + START_SECONDS
        address = self.address(instance)
        while True:
            try:
                async with SessionClient(address.host, address.port, address.secret) as client:
                    await client.ping()
            except ServerSilent as silent:
                reason = silent.message
            else:
                return
            if not await self._runs(machine):
                words = last_words(await machine.tail(program.NAME)) or "it wrote nothing"
                raise ClusterFailure(f"the session server of cluster {instance.cluster_id} ended: {words}")
            if time.monotonic() > deadline:
                raise ClusterFailure(
                    f"the session server of cluster {instance.cluster_id} does not answer after "
                    f"{START_SECONDS:.0f} s: {reason}; its log is {machine.folder}/logs/{program.NAME}.err"
                )
            await asyncio.sleep(_LOOK_EVERY)


def _master(instance: Instance) -> Node:
    if instance.master is None:
        raise ClusterFailure(f"cluster {instance.cluster_id} has no coordinator yet")
    return instance.master
