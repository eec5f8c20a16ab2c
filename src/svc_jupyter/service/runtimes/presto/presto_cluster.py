"""Presto clusters: a coordinator and workers on any provider, one server on each node."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence, Set
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType, NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.bootstrap import Bootstrap
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Sample, Say, ServiceProbe, quietly
from svc_jupyter.service.clusters.daemon_engine import POLL_SECONDS, REGISTER_SECONDS, DaemonEngine
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.providers.provider import Machine, Provider
from svc_jupyter.service.clusters.supervision import unless_one_dies
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.ground.errors import translated
from svc_jupyter.service.installs.engine import Engine, Installed
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.failures import EngineFailure
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent, unless_silent
from svc_jupyter.service.runtimes.hadoop.daemons import Programs
from svc_jupyter.service.runtimes.metastore.failures import MetastoreFailure
from svc_jupyter.service.runtimes.metastore.metastore import Metastore
from svc_jupyter.service.runtimes.presto.configuration import (
    NAME,
    NodeLayout,
    catalog_files,
    coordinator_http,
    daemon_of,
    explain,
    http_of,
    node_files,
    own_catalogs,
    tap_catalogs,
)
from svc_jupyter.service.runtimes.presto.external import ExternalPresto
from svc_jupyter.service.runtimes.presto.plugins import PLUGINS, plugins_folder
from svc_jupyter.service.runtimes.presto.presto_rest import PrestoHealth, PrestoRest
from svc_jupyter.service.runtimes.presto.settings import CustomSettings, custom_settings

START_SECONDS: Final = 240.0
"""Limit for the servers' start; 15 to 30 s with their discovery on two busy processors."""
STOP_SECONDS: Final = 5.0
COORDINATOR_HEAP_MEGABYTES: Final = 640
WORKER_HEAP_MEGABYTES: Final = 768
"""The minimum: with 512 a worker runs out of memory on the smallest generated tables."""
_HEAP_SHARE: Final = 4
"""A worker's server may use this part of its machine's memory for work, if that is more."""
_ASK_AGAIN_SECONDS: Final = 2.0
_LOOK_EVERY: Final = 0.2
_QUERY_SECONDS: Final = 30.0
_ACTIVE_WORKERS: Final = "SELECT http_uri FROM system.runtime.nodes WHERE NOT coordinator AND state = 'active'"
_FIRST_QUERY: Final = "SELECT count(*) FROM tpch.tiny.nation"
"""It passes planning, workers and a connector: once it works, so do a user's queries."""


