"""Hadoop clusters: HDFS, YARN and MapReduce on any provider."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Protocol

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Sample, Say, coordinator_of, quietly
from svc_jupyter.service.clusters.daemon_engine import POLL_SECONDS, DaemonEngine
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.clusters.supervision import check_alive, unless_one_dies
from svc_jupyter.service.installs.engine import Installed
from svc_jupyter.service.runtimes.hadoop import jmx
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses, Port
from svc_jupyter.service.runtimes.hadoop.causes import explain
from svc_jupyter.service.runtimes.hadoop.configuration import check
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp, DaemonSilent, unless_silent
from svc_jupyter.service.runtimes.hadoop.daemons import OF_ROLE, HadoopDaemon
from svc_jupyter.service.runtimes.hadoop.departure import Departure, apply_exclude_file
from svc_jupyter.service.runtimes.hadoop.nodes import STOP_SECONDS, HadoopNodes
from svc_jupyter.service.runtimes.hadoop.yarn_admin import AdminCallFailed
from svc_jupyter.service.runtimes.hadoop.yarn_nodes import known_nodes
from svc_jupyter.service.runtimes.hadoop.yarn_rest import (
    HIVE_SERVER,
    LOST,
    RUNNING,
    YarnApplication,
    YarnNode,
    YarnRest,
)

START_SECONDS: Final = 180.0
"""Limit for all daemons together; 8 to 12 s on two idle processors."""
_LOOK_EVERY: Final = 0.1
_ANSWER_SECONDS: Final = 5.0
"""A starting daemon may answer more slowly than a running one."""
_BUSY_STATES = ("NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING")
_EVICT_SECONDS = 3.0
_REJOIN_SECONDS = 30.0


class HealthOf(Protocol):
    """Takes a live sample of a cluster."""

    async def sample(self, instance: Instance) -> Sample:
        """Return the sample; a service that does not answer within 2 s is DOWN."""
        ...


class CoordinatorDaemon(Protocol):
    """A daemon on the coordinator that is not Hadoop's own, such as HiveServer2."""

    name: str

    async def ensure(self, instance: Instance, say: Say) -> object:
        """Return once it answers, started if necessary."""
        ...

    async def restart(self, instance: Instance, node: Node, say: Say) -> None:
        """Restart it if it has died."""
        ...


class HiveServer(CoordinatorDaemon, Protocol):
    """HiveServer2, which a cluster's configuration may request."""

    def forbidden(self, custom: Mapping[str, str]) -> Sequence[str]:
        """Return the settings that would break the server's wiring."""
        ...


