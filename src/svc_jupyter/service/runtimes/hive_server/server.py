"""HiveServer2 of clusters: a daemon on the coordinator, started with the cluster where the configuration requests it,
or else by the first command that needs it.
"""

from __future__ import annotations

import asyncio
import getpass
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say, ServiceLook, coordinator_of
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.providers.provider import Machine, Provider, runs
from svc_jupyter.service.ground.errors import translated
from svc_jupyter.service.ground.remembering import remember
from svc_jupyter.service.installs.engine import Engine, Installed
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.failures import EngineFailure
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp, DaemonSilent
from svc_jupyter.service.runtimes.hadoop.daemons import Programs
from svc_jupyter.service.runtimes.hadoop.spark_driver import last_words_of, started
from svc_jupyter.service.runtimes.hive_server import program
from svc_jupyter.service.runtimes.hive_server.client import ServerError, Session
from svc_jupyter.service.runtimes.hive_server.endpoint import Endpoint, ServerLost
from svc_jupyter.service.runtimes.hive_server.jobs import StrayJobs
from svc_jupyter.service.runtimes.metastore.failures import MetastoreFailure
from svc_jupyter.service.runtimes.metastore.metastore import Metastore
from svc_jupyter.service.runtimes.metastore.process import MetastoreAddress
from svc_jupyter.service.runtimes.s3.access import note_opened, opens
from svc_jupyter.service.runtimes.s3.account_store import S3_CLIENT, Store

START_SECONDS: Final = 120.0
"""Limit for its start; 5 to 9 s on two idle processors."""
_LOOK_EVERY: Final = 0.2
_ANSWER_SECONDS: Final = 5.0
_STOP_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class HiveServerAddress:
    """The address of a running HiveServer2; `http` is that of its engine's web pages and REST API."""

    host: str
    port: int = program.PORT

    @property
    def http(self) -> str:
        """Its engine's web pages and REST API."""
        return f"http://{self.host}:{program.HTTP_PORT}"

    @property
    def endpoint(self) -> Endpoint:
        """How the service reaches it."""
        return Endpoint(self.host, self.port, getpass.getuser())

    def __str__(self) -> str:
        """Return it for messages."""
        return f"{self.host}:{self.port}"


class HiveServers:
    """Starts HiveServer2 on clusters."""

    name = program.NAME

    def __init__(self, engines: Engines, providers: Mapping[str, Provider], metastore: Metastore, store: Store) -> None:
        """`store` is the account's, which may hold tables."""
        self._store = store
        self._engines = engines
        self._providers = providers
        self._metastore = metastore
        self._strays = StrayJobs()
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def ensure(self, instance: Instance, say: Say) -> HiveServerAddress:
        """Return the address of the cluster's HiveServer2; install and start it if necessary, with progress to `say`.

        Raises `ClusterFailure`, `ProviderFailure`. A repeated call continues where a killed service stopped.
        """
        master = coordinator_of(instance)
        lock = self._locks.setdefault(instance.id, asyncio.Lock())
        async with lock:
            metastore = await self._metastore_address(say)
            check_reachable(metastore, master)
            machine = self._providers[instance.provider].machine(instance, master)
            address = HiveServerAddress(master.private_ip)
            is_running = await runs(machine, program.NAME)
            if is_running and not await asyncio.to_thread(opens, _opened(instance), await self._store.access()):
                say("the account's storage has changed: starting HiveServer2 again")
                await machine.stop(program.NAME, _STOP_SECONDS)
                is_running = False
            if is_running:
                await self._wait(address, master, machine)
            else:
                installed = await self._install(say)
                say("starting HiveServer2")
                start = partial(self._start, instance, machine, installed, metastore, say)
                await started(start, "HiveServer2", say)
            return address

    async def restart(self, instance: Instance, node: Node, say: Say) -> None:
        """Restart it if it died, without waiting until it answers; not while a command already does so."""
        lock = self._locks.setdefault(instance.id, asyncio.Lock())
        if lock.locked():
            return
        async with lock:
            machine = self._providers[instance.provider].machine(instance, node)
            if not await runs(machine, program.NAME):
                metastore = await self._metastore_address(say)
                await self._spawn(instance, node, machine, await self._install(say), metastore, say)

    def forbidden(self, custom: Mapping[str, str]) -> Sequence[str]:
        """Return the settings that would break the server's wiring."""
        return program.forbidden(custom)

    def end_jobs(self, instance: Instance, mark: str) -> None:
        """End the server's current and upcoming work for statements with a mark; returns at once."""
        if instance.master is not None:
            self._strays.end(HiveServerAddress(instance.master.private_ip).http, mark)

    async def stop(self) -> None:
        """Release the servers; they keep running."""
        await self._strays.stop()

    async def _metastore_address(self, say: Say) -> MetastoreAddress:
        with translated(MetastoreFailure, to=ClusterFailure):
            return await self._metastore.ensure(say)

    async def _install(self, say: Say) -> Installed:
        with translated(EngineFailure, to=ClusterFailure, about="HiveServer2 is not there"):
            return await self._engines.ensure(Engine.SPARK, say)

    async def _start(
        self, instance: Instance, machine: Machine, installed: Installed, metastore: MetastoreAddress, say: Say
    ) -> None:
        """Start it, and return once it answers."""
        master = coordinator_of(instance)
        await self._spawn(instance, master, machine, installed, metastore, say)
        await self._wait(HiveServerAddress(master.private_ip), master, machine)

    async def _spawn(
        self,
        instance: Instance,
        node: Node,
        machine: Machine,
        installed: Installed,
        metastore: MetastoreAddress,
        say: Say,
    ) -> None:
        with translated(EngineFailure, to=ClusterFailure, about="HiveServer2 cannot open the account's storage"):
            store = await self._store.client(say)
        custom = instance.configuration.custom_settings
        if instance.provider != "local" and program.runs_on_yarn(custom):
            raise ClusterFailure(
                f"HiveServer2 on {node.private_dns} cannot run its tasks on YARN, since the workers have no Spark: "
                "take spark.master out of the cluster's custom_config, and they run on the coordinator"
            )
        address, folder = node.private_ip, machine.folder
        programs = await Programs.on(machine, installed)
        await machine.write(program.settings_files(address, folder, metastore.uri, custom, store.access, programs))
        if program.runs_on_yarn(custom):
            await asyncio.to_thread(Path(folder / program.JAVA_HOME / "bin" / "java").chmod, 0o700)
        jars = [*programs.jars, *(await machine.engine(S3_CLIENT, store.jars) if store.jars else ())]
        await asyncio.to_thread(note_opened, _opened(instance), store.access)
        await machine.start(program.daemon(programs.java, jars, address, folder, self._metastore.warehouse, custom))

    async def _wait(self, address: HiveServerAddress, node: Node, machine: Machine) -> None:
        """Return once it answers; raises `ClusterFailure` with its last output when it ends instead."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            reason = await asyncio.to_thread(_silence, address)
            if reason is None:
                return
            if not await runs(machine, program.NAME):
                words = last_words_of(await machine.tail(program.NAME)) or "it wrote nothing"
                raise ClusterFailure(f"HiveServer2 on {node.private_dns} ended while it started: {words}")
            if time.monotonic() > deadline:
                raise ClusterFailure(
                    f"HiveServer2 on {node.private_dns} does not answer at {address} after {START_SECONDS:.0f} s: "
                    f"{reason}; its log is {machine.folder}/logs/{program.NAME}.log"
                )
            await asyncio.sleep(_LOOK_EVERY)


def check_reachable(metastore: MetastoreAddress, node: Node) -> None:
    """Raise `ClusterFailure` when a node on another machine could not reach the metastore of this one."""
    if ip_address(metastore.host).is_loopback and not ip_address(node.private_ip).is_loopback:
        raise ClusterFailure(
            f"HiveServer2 on {node.private_dns} could not reach the Hive metastore, which listens at {metastore.host} "
            "only: set SVC_HIVE_METASTORE_HOST to an address of the service's machine that the hosts reach"
        )


def _opened(instance: Instance) -> Path:
    """Return the file with the digest of the server's access to the storage."""
    return instance.folder / "hive-storage"