class PrestoEngine(DaemonEngine):
    """Runs Presto clusters."""

    cluster_type = ClusterType.PRESTO
    worker_daemon = "server"
    registry = "the coordinator"

    def __init__(
        self,
        instances: Instances,
        providers: Mapping[str, Provider],
        engines: Engines,
        bootstrap: Bootstrap,
        metastore: Metastore,
        probe: ServiceProbe,
        taps: DbTaps,
        of_others: ExternalPresto,
    ) -> None:
        """The catalogues show the tables of `metastore`, which `probe` checks, and of the account's `taps`."""
        super().__init__(instances, providers)
        self._engines = engines
        self._bootstrap = bootstrap
        self._metastore = metastore
        self._taps = taps
        self.of_others: ExternalPresto = of_others
        self._rest = PrestoRest()
        self._health = PrestoHealth(providers, self._rest, probe)

    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for settings that would break the cluster's own wiring."""
        custom_settings(configuration)

    # A node

    async def install(self, say: Say) -> Installed:
        """Return Presto, installed when missing."""
        with translated(EngineFailure, to=ClusterFailure, about="Presto is not there"):
            return await self._engines.ensure(Engine.PRESTO, say)

    async def bring_up(self, instance: Instance, node: Node, say: Say) -> None:
        """Write a node's files, run the cluster's bootstrap script there, once, and start its server."""
        machine, custom = self.machine(instance, node), custom_settings(instance.configuration)
        installed = await self.install(say)
        place = await self._place(node, machine, installed, custom)
        files = node_files(place, f"svc_{instance.id}", coordinator_http(instance), installed.version, custom)
        await machine.write(files | await self._catalogs(instance, custom, say))
        await self._bootstrap(instance, machine, node, say)
        await machine.start(daemon_of(place))

    async def restart(self, instance: Instance, node: Node, daemon: str) -> None:  # noqa: ARG002
        """Restart a server after it died, with its existing files."""
        machine, custom = self.machine(instance, node), custom_settings(instance.configuration)
        await machine.start(daemon_of(await self._place(node, machine, await self.install(quietly), custom)))

    async def stop_worker(self, instance: Instance, node: Node) -> None:
        """End a worker's server."""
        await self.machine(instance, node).stop(NAME, STOP_SECONDS)

    def daemons_of(self, node: Node) -> Collection[str]:  # noqa: ARG002
        """Return the only daemon: every node runs one server."""
        return (NAME,)

    def cause(self, daemon: str, node: Node, output: str, exit_code: int | None) -> str:  # noqa: ARG002
        """Return why a server ended."""
        return explain(node.private_dns, output, exit_code)

    async def _place(self, node: Node, machine: Machine, installed: Installed, custom: CustomSettings) -> NodeLayout:
        plugins = []
        for name in PLUGINS:
            files = sorted((plugins_folder(installed) / name).glob("*.jar"))
            plugins.append((await machine.engine(f"{installed.name}-{name}", files))[0].parent)
        return NodeLayout(
            name=f"{node.id}-{node.private_ip.replace('.', '-').replace(':', '-')}",
            address=node.private_ip,
            folder=machine.folder,
            role=node.role,
            heap_megabytes=custom.heap_megabytes or _usual_heap(node),
            programs=await Programs.on(machine, installed),
            plugins=plugins,
        )

    async def _catalogs(self, instance: Instance, custom: CustomSettings, say: Say) -> dict[str, bytes]:
        with translated(MetastoreFailure, to=ClusterFailure):
            metastore = await self._metastore.ensure(say)
        of_taps = await tap_catalogs(self._taps, instance.account_id, custom.taps)
        return catalog_files({**own_catalogs(metastore.uri), **of_taps}, custom.catalogs)

    # What the coordinator knows

    async def until_ready(self, instance: Instance, say: Say) -> None:
        """Return once a query has run with all workers."""

        async def ready(rest: PrestoRest) -> None:
            await self._until_active(instance, instance.workers, rest, say)
            while await unless_silent(rest.rows(coordinator_http(instance), _FIRST_QUERY)) is None:  # noqa: ASYNC110  no event
                await asyncio.sleep(_LOOK_EVERY)

        await self._until(ready, instance, instance.nodes, START_SECONDS)

    async def until_registered(self, instance: Instance, node: Node, seconds: float = REGISTER_SECONDS) -> None:
        """Return once the coordinator assigns work to a worker, which is later than its registration."""

        async def ready(rest: PrestoRest) -> None:
            await self._until_active(instance, [node], rest, quietly)

        await self._until(ready, instance, [node], seconds)

    async def registered(self, instance: Instance) -> Collection[str] | None:
        """Return the addresses of the servers that the coordinator has recently heard from."""
        return await unless_silent(self._rest.announced(coordinator_http(instance)))

    async def loads(self, instance: Instance, nodes: Sequence[Node]) -> Sequence[int | None]:  # noqa: ARG002
        """Return the number of running queries on each worker."""
        running = await asyncio.gather(*(unless_silent(self._rest.queries_at_work(http_of(node))) for node in nodes))
        return [None if queries is None else len(queries) for queries in running]

    async def is_busy(self, instance: Instance) -> bool:
        """Return whether a query is unfinished. True if the coordinator does not answer."""
        figures = await unless_silent(self._rest.figures(coordinator_http(instance)))
        return figures is None or figures.running_queries + figures.waiting_queries > 0

    async def health(self, instance: Instance) -> Sample:
        """Return a live sample."""
        return await self._health.sample(instance)

    async def end_queries(self, instance: Instance, source: str) -> None:
        """End a source's queries on the coordinator; if it does not answer, its queries are gone, too."""
        coordinator = coordinator_http(instance)
        with suppress(DaemonSilent):
            for query in await self._rest.queries(coordinator, source):
                await self._rest.end_query(coordinator, query)

    async def close(self) -> None:
        """Release the clusters; they keep running."""
        await self.of_others.close()
        await self._rest.close()

    async def _until(
        self,
        ready: Callable[[PrestoRest], Coroutine[Any, Any, None]],
        instance: Instance,
        watched: Sequence[Node],
        seconds: float,
    ) -> None:
        """Return once the nodes are ready. Raises `ClusterFailure` when a server ends instead, or after `seconds`."""
        rest = PrestoRest(_QUERY_SECONDS)
        try:
            async with asyncio.timeout(seconds):
                await unless_one_dies(ready(rest), self, instance, watched)
        except TimeoutError:
            names = ", ".join(node.private_dns for node in watched if node.role is NodeRole.WORKER)
            raise ClusterFailure(
                f"the coordinator does not use {names} after {seconds:.0f} s; see logs/presto.err of each node"
            ) from None
        finally:
            await rest.close()

    async def _until_active(self, instance: Instance, workers: Sequence[Node], rest: PrestoRest, say: Say) -> None:
        coordinator, began = coordinator_http(instance), time.monotonic()
        waiting = {coordinator: "the coordinator", **{http_of(node): node.private_dns for node in workers}}
        while waiting:
            for address in list(waiting):
                if await unless_silent(self._rest.is_started(address)):
                    say(f"{waiting.pop(address)} is up ({time.monotonic() - began:.1f} s)")
            if waiting:
                await asyncio.sleep(_LOOK_EVERY)
        wanted = {node.private_ip for node in workers}
        while not wanted <= await _active(rest, coordinator):  # noqa: ASYNC110  no event
            await asyncio.sleep(_LOOK_EVERY)

    # A worker that leaves

    async def drain(self, instance: Instance, node: Node, say: Say) -> None:
        """Return once a worker's server has ended by itself, or is not there."""
        await self.instances.change_node(node.id, status=NodeStatus.DECOMMISSIONING.value)
        reported: str | None = None
        ask_at = 0.0
        while any(daemon.is_running for daemon in await self.machine(instance, node).daemons()):
            if time.monotonic() >= ask_at:
                ask_at = time.monotonic() + _ASK_AGAIN_SECONDS
                line = await self._ask_to_end(node)
                if line != reported:
                    reported = line
                    say(f"{node.private_dns}: {line}")
            await asyncio.sleep(POLL_SECONDS)

    async def rejoin(self, instance: Instance, node: Node, say: Say) -> None:  # noqa: ARG002
        """Leave it to the supervision: a server that was ordered to end cannot be stopped from ending."""
        say(f"{node.private_dns}: put back; it ends what it does, then its server starts again")

    async def _ask_to_end(self, node: Node) -> str:
        """Order a worker to end, repeatably; return a description of its remaining work."""
        try:
            await self._rest.shut_down(http_of(node))
            queries = len(await self._rest.queries_at_work(http_of(node)))
        except DaemonSilent as silence:
            return f"decommissioning; what it does is not known: {silence.message}"
        if not queries:
            return "decommissioning, nothing left"
        return f"decommissioning, {queries} {'query has' if queries == 1 else 'queries have'} work there"


async def _active(rest: PrestoRest, coordinator: str) -> Set[str]:
    """Return the addresses of the active workers; none while the coordinator counts none."""
    try:
        if not (await rest.figures(coordinator)).active_workers:
            return frozenset()
        return {urlsplit(uri).hostname or "" for (uri,) in await rest.rows(coordinator, _ACTIVE_WORKERS)}
    except DaemonSilent:
        return frozenset()


def _usual_heap(node: Node) -> int:
    if node.role is NodeRole.MASTER:
        return COORDINATOR_HEAP_MEGABYTES
    return max(WORKER_HEAP_MEGABYTES, int(node.details.get("memory_mb", 0)) // _HEAP_SHARE)