class HadoopEngine(DaemonEngine):
    """Runs Hadoop clusters."""

    cluster_type = ClusterType.HADOOP
    worker_daemon = "NodeManager"
    registry = "YARN"

    def __init__(
        self,
        instances: Instances,
        providers: Mapping[str, Provider],
        nodes: HadoopNodes,
        yarn: YarnRest,
        health: HealthOf,
        hive_server: HiveServer | None = None,
        further: Sequence[CoordinatorDaemon] = (),
    ) -> None:
        """Without `hive_server` a cluster has none; `further` are more daemons of the coordinator."""
        super().__init__(instances, providers)
        self.yarn = yarn
        self._nodes = nodes
        self._health = health
        self._hive_server = hive_server
        self._others = {other.name: other for other in (*([hive_server] if hive_server else []), *further)}
        self._history = asyncio.Lock()

    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for settings that would break the cluster's own wiring."""
        check(configuration, self._hive_server.forbidden if self._hive_server else lambda _custom: ())

    async def install(self, say: Say) -> Installed:
        """Return Hadoop, installed when missing."""
        return await self._nodes.install(say)

    async def write_client_files(self, instance: Instance, say: Say) -> None:
        """Write the settings for the service's programs that use the cluster."""
        await self._nodes.write_client_files(instance, say)

    async def bring_up(self, instance: Instance, node: Node, say: Say) -> None:
        """Prepare a node and start its daemons; a NodeManager registers itself some seconds later."""
        await self._nodes.prepare(instance, node, say)
        await self._nodes.start_daemons(instance, node, say)

    async def stop_worker(self, instance: Instance, node: Node) -> None:
        """End a worker's NodeManager."""
        await self.machine(instance, node).stop(HadoopDaemon.NODE_MANAGER, STOP_SECONDS)

    async def until_ready(self, instance: Instance, say: Say) -> None:
        """Return once YARN has all workers, HDFS accepts files and HiveServer2, if requested, answers."""
        http = DaemonHttp(_ANSWER_SECONDS)
        try:
            async with asyncio.timeout(START_SECONDS):
                await unless_one_dies(_until_hdfs_and_yarn_work(instance, http, say), self, instance, instance.nodes)
        except TimeoutError:
            raise ClusterFailure(
                f"the daemons were not ready within {START_SECONDS:.0f} s: {await _why_not_ready(instance, http)}"
            ) from None
        finally:
            await http.close()
        if self._hive_server is not None and instance.configuration.hive_settings.is_hs2_enabled:
            await self._hive_server.ensure(instance, say)

    async def registered(self, instance: Instance) -> Collection[str] | None:
        """Return the addresses of the nodes that YARN assigns work to."""
        now = await self.instances.get(instance.id)  # with the nodes that were added since
        known = await known_nodes(self.yarn, now)
        return None if known is None else {address for address, node in known.items() if node.state == RUNNING}

    def daemons_of(self, node: Node) -> Collection[str]:
        """Return the daemons of the node's role."""
        return [daemon.value for daemon in OF_ROLE[node.role]]

    def cause(self, daemon: str, node: Node, output: str, exit_code: int | None) -> str:
        """Return why a daemon ended."""
        return explain(daemon, node.private_dns, output, exit_code)

    async def restart(self, instance: Instance, node: Node, daemon: str) -> None:
        """Restart a daemon, Hadoop's own or another one."""
        if (other := self._others.get(daemon)) is not None:
            await other.restart(instance, node, quietly)
        else:
            await self._nodes.start(instance, node, HadoopDaemon(daemon), quietly)

    async def loads(self, instance: Instance, nodes: Sequence[Node]) -> Sequence[int | None]:
        """Return the number of containers on each worker; None for one that YARN has lost."""
        known = await known_nodes(self.yarn, instance, nodes) or {}
        found = [known.get(node.private_ip) for node in nodes]
        return [0 if each is None else None if each.state == LOST else each.containers for each in found]

    async def is_busy(self, instance: Instance) -> bool:
        """Return whether YARN runs users' work. True if YARN does not answer."""
        try:
            resource_manager = Addresses.of(instance).resource_manager_http
            return works_for_somebody(await self.yarn.applications(resource_manager, _BUSY_STATES))
        except DaemonSilent:
            return True

    async def drain(self, instance: Instance, node: Node, say: Say) -> None:
        """Return once YARN has released a worker."""
        await Departure(instance, node, self, self.yarn, say).end()

    async def evict(self, instance: Instance, nodes: Sequence[Node], say: Say) -> None:
        """Wait briefly until YARN assigns the nodes no more work; ignores nodes that YARN does not know."""
        await self.note_departures(instance, say)
        deadline = time.monotonic() + _EVICT_SECONDS
        while time.monotonic() < deadline:
            known = await known_nodes(self.yarn, instance, nodes)
            if not any((found := (known or {}).get(node.private_ip)) and found.is_active for node in nodes):
                return
            await asyncio.sleep(POLL_SECONDS)

    async def note_departures(self, instance: Instance, say: Say) -> None:
        """Update YARN's exclude file from the rows; a failure is repeated later."""
        instance = await self.instances.get(instance.id)
        try:
            await apply_exclude_file(self.provider(instance), instance, self.yarn)
        except AdminCallFailed as failure:
            say(failure.message)

    async def rejoin(self, instance: Instance, node: Node, say: Say) -> None:
        """Return once a node is RUNNING again; tries twice, since its NodeManager may just have been ending."""
        await self.bring_up(instance, node, say)
        try:
            await self.until_registered(instance, node, _REJOIN_SECONDS)
        except ClusterFailure:
            await self.bring_up(instance, node, say)
            await self.until_registered(instance, node, _REJOIN_SECONDS)
        say(f"{node.private_dns}: put back, RUNNING")

    async def health(self, instance: Instance) -> Sample:
        """Return a live sample."""
        return await self._health.sample(instance)

    async def ensure_history_server(self, instance: Instance, say: Say) -> None:
        """Return once the coordinator's history server answers; starts it at its first use.

        Clients ask it for the end of a MapReduce job; without it they retry each request for seconds. Raises
        `ClusterFailure` and `ProviderFailure`.
        """
        master = coordinator_of(instance)
        async with self._history:
            if await _listens(master.private_ip, Port.HISTORY):
                return
            say("starting the history server")
            await self._nodes.start(instance, master, HadoopDaemon.HISTORY_SERVER, say)
            deadline = time.monotonic() + START_SECONDS
            while not await _listens(master.private_ip, Port.HISTORY):
                await check_alive(self, instance, master, only=HadoopDaemon.HISTORY_SERVER)
                if time.monotonic() > deadline:
                    raise ClusterFailure(f"the history server on {master.private_dns} does not answer")
                await asyncio.sleep(_LOOK_EVERY)


def works_for_somebody(applications: Iterable[YarnApplication]) -> bool:
    """Return whether any of these unfinished applications is a user's.

    HiveServer2's own does not count: it lasts as long as the server, and its statements are commands.
    """
    return any(application.name != HIVE_SERVER for application in applications)


async def _until_hdfs_and_yarn_work(instance: Instance, http: DaemonHttp, say: Say) -> None:
    yarn, name_node = YarnRest(http), Addresses.of(instance).name_node_http
    reported = -1
    while True:
        missing = await _missing(yarn, instance)
        running = len(instance.workers) - len(missing)
        if running != reported:
            say(f"{running} of {len(instance.workers)} workers registered")
            reported = running
        if not missing:
            hdfs = await unless_silent(jmx.file_system(http, name_node))
            if hdfs is not None and hdfs.live_data_nodes > 0:
                return
        await asyncio.sleep(_LOOK_EVERY)


async def _missing(yarn: YarnRest, instance: Instance) -> Sequence[str]:
    """Return the names of the workers that YARN does not assign work to."""
    known: Mapping[str, YarnNode] = {}
    if await _listens(Addresses.of(instance).master, Port.RESOURCE_MANAGER_HTTP):
        known = await known_nodes(yarn, instance) or {}
    running = {address for address, node in known.items() if node.state == RUNNING}
    return [node.private_dns for node in instance.workers if node.private_ip not in running]


async def _why_not_ready(instance: Instance, http: DaemonHttp) -> str:
    try:
        known = await YarnRest(http).nodes(Addresses.of(instance).resource_manager_http)
    except DaemonSilent as error:
        return f"the ResourceManager is silent ({error.message})"
    missing = await _missing(YarnRest(http), instance)
    if not missing:
        return "HDFS has no DataNode or takes no files"
    running = ", ".join(sorted(host for host, node in known.items() if node.state == RUNNING)) or "none"
    return f"YARN lacks {', '.join(missing)}; running nodes there, by the names with which they registered: {running}"


async def _listens(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(1):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