def _silence(address: HiveServerAddress) -> str | None:
    """Return why the server does not answer, None when it does."""
    try:
        with Session(address.endpoint, seconds=_ANSWER_SECONDS) as session:
            session.ping()
    except (ServerLost, ServerError) as error:
        return str(error)
    return None


_PROBE_SECONDS: Final = 1.5
_MOST_SESSIONS: Final = 64
"""Limit of open sessions; those of servers that are gone are closed first."""
_HEAP: Final = f"{program.NAME}.driver.jvm.heap"


class HiveServerProbe:
    """Asks HiveServer2 over a kept session, and its engine for the memory in use; see `ServiceProbe`."""

    def __init__(self, providers: Mapping[str, Provider], http: DaemonHttp) -> None:
        self._providers = providers
        self._http = http
        self._sessions: dict[int, Session] = {}

    async def look(self, instance: Instance) -> ServiceLook | None:
        """Return its state; None when it was never needed."""
        master = instance.master
        if master is None:
            return None
        states = await self._providers[instance.provider].machine(instance, master).daemons()
        state = next((state for state in states if state.name == program.NAME), None)
        if state is None:
            return None
        if not state.is_running:
            return ServiceLook(is_alive=False, is_responsive=False)
        responds, heap = await asyncio.gather(
            asyncio.to_thread(self._ask, instance.id, master.private_ip), self._heap(master.private_ip)
        )
        return ServiceLook(is_alive=True, is_responsive=responds, heap_percent=heap)

    def _ask(self, instance_id: int, host: str) -> bool:
        session = self._sessions.pop(instance_id, None)
        try:
            if session is None:
                session = Session(HiveServerAddress(host).endpoint, seconds=_PROBE_SECONDS)
            session.ping()
        except (ServerLost, ServerError):
            if session is not None:
                session.drop()
            return False
        remember(self._sessions, instance_id, session, most=_MOST_SESSIONS, on_forgotten=Session.drop)
        return True

    async def _heap(self, host: str) -> float | None:
        try:
            answer: Any = await self._http.get(f"http://{host}:{program.HTTP_PORT}/metrics/json/")
            gauges = answer["gauges"]
            return 100 * float(gauges[f"{_HEAP}.used"]["value"]) / float(gauges[f"{_HEAP}.max"]["value"])
        except (DaemonSilent, LookupError, TypeError, ZeroDivisionError):
            return None
