"""The session servers of Spark clusters: started with the cluster, and restarted when they die."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say, coordinator_of, quietly
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.providers.provider import Machine, Provider, runs
from svc_jupyter.service.ground.errors import translated
from svc_jupyter.service.ground.remembering import remember
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.failures import EngineFailure
from svc_jupyter.service.packages.attached import AttachedEnvironment, AttachedEnvironments
from svc_jupyter.service.runtimes.hadoop.daemons import Programs
from svc_jupyter.service.runtimes.hadoop.spark_driver import last_words_of, started
from svc_jupyter.service.runtimes.hadoop.tagged_jobs import is_tag
from svc_jupyter.service.runtimes.metastore.failures import MetastoreFailure
from svc_jupyter.service.runtimes.metastore.metastore import Metastore
from svc_jupyter.service.runtimes.metastore.process import MetastoreAddress
from svc_jupyter.service.runtimes.s3.access import note_opened, opens
from svc_jupyter.service.runtimes.s3.account_store import S3_CLIENT, Store, StoreClient
from svc_jupyter.service.runtimes.spark import program
from svc_jupyter.service.runtimes.spark.program import SparkLayout, missing_from_spark
from svc_jupyter.service.runtimes.spark.session_client import ServerSilent, SessionClient

START_SECONDS: Final = 300.0
"""Limit for its start; 8 s with tasks in its own process and 25 s on YARN, on two idle processors."""
_LOOK_EVERY: Final = 0.2
_DRAIN_EVERY: Final = 0.5
_STOP_SECONDS: Final = 10.0
_MOST_INSTANCES: Final = 256
"""Limit of remembered instances; a forgotten one is checked again before its next statement."""


@dataclass(frozen=True, slots=True)
class SessionServerAddress:
    """The address of a session server, and the secret of its calls."""

    host: str
    port: int
    secret: str


class _ServerEnded(ClusterFailure):
    """It ended before it answered."""


class SessionServers:
    """Starts session servers on clusters; see `hadoop_cluster.CoordinatorDaemon`."""

    name = program.NAME

    def __init__(
        self,
        engines: Engines,
        providers: Mapping[str, Provider],
        metastore: Metastore,
        attached: AttachedEnvironments,
        store: Store,
    ) -> None:
        """`attached` knows the package environments of clusters; `store` is the account's, which programs open."""
        self._attached = attached
        self._store = store
        self._engines = engines
        self._providers = providers
        self._metastore = metastore
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._current: dict[int, tuple[int, int | None]] = {}
        """Per instance: which start of its server `ensure` saw, and which packages it chose."""

    async def ensure(self, instance: Instance, say: Say) -> SessionServerAddress:
        """Return the address of the cluster's server, started if necessary. Raises `ClusterFailure`.

        The sessions need the metastore, which ends with the service; this starts it again.
        """
        node = coordinator_of(instance)
        machine = self._machine(instance, node)
        async with self._lock(instance):
            await self._end_outdated(instance, machine, say)
            vitals = await self._answering(instance, machine, say)
            chosen = await self._choose_python(instance, vitals, say)
            current = (await asyncio.to_thread(_generation, instance), chosen)
            remember(self._current, instance.id, current, most=_MOST_INSTANCES)
        return self.address(instance)

    async def is_current(self, instance: Instance) -> bool:
        """Return whether a running server needs no `ensure`: it has the current storage and packages.

        This also restarts a metastore that ended. Raises `ClusterFailure`.
        """
        if not await asyncio.to_thread(opens, _opened(instance), await self._store.access()):
            return False
        environment = await self._environment(instance)
        chosen = None if environment is None else environment.package_id
        if self._current.get(instance.id) != (await asyncio.to_thread(_generation, instance), chosen):
            return False
        await self._metastore_address(quietly)
        return True

    async def restart(self, instance: Instance, node: Node, say: Say) -> None:
        """Restart it if it died, without waiting until it answers; not while a command already does so."""
        lock = self._lock(instance)
        if lock.locked():
            return
        async with lock:
            await self._spawn(instance, self._machine(instance, node), say)

    def _lock(self, instance: Instance) -> asyncio.Lock:
        """Return the lock of an instance's server, which exists while a task holds or awaits it."""
        return self._locks.setdefault(instance.id, asyncio.Lock())

    def address(self, instance: Instance) -> SessionServerAddress:
        """Return the server's address on a cluster that was UP. Raises `ClusterFailure`."""
        node = coordinator_of(instance)
        file = Path(self._machine(instance, node).folder / program.SECRET)
        try:
            secret = file.read_text("ascii").strip()
        except OSError as error:
            raise ClusterFailure(f"cluster {instance.cluster_id} has no session server: {error.strerror}") from error
        return SessionServerAddress(node.private_ip, program.PORT, secret)

    async def place(self, instance: Instance, say: Say) -> SparkLayout:
        """Return the place of the cluster's Spark, installed when missing. Raises `ClusterFailure`."""
        node = coordinator_of(instance)
        machine = self._machine(instance, node)
        environment = await self._environment(instance)
        with translated(EngineFailure, to=ClusterFailure, about="Spark is not there"):
            installed = await self._engines.ensure(Engine.SPARK, say)
        metastore = await self._metastore_address(say)
        store = await self._store_client(say)
        programs = await Programs.on(machine, installed)
        return SparkLayout(
            address=node.private_ip,
            folder=machine.folder,
            programs=programs,
            home=installed.home,
            metastore=metastore.uri,
            warehouse=self._metastore.warehouse,
            python=installed.home / "bin" / "python" if environment is None else environment.python,
            store=store.access,
            store_jars=missing_from_spark(await machine.engine(S3_CLIENT, store.jars), programs.jars)
            if store.jars
            else (),
        )

    async def _store_client(self, say: Say) -> StoreClient:
        with translated(EngineFailure, to=ClusterFailure, about="Spark cannot open the account's storage"):
            return await self._store.client(say)

    async def _end_outdated(self, instance: Instance, machine: Machine, say: Say) -> None:
        """End a server with an outdated access to the account's storage, once its programs and notes have ended.

        This includes a server without a record of its access.
        """
        access, file = await self._store.access(), _opened(instance)
        is_current = await asyncio.to_thread(lambda: file.exists() and opens(file, access))
        if is_current or not await runs(machine, program.NAME):
            return
        say("the account's storage has changed: the session server is started again once nothing runs in it")
        address = self.address(instance)
        while True:
            try:
                async with SessionClient(address.host, address.port, address.secret) as client:
                    vitals = await client.ping()
            except ServerSilent:
                break
            if not vitals["running"] and not any(is_tag(each["name"]) for each in vitals["sessions"]):
                break
            await asyncio.sleep(_DRAIN_EVERY)
        await machine.stop(program.NAME, _STOP_SECONDS)

    async def _metastore_address(self, say: Say) -> MetastoreAddress:
        with translated(MetastoreFailure, to=ClusterFailure, about="Spark has no metastore"):
            return await self._metastore.ensure(say)

    def _machine(self, instance: Instance, node: Node) -> Machine:
        return self._providers[instance.provider].machine(instance, node)

    @staticmethod
    def _secret(machine: Machine) -> str:
        """Return the server's secret; it survives a restart, so that its holders need not request it again."""
        try:
            return Path(machine.folder / program.SECRET).read_text("ascii").strip()
        except FileNotFoundError:
            return secrets.token_hex(32)

    async def _spawn(self, instance: Instance, machine: Machine, say: Say) -> None:
        place = await self.place(instance, say)
        custom = instance.configuration.custom_settings
        await machine.write(program.server_files(place, custom, self._secret(machine)))
        await asyncio.to_thread(note_opened, _opened(instance), place.store)
        await asyncio.to_thread(Path(machine.folder / program.JAVA).chmod, 0o700)
        await machine.start(program.daemon(place))

    async def _environment(self, instance: Instance) -> AttachedEnvironment | None:
        return await self._attached.of_cluster(instance.cluster_id, instance_id=instance.id)

    async def _choose_python(self, instance: Instance, vitals: Mapping[str, Any], say: Say) -> int | None:
        """Give new sessions the packages that are attached to the cluster now; existing sessions keep theirs.

        Return the id of those packages, None for Spark's own. Raises `ClusterFailure`.
        """
        environment = await self._environment(instance)
        package_id = None if environment is None else environment.package_id
        wanted = vitals["own_python"] if environment is None else str(environment.python)
        if wanted == vitals["python"]:
            return package_id
        name = "Spark's own packages" if environment is None else f"environment {environment.name}"
        say(f"new sessions have {name}")
        address = self.address(instance)
        try:
            async with SessionClient(address.host, address.port, address.secret) as client:
                reason = await client.use_python(wanted)
        except ServerSilent as silent:
            reason = silent.message
        if reason is not None:
            raise ClusterFailure(
                f"Spark does not run with {name}: {reason}; restore other packages or detach it. "
                f"The log of cluster {instance.cluster_id}'s session server ({program.NAME}.err) says more"
            )
        return package_id

    async def _answering(self, instance: Instance, machine: Machine, say: Say) -> Mapping[str, Any]:
        """Return the state of a server: the running one, or a new one."""
        if await runs(machine, program.NAME):
            await self._metastore_address(say)
            try:
                return await self._wait(instance, machine)
            except _ServerEnded:
                say("the session server was about to end")
        say("starting the session server")
        return await started(partial(self._start, instance, machine, say), "the session server", say)

    async def _start(self, instance: Instance, machine: Machine, say: Say) -> Mapping[str, Any]:
        """Start a new server; return its state once it answers."""
        await self._spawn(instance, machine, say)
        return await self._wait(instance, machine)

    async def _wait(self, instance: Instance, machine: Machine) -> Mapping[str, Any]:
        """Return its state once it answers; `ClusterFailure` has its last output when it ends instead."""
        deadline = time.monotonic() + START_SECONDS
        address = self.address(instance)
        while True:
            try:
                async with SessionClient(address.host, address.port, address.secret) as client:
                    return await client.ping()
            except ServerSilent as silent:
                reason = silent.message
            if not await runs(machine, program.NAME):
                words = last_words_of(await machine.tail(program.NAME)) or "it wrote nothing"
                raise _ServerEnded(f"the session server of cluster {instance.cluster_id} ended: {words}")
            if time.monotonic() > deadline:
                raise ClusterFailure(
                    f"the session server of cluster {instance.cluster_id} does not answer after "
                    f"{START_SECONDS:.0f} s: {reason}; its log is {machine.folder}/logs/{program.NAME}.err"
                )
            await asyncio.sleep(_LOOK_EVERY)


def _opened(instance: Instance) -> Path:
    """Return the file with the digest of the server's access to the storage."""
    return instance.folder / "spark-storage"


def _generation(instance: Instance) -> int:
    """Return what distinguishes one start of the server from the next; 0 before the first."""
    try:
        return _opened(instance).stat().st_mtime_ns
    except FileNotFoundError:
        return 0
