"""The health of a Hadoop cluster, read live from its daemons.

All are asked concurrently; a daemon that does not answer within 2 s is DOWN.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog

from svc_jupyter.api.clusters import ClusterType
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import Sample, ServiceProbe
from svc_jupyter.service.clusters.health_entries import (
    ServiceState,
    load_of_master,
    master_entry,
    number,
    service_entry,
    state_of,
    status_of,
)
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.runtimes.hadoop import jmx
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp, unless_silent
from svc_jupyter.service.runtimes.hadoop.jmx import (
    ContainerCounters,
    ContainerTally,
    FileSystemUse,
    HeapUse,
    read_tally,
    write_tally,
)
from svc_jupyter.service.runtimes.hadoop.yarn_nodes import running_containers
from svc_jupyter.service.runtimes.hadoop.yarn_rest import YarnFigures, YarnRest

TALLY_FILE: Final = "containers.json"
_AT_ONCE: Final = 32
"""Limit of concurrent requests to NodeManagers."""
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Findings:
    """The daemons' answers; None where a daemon did not answer, or was not asked."""

    yarn: YarnFigures | None
    yarn_heap: HeapUse | None
    file_system: FileSystemUse | None
    name_node_heap: HeapUse | None
    metastore: ServiceState
    hive_server: ServiceState | None
    load: Mapping[str, float]
    containers: ContainerTally | None
    busy: Mapping[str, int]
    """The containers that run on each worker, by its name."""


class HadoopHealth:
    """Checks Hadoop clusters on any provider."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        http: DaemonHttp,
        *,
        metastore: ServiceProbe | None = None,
        hive_server: ServiceProbe | None = None,
    ) -> None:
        """A probe that is None stands for a service that is never started."""
        self._providers = providers
        self._http = http
        self._yarn = YarnRest(http)
        self._metastore = metastore
        self._hive_server = hive_server

    async def sample(self, instance: Instance) -> Sample:
        """Return a live sample of a cluster that is UP."""
        found = await self._look(instance)
        configuration = instance.configuration
        return Sample(
            metrics_of(found, configuration.cluster_type, shows_yarn=configuration.enable_ganglia_monitoring),
            values_of(found),
            pages_of(found, Addresses.of(instance)),
        )

    async def _look(self, instance: Instance) -> Findings:
        addresses = Addresses.of(instance)
        resource_manager, name_node = addresses.resource_manager_http, addresses.name_node_http
        async with asyncio.TaskGroup() as group:
            yarn = group.create_task(unless_silent(self._yarn.figures(resource_manager)))
            yarn_heap = group.create_task(unless_silent(jmx.heap(self._http, resource_manager)))
            file_system = group.create_task(unless_silent(jmx.file_system(self._http, name_node)))
            name_node_heap = group.create_task(unless_silent(jmx.heap(self._http, name_node)))
            metastore = group.create_task(state_of(self._metastore, instance))
            hive_server = group.create_task(state_of(self._hive_server, instance))
            load = group.create_task(load_of_master(self._providers, instance))
            containers = group.create_task(self._containers(instance, addresses))
            busy = group.create_task(running_containers(self._yarn, instance))
        shows_hive_server = instance.configuration.hive_settings.is_hs2_enabled
        return Findings(
            yarn=yarn.result(),
            yarn_heap=yarn_heap.result(),
            file_system=file_system.result(),
            name_node_heap=name_node_heap.result(),
            metastore=metastore.result(),
            hive_server=hive_server.result() if shows_hive_server else None,
            load=load.result(),
            containers=containers.result(),
            busy=busy.result(),
        )

    async def _containers(self, instance: Instance, addresses: Addresses) -> ContainerTally | None:
        """Ask the NodeManagers, only if YARN is monitored; return the total of all their counters."""
        if not instance.configuration.enable_ganglia_monitoring:
            return None
        places = asyncio.Semaphore(_AT_ONCE)

        async def ask(node: Node) -> tuple[str, ContainerCounters | None]:
            async with places:
                address = addresses.node_manager_http(node)
                return str(node.id), await unless_silent(jmx.container_counters(self._http, address))

        asked = [node for node in instance.workers if node.status is not NodeStatus.STARTING]
        answers = await asyncio.gather(*map(ask, asked))
        counters = {node: each for node, each in answers if each is not None}
        return _kept(instance, counters)


def metrics_of(found: Findings, cluster_type: ClusterType, *, shows_yarn: bool) -> dict[str, Any]:
    """Return the record's `metrics`. YARN's figures are included only with `enable_ganglia_monitoring`."""
    engine: dict[str, Any] = {}
    if shows_yarn:
        engine["yarn"] = _yarn_entry(found)
    if cluster_type is ClusterType.SPARK:
        engine["spark"] = {}
    daemons: dict[str, Any] = {
        "hive_metastore": service_entry(found.metastore),
        "resourcemanager": status_of(found.yarn is not None),
        "namenode": status_of(found.file_system is not None),
    }
    if found.hive_server is not None:
        daemons["hs2_server"] = service_entry(found.hive_server)
    workers = [{"private_dns": name, "containers": count} for name, count in found.busy.items()]
    return {"engine": engine, "daemons": daemons, "system": {"master": master_entry(found.load), "workers": workers}}


def pages_of(found: Findings, addresses: Addresses) -> dict[str, str]:
    """Return YARN's page, where it answers; HDFS has none, since its jar lacks the files."""
    return {} if found.yarn is None else {"YARN": f"{addresses.resource_manager_http}/cluster/apps"}


def values_of(found: Findings) -> dict[str, float]:
    """Return the values kept for plots, by the names of `metrics.METRICS`."""
    values: dict[str, float | None] = {
        "cpu_usage": found.load.get("cpu_percent"),
        "disk_usage": found.load.get("disk_percent"),
        "resourcemanager_heap": None if found.yarn_heap is None else found.yarn_heap.percent,
        "namenode_heap": None if found.name_node_heap is None else found.name_node_heap.percent,
        "hive_metastore_heap": found.metastore.heap_percent,
        "hs2_server_heap": None if found.hive_server is None else found.hive_server.heap_percent,
    }
    if (hdfs := found.file_system) is not None and hdfs.capacity > 0:
        values["hdfs_usage"] = 100 * hdfs.used / hdfs.capacity
    if found.containers is not None:
        values |= {"containers_failed": found.containers.failed, "containers_killed": found.containers.killed}
        if (yarn := found.yarn) is not None:
            values |= {
                "yarn_memory": yarn.memory_percent,
                "containers_running": yarn.containers_running,
                "containers_pending": yarn.containers_pending,
                "applications_running": yarn.applications_running,
                "nodes_running": yarn.nodes_active,
            }
    return {name: float(value) for name, value in values.items() if value is not None}


def _yarn_entry(found: Findings) -> dict[str, Any]:
    yarn, containers = found.yarn, found.containers or ContainerTally()
    return {
        "memory": number(None if yarn is None else yarn.memory_percent),
        "containers": {
            "pending": str(0 if yarn is None else yarn.containers_pending),
            "failed": str(containers.failed),
            "killed": str(containers.killed),
        },
    }


def _kept(instance: Instance, counters: Mapping[str, ContainerCounters]) -> ContainerTally:
    file = instance.folder / TALLY_FILE
    before = read_tally(file)
    after = before.seen(counters, {str(node.id) for node in instance.workers})
    if after != before:
        try:
            write_tally(file, after)
        except OSError as error:
            log.warning("containers_not_kept", cluster_id=instance.cluster_id, reason=error.strerror)
    return after
